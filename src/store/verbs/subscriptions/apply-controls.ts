// The columns that hold the controls of a subscription, and their copies in other rows. An edit writes them here, a
// subscribe with its own row.
import { encodeControls, encodeFilter, type Controls } from '../../../core/domain/controls.ts';
import type { Filter } from '../../../core/domain/filter.ts';
import { text } from '../../sql/row.ts';
import { all, only, type Script, type Value } from '../../sql/statement.ts';

export const applyControlsSql = {
  before: 'select settings from subscription where no = ?1',
  keep: `
    update subscription set settings = ?2, filter = ?3, ordered = ?4, expires_ms = ?5, headers = ?6
    where no = ?1`,
  // Includes ended patterns: a large fan-out that began before still uses them.
  markFiltered: `
    update pattern set filtered = ?2
    where callback in (select no from callback where subscription = ?1) and filtered <> ?2`,
} as const;

export interface Chosen {
  controls: Controls;
  /** Sealed. */
  headers: Uint8Array | undefined;
}

/** Values of `settings`, `filter`, `ordered`, `expires_ms` and `headers`. `before`: the settings so far. */
export function controlColumns({ controls, headers }: Chosen, before?: string): Value[] {
  const { filter, ordered, expiresMs } = controls;
  return [
    encodeControls(controls, before),
    filter === undefined ? null : encodeFilter(filter),
    ordered ? 1 : 0,
    expiresMs ?? null,
    headers ?? null,
  ];
}

/** `subscription`: its number in the store. */
export function* keepControls(subscription: number, chosen: Chosen): Script<void> {
  const before = text(yield* only(applyControlsSql.before, subscription), 'settings');
  yield* all(applyControlsSql.keep, subscription, ...controlColumns(chosen, before));
  yield* all(applyControlsSql.markFiltered, subscription, filteredCode(chosen.controls.filter));
}

/** The code in the column `pattern.filtered`, by which a publish need not look for the filter. */
export function filteredCode(filter: Filter | undefined): 0 | 1 {
  return filter === undefined ? 0 : 1;
}
