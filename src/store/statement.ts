// Verbs that both databases can run are written once, as scripts: generators that hand out statements
// and are given back rows. SQLite runs a script in one go, PostgreSQL awaits each of its statements.
import type { Row } from './row.ts';
import { one } from './row.ts';

export type Value = string | number | Uint8Array | null;

export interface Statement {
  /** Parameters are written ?1, ?2, … so that each database can read them in its own way. */
  sql: string;
  values: readonly Value[];
}

/** One statement for many values: a round trip in all, where there are round trips. */
export interface Repeated {
  sql: string;
  each: readonly (readonly Value[])[];
}

export type Script<T> = Generator<Statement | Repeated, T, readonly Row[]>;

/** All rows that the statement gives; none for one that gives no rows. */
export function* all(sql: string, ...values: readonly Value[]): Script<readonly Row[]> {
  return yield { sql, values };
}

/** The rows of all values, one after the other: each must say itself to what it belongs. */
export function* forEach(sql: string, each: readonly (readonly Value[])[]): Script<readonly Row[]> {
  return each.length === 0 ? [] : yield { sql, each };
}

export function* first(sql: string, ...values: readonly Value[]): Script<Row | undefined> {
  const [row] = yield { sql, values };
  return row;
}

/** The row that there must be. */
export function* only(sql: string, ...values: readonly Value[]): Script<Row> {
  return one(yield* first(sql, ...values));
}
