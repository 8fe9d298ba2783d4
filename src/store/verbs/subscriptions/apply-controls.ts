// Stores the controls of a subscription, and copies them to the other rows that need them, in the
// transaction of the subscribe or the edit.
import { encodeControls, encodeFilter, type Controls } from '../../../core/domain/controls.ts';
import { text } from '../../sql/row.ts';
import type { Script } from '../../sql/statement.ts';
import { all, only } from '../../sql/statement.ts';
import { markFiltered } from './mark-filtered.ts';

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
