// A transaction or a plain connection, as the verbs see it: statements in, rows out.
import type { Client } from 'pg';
import type { Row } from '../../sql/row.ts';
import type { Script, Statement } from '../../sql/statement.ts';
import { isAborted } from './failure.ts';
import { ask } from './pipeline.ts';
import { repeat } from './repeat.ts';
import type { Parameter } from './wire.ts';

export interface Tx {
  /** Statements that do not need each other's answers can be sent at once, in one packet. */
  query(sql: string, values: readonly Parameter[]): Promise<readonly Row[]>;
  run<T>(script: Script<T>): Promise<T>;
}

export function txOn(client: Client): Tx {
  let cause: unknown;
  const query: Tx['query'] = async (sql, values) => {
    try {
      return await ask(client, sql, values);
    } catch (error) {
      // Statements behind a failed one in the packet fail as well; they reject with its error.
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
