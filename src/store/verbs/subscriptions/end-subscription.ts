// Ends a subscription: after this transaction no publish finds its callbacks and no claim its
// lanes. Pending deliveries in the lanes, perhaps a million, are swept later in small steps.
import { strict as assert } from 'node:assert';
import { withPrefix } from '../../../core/base/id.ts';
import { byService, type Audit } from '../../../core/domain/audit.ts';
import type { DeliveryName } from '../../../core/domain/delivery.ts';
import { ownPrefix } from '../../../core/domain/event.ts';
import type { EndReason } from '../../../core/domain/subscription.ts';
import { limits } from '../../../core/limits/limits.ts';
import type { EndedSubscriptions, FinalCallback, Settled } from '../../port/delivery-verbs.ts';
import { integer, maybe, text, type Row } from '../../sql/row.ts';
import { all, first, forEach, only, type Script } from '../../sql/statement.ts';
import { leaveSubscription, raiseVersion } from './patterns.ts';
import { writeAudit } from '../shared/audit.ts';
import { noticeGone } from '../shared/notices.ts';
import type { Edit, Read } from '../shared/verb.ts';
import { findSubscription, type Found } from './subscriptions.ts';

export const endSubscriptionSql = {
  end: `
    update subscription set state = 'ended', ended_ms = ?2, version = ?3, end_reason = ?4,
      confirm_by_ms = null, answer_status = coalesce(?5, answer_status)
    where no = ?1 and state <> 'ended' returning no`,
  // `died is null` would let the planner use the index of all patterns of an app.
  endPatterns: `
    update pattern set died = ?2
    where callback in (select no from callback where subscription = ?1) and coalesce(died, 0) = 0`,
  // Every lane is swept at least once: on PostgreSQL another transaction may be adding to it now.
  endLanes: `
    update lane set state = 2, ready_ms = 9007199254740991, swept = 0, version = ?2,
      quiet_ms = null, quiet_xid = null
    where subscription = ?1`,
  owner: `
    select subscription.no, subscription.id, subscription.app, subscription.state, customer
    from callback join subscription on subscription.no = callback.subscription
    where callback.no = ?1`,
  lanes: 'select no from lane where subscription = ?1 order by no',
  others: `
    select other.no, other.definition, case when other.event = own.event then 1 else 0 end as is_alike
    from callback as own join callback as other on other.subscription = own.subscription
    where own.no = ?1 and other.no <> own.no and other.lane is not null`,
  fanOut: 'select callback from fanout where event = ?1',
  pending: `
    select n from delivery_live
    where event = ?1 and n >= ?2 and n <= ?3 and callback = ?4 limit 1`,
  over: `
    select n from delivery_done
    where event = ?1 and n >= ?2 and n <= ?3 and callback = ?4 limit 1`,
  definition: `
    select callback.no, callback.definition, subscription.contract, subscription.operation, subscription.app
    from callback join subscription on subscription.no = callback.subscription
    where callback.no = ?1`,
  name: 'select id, name from event where id = ?1',
} as const;

export interface EndingSubscription {
  no: number;
  appNo: number;
  reason: EndReason;
  /** Of the answer that refused it. */
  status?: number | undefined;
  nowMs: number;
}

/** Returns whether it has ended now; ending it again changes nothing. */
export function* endSubscription(ending: EndingSubscription): Script<boolean> {
  const { no, appNo, reason, status = null, nowMs } = ending;
  const version = yield* raiseVersion(appNo);
  const [ended] = yield* all(endSubscriptionSql.end, no, nowMs, version, reason, status);
  if (ended === undefined) return false; // Another node has ended it.
  yield* leaveSubscription(appNo);
  yield* all(endSubscriptionSql.endPatterns, no, version);
  yield* all(endSubscriptionSql.endLanes, no, version);
  return true;
}

/**
 * The receiver of a delivery wants no more, or it was the final one: ends the subscription of the callback, as an
 * unsubscribe would. If it is gone, a notice is written, if any callback is subscribed to that. Undefined: a final
 * callback of the subscription has yet to receive the event.
 */
