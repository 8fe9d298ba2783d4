// Disables the subscription of a receiver that has failed for days; new deliveries stay pending
// until it is enabled again. The node that settled the failure calls this right after it, in
// another transaction: the settlement has lanes locked, and a subscription is changed under the
// lock of its app, which must be taken first. If no call comes, the next failure makes one.
import { isOverdue } from '../../../core/domain/circuit-breaker.ts';
import { disabledNotice } from '../../../core/domain/system-event.ts';
import { coarseMinutes, minuteOf } from '../../../core/telemetry/statistics.ts';
import { type Row, integer, maybe, one, text } from '../../sql/row.ts';
import { all, first, forEach, only, type Script } from '../../sql/statement.ts';
import { raiseVersion } from './patterns.ts';
import { editSubscriptionSql } from './edit-subscription.ts';
import { hasListeners, writeNotice } from '../shared/notices.ts';
import type { Edit, Read } from '../shared/verb.ts';
import { healthOf, type LaneHealth } from '../../../core/domain/health.ts';
import { toLaneState } from '../shared/lanes.ts';

export const disableFailingSql = {
  owner: `
    select subscription.no, subscription.id, customer, subscription.state, lane.failures, lane.failing_ms,
      lane.state as lane_state
    from lane join subscription on subscription.no = lane.subscription
    where lane.no = ?1 and lane.app = ?2`,
  // Only these lanes can have had a success since. Without them the figures are not read, which
  // would contain the lane's own successes from shortly before.
  besides: `
    select no from lane
    where subscription = ?1 and no <> ?2 and state < 2
      and (failing_ms is null or failing_ms > ?3)
    limit 1`,
  // Lanes do not record the time of a success, which would cost a write per settlement. The figures
  // do, some seconds late, and in half hours after a while.
  delivered: `
    select minute from stat_subscription
    where (subscription, minute) >= (?1, ?2) and (subscription, minute) < (?1 + 1, 0) and delivered > 0
    limit 1`,
  // Held, so that no attempt can succeed any more and the result is final.
  hold: `
    update lane set state = 1, ready_ms = 9007199254740991, quiet_ms = null, quiet_xid = null
    where subscription = ?1 and state = 0 returning no, failures, failing_ms`,
  disable: "update subscription set state = 'disabled', version = ?2 where no = ?1",
  url: 'select url from callback where lane = ?1 order by position limit 1',
  anyUrl: `
    select url from callback where subscription = ?1 and inactive is null
    order by position limit 1`,
  // A subscription to nothing but own events is disabled without a notice: own events must not
  // cause more of them.
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
  // Read again, now under the lock: from here on no other node can change the subscription.
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
  const customer = maybe(text, found, 'customer');
  if (
    (yield* hasListeners(appNo, 'ringback.subscription.disabled')) &&
    (yield* first(disableFailingSql.others, no)) !== undefined
  ) {
    // Its callback may have another lane by now.
    const ofLane = yield* first(disableFailingSql.url, lane);
    const url = text(ofLane ?? (yield* only(disableFailingSql.anyUrl, no)), 'url');
    const failures = integer(held, 'failures');
    const notice = disabledNotice({ subscription, url, failures, failingMs, atMs: nowMs });
    yield* writeNotice({ appNo, customer, ...notice }, nowMs);
  }
  return { kind: 'disabled', subscription, customer };
};

function mustEnd(row: Row, nowMs: number): boolean {
  const isActive = text(row, 'state') === 'active' && integer(row, 'lane_state') === 0;
  return isActive && isFailing(row, nowMs);
}

function isFailing(row: Row, nowMs: number): boolean {
  const failures = integer(row, 'failures');
  return isOverdue(
    { state: 'active', failures, failingMs: maybe(integer, row, 'failing_ms') },
    nowMs,
  );
}

/**
 * By now the figures of the half hour in which the failures began may be merged into its first
 * minute. A success among them may have come earlier, or from the lane itself. In doubt the
 * subscription is kept, until these figures expire.
 */
function* hasDelivered(subscription: number, sinceMs: number): Script<boolean> {
  const minute = minuteOf(sinceMs);
  const from = minute - (minute % coarseMinutes);
  const row = yield* first(disableFailingSql.delivered, subscription, from);
  return row !== undefined;
}

// Reads the health of the receivers of subscriptions: their failing lanes, a bounded number, and the
// head of each.

export const subscriptionHealthSql = {
  failing: `
    select subscription.id, lane.state as lane_state, lane.ordered, lane.gate_ms, lane.failures, lane.failing_ms,
      (select due_ms from delivery_live where delivery_live.lane = lane.no and lease is null
       order by due_ms limit 1) as due_ms,
      (select position from callback where callback.lane = lane.no limit 1) as position
    from subscription join lane on lane.subscription = subscription.no
    where subscription.id = ?1 and subscription.app = ?2 and lane.failures > 0`,
} as const;

export const subscriptionHealth: Read<'subscriptionHealth'> = function* ({ appNo, ids }) {
  const rows = yield* forEach(
    subscriptionHealthSql.failing,
    ids.map((id) => [id, appNo]),
  );
  const failing = Map.groupBy(rows.filter(isInUse), (row) => text(row, 'id'));
  return ids.map((id) => healthOf((failing.get(id) ?? []).map(toLaneHealth)));
};

/** A lane that no callback uses any more only matters while deliveries are pending in it. */
function isInUse(row: Row): boolean {
  return (
    maybe(integer, row, 'position') !== undefined || maybe(integer, row, 'due_ms') !== undefined
  );
}

function toLaneHealth(row: Row): LaneHealth {
  return {
    state: toLaneState(integer(row, 'lane_state')),
    ordered: integer(row, 'ordered') === 1,
    gateMs: integer(row, 'gate_ms'),
    failures: integer(row, 'failures'),
    failingMs: maybe(integer, row, 'failing_ms'),
    dueMs: maybe(integer, row, 'due_ms'),
  };
}
