// Verbs that both databases share are written once, as scripts: generators that yield statements
// and receive rows. SQLite runs a script synchronously, PostgreSQL awaits each statement.
import type { Row } from './row.ts';
import { one } from './row.ts';

export type Value = string | number | Uint8Array | null;

export interface Statement {
  /** Parameters are written ?1, ?2, … and each database translates them. */
  sql: string;
  values: readonly Value[];
}

/** One statement for many sets of values: a single round trip on PostgreSQL. */
export interface Repeated {
  sql: string;
  each: readonly (readonly Value[])[];
}

export type Script<T> = Generator<Statement | Repeated, T, readonly Row[]>;

/** All rows of the statement; empty for a statement that returns none. */
export function* all(sql: string, ...values: readonly Value[]): Script<readonly Row[]> {
  return yield { sql, values };
}

/** The rows of all sets of values, concatenated: each row must identify its set. */
export function* forEach(sql: string, each: readonly (readonly Value[])[]): Script<readonly Row[]> {
  return each.length === 0 ? [] : yield { sql, each };
}

export function* first(sql: string, ...values: readonly Value[]): Script<Row | undefined> {
  const [row] = yield { sql, values };
  return row;
}

/** The row, which must exist. */
export function* only(sql: string, ...values: readonly Value[]): Script<Row> {
  return one(yield* first(sql, ...values));
}
