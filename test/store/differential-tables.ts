// The tables of both databases in a comparable form: which tables, columns and order; and every allowed difference, with
// its reason.
import { strict as assert } from 'node:assert';
import type { DatabaseSync } from 'node:sqlite';
import type { Client } from 'pg';
import { brokenAfter } from '../../src/core/domain/circuit-breaker.ts';
import { never } from '../../src/core/domain/lane.ts';
import { dayAt } from '../../src/store/postgres/schema/partitions.ts';

const dayMs = 24 * 60 * 60 * 1000;
export const yearMs = 365 * dayMs;

/** Every allowed difference, with its reason. */
export const differences = {
  /**
   * Tables that only one has: the record of migrations, and publishing by SQL. And spans of slices, which differ; the
   * replies show that lists find everything by them.
   */
  tables: ['migration', 'sqlite_sequence', 'inbox', 'life', 'slice_span', 'publisher'],
  columns: {
    // SQLite numbers rows with payloads internally. PostgreSQL takes slices from a sequence, a new one every ten minutes.
    event: ['no', 'slice'],
    response: ['no'],
    delivery_live: ['slice'],
    delivery_done: ['slice'],
    // Only needed with several writers. SQLite has one.
    lane: ['quiet_ms', 'quiet_xid', 'floor_ms'],
    // SQLite has one writer, which needs no number.
    stat_app: ['writer'],
  },
  /** SQLite sweeps an ended lane at once; PostgreSQL must sweep twice to be sure. */
  expressions: { lane: { swept: 'case state when 2 then 0 else swept end' } },
  /** An idle lane of SQLite is never ready; one of PostgreSQL lingers, here for ten years. */
  lingerMs: 10 * yearMs,
  isLingering: (readyMs: number, nowMs: number) => readyMs > nowMs + yearMs && readyMs < never,
  /**
   * A lane whose circuit breaker closes becomes ready if anything may be pending in it. SQLite knows if nothing is, but a
   * lingering lane does not; so broken lanes must not linger here.
   */
  restBroken: `
    update lane set ready_ms = ${never}, quiet_ms = null, quiet_xid = null
    where failures >= ${brokenAfter} and ready_ms between $1 and ${never - 1}`,
  /** The same applies to a lane whose limit is removed, so all lanes rest before such changes. */
  restAll: `
    update lane set ready_ms = ${never}, quiet_ms = null, quiet_xid = null
    where ready_ms between $1 and ${never - 1}`,
  /**
   * Tables numbered by a sequence, where a rollback leaves a gap in PostgreSQL. The rows correspond by their order, since
   * both databases delete the same ones.
   */
  numbered: ['app', 'key', 'subscription', 'lane', 'callback', 'replay', 'notice', 'audit'],
  /** The message of a constraint violation, without the part that depends on the database. */
  message: (message: string) => message.replace(/: .*$/s, ''),
  /** A cursor may be a number from a sequence. */
  cursor: (next: string) => next.replace(/^\d+$/, ''),
} as const;

export type Cell = string | number | null;
export type Row = Readonly<Record<string, Cell>>;
export type Rows = readonly (readonly Cell[])[];

export interface Table {
  name: string;
  columns: readonly string[];
  select: string;
  order: string;
}

/** In an order that foreign keys allow. */
export const emptied = [
  'audit',
  'notice',
  'stat_app',
  'stat_subscription',
  'change_feed',
  'watch',
  'response',
  'attempt',
  'delivery_done',
  'delivery_live',
  'fanout',
  'event',
  'session',
  'pattern',
  'callback',
  'lane',
  'subscription',
  'replay',
  'event_type',
  'key',
  'idem',
  'app',
  'node',
  'setting',
];

export function tablesOf(db: DatabaseSync): Table[] {
  const found = db.prepare("select name from sqlite_schema where type = 'table' order by name");
  const names = found.all().map(({ name }) => String(name));
  const left: readonly string[] = differences.tables;
  return names
    .filter((name) => !left.includes(name))
    .map((name) => {
      const info = db
        .prepare(`select name, pk from pragma_table_xinfo('${name}') order by cid`)
        .all();
      const skipped = columnsLeftOut(name);
      const columns = info.map((column) => String(column['name']));
      const kept = columns.filter((column) => !skipped.includes(column));
      const order = info
        .filter(({ pk, name: column }) => Number(pk) > 0 && !skipped.includes(String(column)))
        .sort((a, b) => Number(a['pk']) - Number(b['pk']))
        .map((column) => String(column['name']));
      const select = kept.map((column) => expressionOf(name, column)).join(', ');
      return { name, columns: kept, select, order: order.join(', ') || (orders[name] ?? '') };
    });
}

/** Sort orders for tables whose number is not compared. */
const orders: Readonly<Record<string, string>> = { event: 'id', response: 'event, n, k' };

function columnsLeftOut(table: string): readonly string[] {
  const left: Readonly<Record<string, readonly string[]>> = differences.columns;
  return left[table] ?? [];
}

function expressionOf(table: string, column: string): string {
  const all: Readonly<Record<string, Readonly<Record<string, string>>>> = differences.expressions;
  return all[table]?.[column] ?? column;
}

/** One query for all tables. */
export function dumpOf(tables: readonly Table[]): string {
  const all = tables.map(
    ({ name, select, order }) =>
      `(select coalesce(json_agg(json_build_array(${select}) order by ${order}), '[]') from ${name})`,
  );
  return `select json_build_array(${all.join(',\n')})`;
}

export function plainRows(rows: readonly unknown[]): Rows {
  return rows.map((row) => {
    assert(Array.isArray(row));
    return row.map((cell: unknown): Cell => {
      if (cell instanceof Uint8Array) return String.raw`\x` + Buffer.from(cell).toString('hex');
      assert(cell === null || typeof cell === 'number' || typeof cell === 'string');
      return cell;
    });
  });
}

export function isNumbered(table: string): boolean {
  const numbered: readonly string[] = differences.numbered;
  return numbered.includes(table);
}

export function swap(row: Cell[], i: number, numbers: ReadonlyMap<Cell, Cell>): void {
  const cell = row[i] ?? null;
  row[i] = numbers.get(cell) ?? cell;
}

export function named({ columns }: Table, rows: Rows): Row[] {
  return rows.map((row) =>
    Object.fromEntries(columns.map((column, i) => [column, row[i] ?? null])),
  );
}

/** The start time of every sequence. */
export const startMs = Date.UTC(2026, 0, 1);

/** All ids are of one day, and fewer partitions are faster to read and to empty. */
export async function keepOneDay(client: Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(`
    select relname as name from pg_inherits join pg_class on pg_class.oid = inhrelid
    where relkind = 'r' and relname not like '%${dayAt(startMs).name}'`);
  await client.query(`drop table ${rows.map(({ name }) => name).join(', ')}`);
}
