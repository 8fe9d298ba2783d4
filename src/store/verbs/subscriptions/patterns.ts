// Patterns make a callback reachable. A pattern is valid from one version of its app to another, so
// that a fan-out in progress keeps the audience it began with.
import { ownPrefix } from '../../../core/domain/event.ts';
import type { Filter } from '../../../core/domain/filter.ts';
import { keysOf } from '../../rules/pattern-keys.ts';
import { text, integer, toQuotas } from '../../sql/row.ts';
import { type Script, all, only } from '../../sql/statement.ts';
import { filteredCode } from './apply-controls.ts';

export const listenSql = {
  pattern: `
    insert into pattern (app, contract, pattern, callback, born, lane, filtered)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7)`,
  // `died is null` would let the planner use the index of all patterns of an app.
  alive: 'select pattern from pattern where callback = ?1 and coalesce(died, 0) = 0',
  end: `
    update pattern set died = ?3, died_ms = ?4
    where callback = ?1 and pattern || '' = ?2 and coalesce(died, 0) = 0`,
} as const;

export interface Listening {
  appNo: number;
  contract: string;
  events: readonly string[];
  /** Of the subscription. */
  subject: string | undefined;
  customer: string | undefined;
  filter: Filter | undefined;
  callback: number;
  lane: number;
  /** The first version of the app in which the pattern is valid. */
  born: number;
}

export function* addPatterns(input: Listening): Script<void> {
  yield* addKeys(input, keysIn(input));
}

interface Key {
  contract: string;
  key: string;
}

function keysIn({ contract, events, subject, customer }: Listening): Key[] {
  return events.flatMap((pattern) => {
    // Ringback's own events belong to no contract.
    const of = pattern.startsWith(ownPrefix) ? '' : contract;
    return keysOf(pattern, { subject, customer }).map((key) => ({ contract: of, key }));
  });
}

function* addKeys(input: Listening, keys: readonly Key[]): Script<void> {
  const { appNo, callback, born, lane, filter } = input;
  for (const { contract, key } of keys) {
    const values = [appNo, contract, key, callback, born, lane] as const;
    yield* all(listenSql.pattern, ...values, filteredCode(filter));
  }
}

/** Patterns that it already has stay as they are; the others end or begin with this version. */
export function* changePatterns(input: Listening, nowMs: number): Script<void> {
  const { callback, born } = input;
  const keys = keysIn(input);
  const wanted = new Set(keys.map(({ key }) => key));
  const rows = yield* all(listenSql.alive, callback);
  const existing = new Set(rows.map((row) => text(row, 'pattern')));
  for (const key of existing.difference(wanted)) {
    yield* all(listenSql.end, callback, key, born, nowMs);
  }
  const added = keys.filter(({ key }) => !existing.has(key));
  yield* addKeys(input, added);
}

// The app's version, incremented by every change of what its events can reach, and its number of
// subscriptions. The row lock makes the order of versions the order of commits on any number of
// nodes, and keeps the number exact.

export const appVersionSql = {
  raise: 'update app set version = version + 1 where no = ?1 returning version',
  enter: `
    update app set version = version + 1, subscriptions = subscriptions + 1 where no = ?1
    returning version, subscriptions, settings`,
  // As if it had never been entered.
  undo: 'update app set version = version - 1, subscriptions = subscriptions - 1 where no = ?1',
  // A node of an older version may have counted nothing; that must not keep anybody from leaving.
  leave: `
    update app set subscriptions = case when subscriptions > 0 then subscriptions - 1 else 0 end
    where no = ?1`,
} as const;

export function* raiseVersion(appNo: number): Script<number> {
  return integer(yield* only(appVersionSql.raise, appNo), 'version');
}

export type Entry = { kind: 'entered'; version: number } | { kind: 'full'; quota: number };

/**
 * Increments the version for a new subscription, if the app's quota (else `fallback`) has room for
 * it. One that replaces another always has room: the other has already left.
 */
export function* admitSubscription(
  appNo: number,
  { fallback, isReplacing }: { fallback: number | undefined; isReplacing: boolean },
): Script<Entry> {
  const row = yield* only(appVersionSql.enter, appNo);
  const quota = toQuotas(row).subscriptions ?? fallback;
  if (quota === undefined || isReplacing || integer(row, 'subscriptions') <= quota) {
    return { kind: 'entered', version: integer(row, 'version') };
  }
  yield* all(appVersionSql.undo, appNo);
  return { kind: 'full', quota };
}

/**
 * Counts one subscription less. The caller has incremented the version, and so holds the row lock.
 */
export function* leaveSubscription(appNo: number): Script<void> {
  yield* all(appVersionSql.leave, appNo);
}
