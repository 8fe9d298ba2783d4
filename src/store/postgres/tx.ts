// One transaction, or at least one connection, as the verbs see it: statements in, rows out.
import type { Client } from 'pg';
import type { Row } from '../row.ts';
import type { Script, Statement } from '../statement.ts';
import { statement } from './named-statement.ts';
import { repeat } from './repeat.ts';

/** Columns of many rows travel as arrays and are taken apart by `unnest`. */
export type Parameter =
  | string
  | number
  | boolean
  | Uint8Array
  | null
  | readonly (string | number | boolean | Uint8Array | null)[];

export interface Tx {
  /** Statements that do not need each other's answers may be asked at once: they go in one packet. */
  query(sql: string, values: readonly Parameter[]): Promise<readonly Row[]>;
  run<T>(script: Script<T>): Promise<T>;
}

export function txOn(client: Client): Tx {
  const query: Tx['query'] = async (sql, values) => {
    const result = await client.query<Row>({ ...statement(sql), values: values.map(toWire) });
    return result.rows;
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

/** The driver takes a Buffer as bytes, and any other view of bytes as an object to print. */
function toWire(value: Parameter): unknown {
  if (value instanceof Uint8Array) return toBuffer(value);
  if (!isList(value)) return value;
  return value.map((each) => (each instanceof Uint8Array ? toBuffer(each) : each));
}

function isList(value: Parameter): value is Extract<Parameter, readonly unknown[]> {
  return Array.isArray(value);
}

function toBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

const translated = new Map<string, string>();

/** A shared statement in the words of PostgreSQL: `$1` for `?1`, and without SQLite's hints. */
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
