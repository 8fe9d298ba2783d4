// The app's version, incremented by every change of what its events can reach, and its number of
// subscriptions. The row lock makes the order of versions the order of commits on any number of
// nodes, and keeps the number exact.
import { integer, toQuotas } from '../../sql/row.ts';
import type { Script } from '../../sql/statement.ts';
import { all, only } from '../../sql/statement.ts';

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
 * it.
 */
export function* enterSubscription(appNo: number, fallback: number | undefined): Script<Entry> {
  const row = yield* only(appVersionSql.enter, appNo);
  const quota = toQuotas(row).subscriptions ?? fallback;
  if (quota === undefined || integer(row, 'subscriptions') <= quota) {
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
