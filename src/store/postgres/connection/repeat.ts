// Runs one statement for many sets of values in one round trip; a shared script yields it once per
// set.
import { strict as assert } from 'node:assert';
import type { Repeated, Value } from '../../sql/statement.ts';

export interface Asked {
  sql: string;
  values: readonly (readonly Value[])[];
}

/** The columns of the values are sent as arrays. All sets must have the same types. */
export function repeat({ sql, each }: Repeated): Asked {
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