export function* endOwner(
  { callback, reason, finals = [], ...name }: EndingDelivery,
  nowMs: number,
): Script<Settled | undefined> {
  if (reason === 'final' && (yield* isAwaited({ ...name, callback, finals }))) return undefined;
  const row = yield* only(endSubscriptionSql.owner, callback);
  const no = integer(row, 'no');
  const appNo = integer(row, 'app');
  if (text(row, 'state') !== 'ended') {
    const isEnded = yield* endSubscription({ no, appNo, reason, nowMs });
    if (isEnded && reason === 'gone') {
      yield* noticeGone({ appNo, ...name }, nowMs);
      yield* writeAudit(goneAudit(row), nowMs);
    }
  }
  const lanes = yield* all(endSubscriptionSql.lanes, no);
  return {
    kind: 'gone',
    subscription: text(row, 'id'),
    lanes: lanes.map((lane) => integer(lane, 'no')),
  };
}

function goneAudit(row: Row): Audit {
  return {
    appNo: integer(row, 'app'),
    by: byService,
    action: 'subscription.ended',
    object: withPrefix('sub', text(row, 'id')),
    customer: maybe(text, row, 'customer'),
    details: { reason: 'gone' },
  };
}

interface EndingDelivery extends DeliveryName {
  callback: number;
  reason: 'gone' | 'final';
  finals?: readonly string[] | undefined;
}

export interface FinalDelivery extends DeliveryName {
  appNo: number;
  callback: number;
  /** The definitions of the final callbacks of its operation. */
  finals: readonly string[];
}

/** Those deliveries that are final. Pings, which any callback receives, are not. */
export function* finalDeliveries(
  deliveries: readonly (DeliveryName & { callback: number })[],
  finals: readonly FinalCallback[],
): Script<FinalDelivery[]> {
  if (finals.length === 0) return [];
  const callbacks = new Set(deliveries.map(({ callback }) => callback));
  const rows = yield* forEach(
    endSubscriptionSql.definition,
    [...callbacks].map((no) => [no]),
  );
  const found = new Map(
    rows.flatMap((row) => {
      const isOfIts = (one: FinalCallback): boolean =>
        one.contract === text(row, 'contract') && one.operation === text(row, 'operation');
      const definitions = finals.filter(isOfIts).map(({ definition }) => definition);
      const final = { appNo: integer(row, 'app'), finals: definitions };
      const isFinal = definitions.includes(text(row, 'definition'));
      return isFinal ? [[integer(row, 'no'), final] as const] : [];
    }),
  );
  const ending = deliveries.flatMap(({ event, n, callback }) => {
    const final = found.get(callback);
    return final === undefined ? [] : [{ event, n, callback, ...final }];
  });
  const events = new Set(ending.map(({ event }) => event));
  const names = yield* forEach(
    endSubscriptionSql.name,
    [...events].map((event) => [event]),
  );
  const own = new Set(
    names.filter((row) => text(row, 'name').startsWith(ownPrefix)).map((row) => text(row, 'id')),
  );
  return ending.filter(({ event }) => !own.has(event));
}

/** Ends the subscriptions of final deliveries that have just ended, and returns them. */
export function* endFinals(
  deliveries: readonly FinalDelivery[],
  nowMs: number,
): Script<EndedSubscriptions> {
  const ended = new Map<string, { appNo: number; id: string }>();
  for (const { appNo, ...delivery } of deliveries) {
    const settled = yield* endOwner({ ...delivery, reason: 'final' }, nowMs);
    if (settled?.kind === 'gone')
      ended.set(settled.subscription, { appNo, id: settled.subscription });
  }
  return ended.size === 0 ? undefined : [...ended.values()];
}

/**
 * Whether another final callback of the subscription is still to receive the event: a list of URLs makes several. The
 * one that ends last ends the subscription; their settlements wait for each other by the lock of the app.
 */
