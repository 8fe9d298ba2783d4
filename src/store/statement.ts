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

export type Script<T> = Generator<Statement, T, readonly Row[]>;

/** All rows that the statement gives; none for one that gives no rows. */
export function* all(sql: string, ...values: readonly Value[]): Script<readonly Row[]> {
  return yield { sql, values };
}

export function* first(sql: string, ...values: readonly Value[]): Script<Row | undefined> {
  const [row] = yield { sql, values };
  return row;
}

/** The row that there must be. */
export function* only(sql: string, ...values: readonly Value[]): Script<Row> {
  return one(yield* first(sql, ...values));
}
