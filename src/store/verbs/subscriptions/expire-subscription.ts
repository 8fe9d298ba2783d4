// Ends expired subscriptions: a read finds them, and an edit ends each, after checking again that
// it has expired.
import { limits } from '../../../core/limits/limits.ts';
import { integer, text } from '../../sql/row.ts';
import { all } from '../../sql/statement.ts';
import { raiseVersion } from '../shared/app-version.ts';
import { endSubscription } from './end-subscription.ts';
import { findSubscription, type Found } from './subscriptions.ts';
import type { Edit, Read } from '../shared/verb.ts';

export const expireSubscriptionSql = {
  soonest: `
    select app, id, expires_ms from subscription
    where expires_ms is not null and state <> 'ended' order by expires_ms limit ?1 + 0`,
} as const;

export const expiring: Read<'expiring'> = function* ({ beforeMs, limit }) {
  const most = Math.min(limit, limits.expiringMax);
  const rows = yield* all(expireSubscriptionSql.soonest, most + 1);
  const due = rows.slice(0, most).filter((row) => integer(row, 'expires_ms') <= beforeMs);
  const next = rows[due.length];
  return {
    expired: due.map((row) => ({ appNo: integer(row, 'app'), id: text(row, 'id') })),
    nextMs: next && integer(next, 'expires_ms'),
  };
};

export const expireSubscription: Edit<'expireSubscription'> = function* (input, nowMs) {
  if (!isOver(yield* findSubscription(input), nowMs)) return { kind: 'kept' };
  yield* raiseVersion(input.appNo);
  // Read again, now under the lock: from here on no other node can extend it.
  const found = yield* findSubscription(input);
  if (!isOver(found, nowMs)) return { kind: 'kept' };
  yield* endSubscription({ no: found.no, appNo: input.appNo, nowMs });
  return { kind: 'ended' };
};

function isOver(found: Found | undefined, nowMs: number): found is Found {
  if (found === undefined || found.subscription.state === 'ended') return false;
  return nowMs >= (found.subscription.controls.expiresMs ?? Infinity);
}
