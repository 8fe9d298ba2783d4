// Analyses a plan of PostgreSQL for parts that grow with the tables: scans, sorts, and full index scans.
import { strict as assert } from 'node:assert';

export interface PlanNode {
  type: string;
  table: string;
  index: string | undefined;
  condition: string;
  filter: string;
  sortKey: readonly string[];
}

/** The columns of each index, in order. */
export type Indexes = ReadonlyMap<string, readonly string[]>;

/** All nodes in the output of `explain (format json)`. */
export function readPlan(value: unknown): PlanNode[] {
  assert(Array.isArray(value), 'Cannot read a plan: it is no list');
  const nodes: PlanNode[] = [];
  walk(fieldsOf(value[0]).get('Plan'), nodes);
  return nodes;
}

/** Unusual parts of a plan, reported once for all partitions of a table. */
export function findings(nodes: readonly PlanNode[], indexes: Indexes): Set<string> {
  return new Set(nodes.flatMap((node) => findingsOf(node, indexes)));
}

/** Indexes of partitions have meaningless names, so use the table and columns instead. */
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

/** Without the table, the collation, and `|| ''`, which prevents the use of an index. */
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
