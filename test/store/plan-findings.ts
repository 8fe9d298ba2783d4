// Reads a plan of PostgreSQL and says what in it could grow with the tables: scans, sorts, and indexes
// that are read from end to end.
import { strict as assert } from 'node:assert';

export interface PlanNode {
  type: string;
  table: string;
  index: string | undefined;
  condition: string;
  filter: string;
  sortKey: readonly string[];
}

/** Columns of each index, in their order. */
export type Indexes = ReadonlyMap<string, readonly string[]>;

/** All nodes of what `explain (format json)` gives. */
export function readPlan(value: unknown): PlanNode[] {
  assert(Array.isArray(value), 'Cannot read a plan: it is no list');
  const nodes: PlanNode[] = [];
  walk(fieldsOf(value[0]).get('Plan'), nodes);
  return nodes;
}

/** What is unusual in a plan; the partitions of a table say it once. */
export function findings(nodes: readonly PlanNode[], indexes: Indexes): Set<string> {
  return new Set(nodes.flatMap((node) => findingsOf(node, indexes)));
}

/** Indexes of partitions have names that tell little; here they are called by table and columns. */
export function indexName(index: string, indexes: Indexes): string {
  const [, table] = /^(\w+)_2\d{7}_/.exec(index) ?? [];
  return table === undefined ? index : `${table} (${(indexes.get(index) ?? []).join(', ')})`;
}

function walk(value: unknown, nodes: PlanNode[]): void {
  const fields = fieldsOf(value);
  const text = (name: string): string | undefined => {
    const field = fields.get(name);
    return typeof field === 'string' ? field : undefined;
  };
  nodes.push({
    type: text('Node Type') ?? '',
    table: text('Relation Name')?.replace(/_2\d{7}$/, '') ?? '',
    index: text('Index Name'),
    condition: text('Index Cond') ?? '',
    filter: text('Filter') ?? '',
    sortKey: listOf(fields.get('Sort Key')).map(String),
  });
  for (const plan of listOf(fields.get('Plans'))) walk(plan, nodes);
}

function findingsOf(node: PlanNode, indexes: Indexes): string[] {
  const { type, table, index, condition, filter } = node;
  if (type === 'Seq Scan') return [`scans ${table}`];
  if (type === 'Sort' || type === 'Incremental Sort') return [`sorts by ${keysOf(node)}`];
  if (index === undefined) return [];
  const [first = ''] = indexes.get(index) ?? [];
  const name = indexName(index, indexes);
  if (!condition.includes(first)) return [`reads all of ${name}`];
  const isEqual = condition.includes(`(${first} = `);
  return isEqual || filter === '' ? [] : [`filters a range of ${name}`];
}

/** Without what the planner adds: the table, the collation, and `|| ''`, which keeps an index away. */
function keysOf({ sortKey }: PlanNode): string {
  return sortKey
    .map((key) => key.replace(' COLLATE "C"', '').replace(/^\(\((.*) \|\| ''::text\)\)/, '$1'))
    .map((key) => key.replace(/^\w+\./, ''))
    .join(', ');
}

function fieldsOf(value: unknown): Map<string, unknown> {
  assert(typeof value === 'object' && value !== null, 'Cannot read a plan: a node is no object');
  return new Map(Object.entries(value));
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
