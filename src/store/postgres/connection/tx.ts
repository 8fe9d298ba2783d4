// A transaction or a plain connection, as the verbs see it: statements in, rows out.
import { strict as assert } from 'node:assert';
import type { Client } from 'pg';
import type { Row } from '../../sql/row.ts';
import type { Script, Statement, Repeated, Value } from '../../sql/statement.ts';
import { isAborted, failureKind, verbFailure } from './failure.ts';
import { pipelineQuery, type Parameter } from './pipeline.ts';
import type { VerbFailure } from '../../port/transport-protocol.ts';

export interface Tx {
  /** Statements that do not need each other's answers can be sent at once, as one pipeline. */
  query(sql: string, values: readonly Parameter[]): Promise<readonly Row[]>;
  run<T>(script: Script<T>): Promise<T>;
}

export function txOn(client: Client): Tx {
  let cause: unknown;
  const query: Tx['query'] = async (sql, values) => {
    try {
      return await pipelineQuery(client, sql, values);
    } catch (error) {
      // Statements behind a failed one in the pipeline fail as well; they reject with its error.
      if (!isAborted(error)) cause = error;
      throw cause ?? error;
    }
  };
  return {
    query,
    run: async (script) => {
      let step = script.next([]);
      while (step.done !== true) {
        const { sql, values } = 'each' in step.value ? repeat(step.value) : translate(step.value);
        step = script.next(await query(sql, values));
      }
      return step.value;
    },
  };
}

const translated = new Map<string, string>();

/** A shared statement in PostgreSQL's syntax: `$1` for `?1`, and without SQLite's index hints. */
function translate({ sql, values }: Statement): Statement {
  const known = translated.get(sql);
  if (known !== undefined) return { sql: known, values };
  const text = toPostgres(sql);
  translated.set(sql, text);
  return { sql: text, values };
}

export function toPostgres(sql: string): string {
  return sql.replaceAll(/\?(\d+)/g, '$$$1').replaceAll(/ indexed by \w+/g, '');
}

// Runs one statement for many sets of values in one round trip; a shared script yields it once per
// set.

interface QueuedStatement {
  sql: string;
  values: readonly (readonly Value[])[];
}

/** The columns of the values are sent as arrays. All sets must have the same types. */
function repeat({ sql, each }: Repeated): QueuedStatement {
  const types = (each[0] ?? []).map(typeOf);
  const values = types.map((_type, column) => each.map((set) => set[column] ?? null));
  return { sql: repeated(sql, types), values };
}

/**
 * `offset 0` keeps the planner from turning this into a join over whole tables: the statement runs
 * once per set of values, with the plan that it has by itself.
 */
export function repeated(sql: string, types: readonly string[]): string {
  const arrays = types.map((type, i) => `$${i + 1}::${type}[]`).join();
  const names = types.map((_type, i) => `v${i + 1}`).join();
  const one = sql.replaceAll(/\?(\d+)/g, 'x.v$1').replaceAll(/ indexed by \w+/g, '');
  return `select y.* from unnest(${arrays}) as x (${names}) cross join lateral (${one} offset 0) y`;
}

function typeOf(value: Value): 'text' | 'bigint' {
  assert(typeof value === 'string' || typeof value === 'number', 'Cannot repeat for such a value');
  return typeof value === 'string' ? 'text' : 'bigint';
}

// Runs each item of a batch in a savepoint, so that one that breaks a constraint does not fail the
// others. The first try of a batch runs without: savepoints around every item would cost three
// round trips each.

export const savepointSql = {
  save: 'savepoint item',
  keep: 'release savepoint item',
  undo: 'rollback to savepoint item',
} as const;

export type BatchMode = 'together' | 'alone';

export async function inSavepoint<T>(
  tx: Tx,
  verb: string,
  body: () => Promise<T>,
): Promise<{ kind: 'done'; output: T } | VerbFailure> {
  await tx.query(savepointSql.save, []);
  try {
    const output = await body();
    await tx.query(savepointSql.keep, []);
    return { kind: 'done', output };
  } catch (error) {
    if (failureKind(error) !== 'item') throw error;
    await tx.query(savepointSql.undo, []);
    return verbFailure(verb, error);
  }
}
