// One statement for many values in one round trip: a shared script asks it once for each of them.
import { strict as assert } from 'node:assert';
import type { Repeated, Value } from '../statement.ts';

export interface Asked {
  sql: string;
  values: readonly (readonly Value[])[];
}

/** Columns of the values travel as arrays. All sets of values have the same types. */
export function repeat({ sql, each }: Repeated): Asked {
  const types = (each[0] ?? []).map(typeOf);
  const values = types.map((_type, column) => each.map((set) => set[column] ?? null));
  return { sql: repeated(sql, types), values };
}

/**
 * `offset 0` keeps the planner from joining it all by heap: the statement runs for each of the values by
 * the plan that it has by itself.
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