function* isAwaited({
  event,
  n,
  callback,
  finals,
}: DeliveryName & { callback: number; finals: readonly string[] }): Script<boolean> {
  const rows = yield* all(endSubscriptionSql.others, callback);
  const others = rows.filter((row) => finals.includes(text(row, 'definition')));
  if (others.length === 0) return false;
  // Deliveries of one subscription are next to each other, but for a large event that they match by several patterns.
  const places = others.map((row) => {
    const [from, to] = [n - limits.targetsAtOnceMax, n + limits.targetsAtOnceMax];
    return [event, from, to, integer(row, 'no')] as const;
  });
  // Read before the deliveries: what a fan-out inserts in between is then found among them.
  const fanOut = yield* first(endSubscriptionSql.fanOut, event);
  const pending = yield* forEach(endSubscriptionSql.pending, places);
  if (pending.length > 0) return true;
  if (fanOut === undefined) return false;
  const isAhead = (row: Row): boolean =>
    integer(row, 'is_alike') === 1 && integer(row, 'no') > integer(fanOut, 'callback');
  const ahead = places.filter((_, i) => isAhead(others[i] ?? {}));
  const over = yield* forEach(endSubscriptionSql.over, ahead);
  return over.length < ahead.length;
}

// Unsubscribe: ends a subscription of the app; ending it again changes nothing.

export const unsubscribe: Edit<'unsubscribe'> = function* (input, nowMs) {
  const found = yield* findSubscription(input);
  if (found === undefined) return { kind: 'not_found' };
  const { no, subscription } = found;
  if (subscription.state === 'ended') return { kind: 'ended', subscription, isRepeated: true };
  const { appNo, reason = 'unsubscribed', status } = input;
  yield* endSubscription({ no, appNo, reason, status, nowMs });
  const ended = yield* findSubscription(input);
  assert(ended !== undefined);
  return { kind: 'ended', subscription: ended.subscription, isRepeated: false };
};

// Ends subscriptions whose time is over: expired, or not confirmed. A read finds them, and an edit ends each, after
// checking again.

export const expireSubscriptionSql = {
  soonest: `
    select app, id, expires_ms as over_ms from subscription
    where expires_ms is not null and state <> 'ended' order by expires_ms limit ?1 + 0`,
  unconfirmed: `
    select app, id, confirm_by_ms as over_ms from subscription
    where confirm_by_ms is not null and state <> 'ended' order by confirm_by_ms limit ?1 + 0`,
} as const;

export const expiring: Read<'expiring'> = function* ({ beforeMs, limit }) {
  const most = Math.min(limit, limits.expiringMax);
  const { soonest, unconfirmed } = expireSubscriptionSql;
  const found = [...(yield* all(soonest, most + 1)), ...(yield* all(unconfirmed, most + 1))];
  const rows = found.toSorted((a, b) => integer(a, 'over_ms') - integer(b, 'over_ms'));
  const due = rows.slice(0, most).filter((row) => integer(row, 'over_ms') <= beforeMs);
  const next = rows[due.length];
  return {
    expired: due.map((row) => ({ appNo: integer(row, 'app'), id: text(row, 'id') })),
    nextMs: next && integer(next, 'over_ms'),
  };
};

export const expireSubscription: Edit<'expireSubscription'> = function* (input, nowMs) {
  if (overBy(yield* findSubscription(input), nowMs) === undefined) return { kind: 'kept' };
  yield* raiseVersion(input.appNo);
  // Read again, now under the lock: from here on no other node can extend it.
  const found = yield* findSubscription(input);
  const reason = overBy(found, nowMs);
  if (found === undefined || reason === undefined) return { kind: 'kept' };
  yield* endSubscription({ no: found.no, appNo: input.appNo, reason, nowMs });
  return { kind: 'ended' };
};

/** Why its time is over; undefined if it is not. */
function overBy(found: Found | undefined, nowMs: number): EndReason | undefined {
  if (found === undefined || found.subscription.state === 'ended') return undefined;
  const { controls, confirmByMs = Infinity } = found.subscription;
  if (nowMs >= (controls.expiresMs ?? Infinity)) return 'expired';
  return nowMs >= confirmByMs ? 'unconfirmed' : undefined;
}
