// Stores the controls of a subscription, and copies them to the other rows that need them, in the
// transaction of the subscribe or the edit.
import { encodeControls, encodeFilter, type Controls } from '../../../core/domain/controls.ts';
import type { Filter } from '../../../core/domain/filter.ts';
import { text } from '../../sql/row.ts';
import { all, only, type Script } from '../../sql/statement.ts';

export const applyControlsSql = {
  before: 'select settings from subscription where no = ?1',
  keep: `
    update subscription set settings = ?2, filter = ?3, ordered = ?4, expires_ms = ?5, headers = ?6
    where no = ?1`,
} as const;

export interface Chosen {
  controls: Controls;
  /** Sealed. */
  headers: Uint8Array | undefined;
}

/** `subscription`: its number in the store. */
export function* keepControls(subscription: number, { controls, headers }: Chosen): Script<void> {
  const before = text(yield* only(applyControlsSql.before, subscription), 'settings');
  const settings = encodeControls(controls, before);
  const filter = controls.filter === undefined ? null : encodeFilter(controls.filter);
  const ordered = controls.ordered ? 1 : 0;
  const columns = [filter, ordered, controls.expiresMs ?? null, headers ?? null] as const;
  yield* all(applyControlsSql.keep, subscription, settings, ...columns);
}

/** Call this once the callbacks have their new lanes and patterns. */
export function* spreadControls(subscription: number, controls: Controls): Script<void> {
  yield* markFiltered(subscription, controls.filter);
}

// Records with every pattern of a subscription whether a filter applies, so that a publish need not
// look it up. Code that adds a pattern or changes the filter must call this last, in the same
// transaction.

export const markFilteredSql = {
  // Includes ended patterns: a large fan-out that began before still uses them.
  mark: `
    update pattern set filtered = ?2
    where callback in (select no from callback where subscription = ?1) and filtered <> ?2`,
} as const;

/** `subscription`: its number in the store. */
function* markFiltered(subscription: number, filter: Filter | undefined): Script<void> {
  yield* all(markFilteredSql.mark, subscription, filter === undefined ? 0 : 1);
}
