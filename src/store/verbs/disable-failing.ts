// Gives up a receiver that has failed for days: its subscription is disabled, and what is published for it
// waits until somebody enables it again. Asked by whoever settled the failure, right after it, and not in
// the same transaction: that has lanes locked, and a subscription is changed under the lock of its app,
// which comes first. Should nobody come to ask, the next failure asks again.
import { isOverdue } from '../../core/lane.ts';
import { disabledNotice } from '../../core/notice.ts';
import { coarseMinutes, minuteOf } from '../../core/stats-span.ts';
import type { Row } from '../row.ts';
import { integer, maybe, one, text } from '../row.ts';
import type { Script } from '../statement.ts';
import { all, first, only } from '../statement.ts';
import { raiseVersion } from './app-version.ts';
import { editSubscriptionSql } from './edit-subscription.ts';
import { isHeard, writeNotice } from './notices.ts';
import type { Edit } from './verb.ts';

export const disableFailingSql = {
  owner: `
    select subscription.no, subscription.id, subscription.state, lane.failures, lane.failing_ms,
      lane.state as lane_state
    from lane join subscription on subscription.no = lane.subscription
    where lane.no = ?1 and lane.app = ?2`,
  // Only these can have had a success since: without them the figures are not asked, which would tell of its
  // own successes shortly before.
  besides: `
    select no from lane
    where subscription = ?1 and no <> ?2 and state < 2
      and (failing_ms is null or failing_ms > ?3)
    limit 1`,
  // Its lanes do not say when they had a success: a row for each would cost more than the settlement. The
  // figures do, some seconds late, and by the half hour after a while.
  delivered: `
    select minute from stat_subscription
    where (subscription, minute) >= (?1, ?2) and (subscription, minute) < (?1 + 1, 0) and delivered > 0
    limit 1`,
  // Held, so that it cannot succeed any more: from here on it is as it is.
  hold: `
    update lane set state = 1, ready_ms = 9007199254740991, quiet_ms = null, quiet_xid = null
    where subscription = ?1 and state = 0 returning no, failures, failing_ms`,
  disable: "update subscription set state = 'disabled', version = ?2 where no = ?1",
  url: 'select url from callback where lane = ?1 order by position limit 1',
  anyUrl: `
    select url from callback where subscription = ?1 and inactive is null
    order by position limit 1`,
  // One that hears nothing but own events is disabled by them alone, which tells nothing.
  others: `
    select pattern.callback from callback join pattern on pattern.callback = callback.no
    where callback.subscription = ?1 and contract <> '' and coalesce(died, 0) = 0 limit 1`,
} as const;

export const disableFailing: Edit<'disableFailing'> = function* ({ appNo, lane }, nowMs) {
  const seen = yield* first(disableFailingSql.owner, lane, appNo);
  if (seen === undefined || !mustEnd(seen, nowMs)) return { kind: 'kept' };
  const no = integer(seen, 'no');
  const failingMs = integer(seen, 'failing_ms');
  if (
    (yield* first(disableFailingSql.besides, no, lane, failingMs)) !== undefined &&
    (yield* hasDelivered(no, failingMs))
  ) {
    return { kind: 'kept' };
  }
  const version = yield* raiseVersion(appNo);
  // Read again: from here on nobody else can change the subscription.
  const found = one(yield* first(disableFailingSql.owner, lane, appNo));
  if (!mustEnd(found, nowMs)) return { kind: 'kept' };
  const held = (yield* all(disableFailingSql.hold, no)).find((row) => integer(row, 'no') === lane);
  if (held === undefined || !isFailing(held, nowMs)) {
    yield* all(editSubscriptionSql.resume, no, nowMs);
    return { kind: 'kept' };
  }
  yield* all(disableFailingSql.disable, no, version);
  yield* all(editSubscriptionSql.renew, no, version);
  const subscription = text(found, 'id');
  if (
    (yield* isHeard(appNo, 'ringback.subscription.disabled')) &&
    (yield* first(disableFailingSql.others, no)) !== undefined
  ) {
    // Its callback may have another lane by now.
    const ofLane = yield* first(disableFailingSql.url, lane);
    const url = text(ofLane ?? (yield* only(disableFailingSql.anyUrl, no)), 'url');
    const failures = integer(held, 'failures');
    const notice = disabledNotice({ subscription, url, failures, failingMs, atMs: nowMs });
    yield* writeNotice({ appNo, ...notice }, nowMs);
  }
  return { kind: 'disabled', subscription };
};

function mustEnd(row: Row, nowMs: number): boolean {
  const isOpen = text(row, 'state') === 'active' && integer(row, 'lane_state') === 0;
  return isOpen && isFailing(row, nowMs);
}

function isFailing(row: Row, nowMs: number): boolean {
  const failures = integer(row, 'failures');
  return isOverdue(
    { state: 'open', failures, failingMs: maybe(integer, row, 'failing_ms') },
    nowMs,
  );
}

/**
 * By then the figures of the half hour in which it began stand at its first minute. A success in it may have
 * come before, and may be its own: rather keep the subscription, until these figures are forgotten.
 */
function* hasDelivered(subscription: number, sinceMs: number): Script<boolean> {
  const minute = minuteOf(sinceMs);
  const from = minute - (minute % coarseMinutes);
  const row = yield* first(disableFailingSql.delivered, subscription, from);
  return row !== undefined;
}
