// Retention: deletes what is older than the retention, oldest first, a bounded number of rows at a
// time. Pending deliveries become dead first, so nothing disappears while it is pending. Every step
// is independent: the next one continues where it stopped.
import { strict as assert } from 'node:assert';
import type { DatabaseSync } from 'node:sqlite';
import { firstIdAt } from '../../../core/base/id.ts';
import type { DeliveryName } from '../../../core/domain/delivery.ts';
import { laneAfterHeadExpired, type Lane } from '../../../core/domain/lane.ts';
import { limits } from '../../../core/limits/limits.ts';
import { type StalledFanOuts, endFanOuts } from '../../rules/fan-outs.ts';
import { maybe, one, text, integer } from '../../sql/row.ts';
import { factOf, type Fact } from '../../statistics/transaction-facts.ts';
import { forgetSpans } from '../../verbs/lists/slices-in-time.ts';
import type { DeadDelivery } from '../../verbs/shared/notices.ts';
import { endFinals, finalDeliveries } from '../../verbs/subscriptions/end-subscription.ts';
import { prepareEndDelivery, prepareNoticeDead } from '../deliver/end-delivery.ts';
import { prepareLanes } from '../publish/lanes.ts';
import type { Edit } from '../transaction/edit.ts';
import { prepareScripts } from '../transaction/run-script.ts';

export const retainSql = {
  pending: 'select min(event) as event from delivery_live',
  fanningOut: 'select min(event) as event from fanout',
} as const;

export function prepareRetain(db: DatabaseSync, stalled: StalledFanOuts): Edit<'retain'> {
  const expire = prepareExpire(db);
  const firstPending = prepareFirstPending(db);
  const forgetEvents = prepareForgetEvents(db);
  const forgetSubscriptions = prepareForgetSubscriptions(db);
  const runScript = prepareScripts(db);
  return ({ beforeMs, limit, finals = [] }, { nowMs, facts }) => {
    assert(limit >= 1, `Cannot retain by ${limit} rows: to SQLite a negative limit means no limit`);
    const below = firstIdAt(beforeMs);
    const { ended, dead } = expire({ below, limit, nowMs, facts });
    const over = runScript(endFinals(runScript(finalDeliveries(dead, finals)), nowMs));
    const expired = { expired: dead.length, ...(over && { ended: over }) };
    runScript(endFanOuts(stalled, { below, limit }));
    // Deletes only events older than the first one with a pending delivery or a fan-out. The rest
    // ends soon: a leased delivery ends within a minute, or becomes pending again and expires, and
    // stuck fan-outs were ended above. So nothing holds up retention for long.
    const pending = firstPending();
    const isHeldUp = pending !== undefined && pending < below;
    const events = forgetEvents(isHeldUp ? pending : below, limit - ended);
    if (events.isMore || isHeldUp) return { ...expired, ...events };
    runScript(forgetSpans(beforeMs, limit));
    const left = limit - ended - events.deleted;
    const { deleted, isMore } = forgetSubscriptions(beforeMs - limits.subscriptionKeepMs, left);
    return { ...expired, deleted: events.deleted + deleted, isMore };
  };
}

function prepareFirstPending(db: DatabaseSync): () => string | undefined {
  const both = [db.prepare(retainSql.pending), db.prepare(retainSql.fanningOut)];
  return () => {
    const [first] = both
      .map((each) => maybe(text, one(each.get()), 'event'))
      .filter((event) => event !== undefined)
      .sort();
    return first;
  };
}

// Deletes subscriptions that ended longer ago than the retention, with everything that belongs to
// them. Runs only when no older event is left: nothing is published to a subscription after its
// end, so it has no history by then either. The subscription row goes last, so that the next step
// continues where one stopped.

export const forgetSubscriptionsSql = {
  // Keeps the rows with the highest numbers: SQLite would assign these numbers again, and a node
  // may still have them cached. Lanes with pending deliveries are swept first.
  oldest: `
    select no from subscription as ended
    where ended_ms < ? and no < (select max(no) from subscription)
      and not exists (select 1 from callback
        where callback.subscription = ended.no and no = (select max(no) from callback))
      and not exists (select 1 from lane where lane.subscription = ended.no
        and (swept = 0 or no = (select max(no) from lane)))
    order by ended_ms limit 1`,
  patterns: `
    delete from pattern where (app, contract, pattern, callback, born) in
      (select app, contract, pattern, callback, born from pattern
       where callback in (select no from callback where subscription = :no) limit :limit + 0)`,
  callbacks: `
    delete from callback where no in
      (select no from callback where subscription = :no limit :limit + 0)`,
  lanes:
    'delete from lane where no in (select no from lane where subscription = :no limit :limit + 0)',
  subscription: 'delete from subscription where no = ?',
} as const;

type ForgetSubscriptions = (endedBeforeMs: number, limit: number) => Forgotten;

function prepareForgetSubscriptions(db: DatabaseSync): ForgetSubscriptions {
  const oldest = db.prepare(forgetSubscriptionsSql.oldest);
  // Each references the one after it.
  const parts = [
    db.prepare(forgetSubscriptionsSql.patterns),
    db.prepare(forgetSubscriptionsSql.callbacks),
    db.prepare(forgetSubscriptionsSql.lanes),
  ];
  const remove = db.prepare(forgetSubscriptionsSql.subscription);
  return (endedBeforeMs, limit) => {
    let left = limit;
    while (left > 0) {
      const row = oldest.get(endedBeforeMs);
      if (row === undefined) return { deleted: limit - left, isMore: false };
      const no = integer(row, 'no');
      for (const each of parts) left -= Number(each.run({ no, limit: left }).changes);
      if (left === 0) break;
      remove.run(no);
      left -= 1;
    }
    return { deleted: limit - left, isMore: true };
  };
}

// Expiry: ends pending deliveries whose event is older than the retention, so that the event can be
// deleted. They become dead with the reason `expired`; in an ended lane they are cancelled, as the
// sweep would do.

export const expireSql = {
  waiting: `
    select event, n, lane, callback, attempts from delivery_live where event < :below and lease is null
    order by event, n limit :limit + 0`,
  head: `
    select event, n from delivery_live where lane = ? and lease is null
    order by due_ms, event, n limit 1`,
} as const;

interface Expiring {
  /** Deliveries of events with lower ids than this. */
  below: string;
  limit: number;
  nowMs: number;
  /** Receives the facts of the deliveries that end. */
  facts: Fact[];
}

/** `ended`: how many ended. `dead`: those of them that became dead. */
type Expire = (expiring: Expiring) => { ended: number; dead: readonly Expired[] };

interface Expired extends DeadDelivery {
  callback: number;
}

function prepareExpire(db: DatabaseSync): Expire {
  const waiting = db.prepare(expireSql.waiting);
  const isHead = prepareIsHead(db);
  const end = prepareEndDelivery(db);
  const lanes = prepareLanes(db);
  const notice = prepareNoticeDead(db);
  return ({ below, limit, nowMs, facts }) => {
    const dead: Expired[] = [];
    const rows = waiting.all({ below, limit });
    for (const row of rows) {
      const name = { event: text(row, 'event'), n: integer(row, 'n') };
      const ending = { ...name, attempts: integer(row, 'attempts'), status: undefined, nowMs };
      const lane = lanes.get(integer(row, 'lane'));
      if (lane.state === 'ended') {
        const owner = end({ ...ending, state: 'cancelled', error: undefined });
        facts.push(factOf('cancelled', owner));
        continue;
      }
      const times = isHead(lane, name) ? laneAfterHeadExpired(lane, nowMs) : undefined;
      const owner = end({ ...ending, state: 'dead', error: 'expired' });
      facts.push(factOf('dead', owner));
      if (times !== undefined) lanes.write(lane, times);
      dead.push({ ...name, appNo: owner.appNo, callback: integer(row, 'callback') });
    }
    notice(dead, nowMs);
    return { ended: rows.length, dead };
  };
}

/**
 * Whether an ordered lane waits for this delivery. One that was sent again by hand is queued behind
 * younger events.
 */
function prepareIsHead(db: DatabaseSync): (lane: Lane, name: DeliveryName) => boolean {
  const head = db.prepare(expireSql.head);
  return (lane, { event, n }) => {
    if (!lane.ordered) return false;
    const first = one(head.get(lane.no));
    return text(first, 'event') === event && integer(first, 'n') === n;
  };
}

// Deletes old events, oldest first, each after its history: while a delivery is listed, its event
// has a name.

export const forgetEventsSql = {
  oldest: 'select id, length(payload) as bytes from event where id < ? order by id limit 1',
  responses: `
    delete from response where no in
      (select no from response where event = :event limit :limit + 0)`,
  attempts: `
    delete from attempt where (event, n, k) in
      (select event, n, k from attempt where event = :event limit :limit + 0)`,
  deliveries: `
    delete from delivery_done where (event, n) in
      (select event, n from delivery_done where event = :event limit :limit + 0)`,
  event: 'delete from event where id = ?',
} as const;

interface Forgotten {
  deleted: number;
  /** The step reached its bound; there may be more to delete. */
  isMore: boolean;
}

/**
 * Bounded in rows, because one event may have 100,000 deliveries, and in bytes, because freeing a
 * long payload means reading it: without the second bound, a step over payloads of 1 MB takes 30
 * times as long.
 */
type ForgetEvents = (below: string, limit: number) => Forgotten;

function prepareForgetEvents(db: DatabaseSync): ForgetEvents {
  const oldest = db.prepare(forgetEventsSql.oldest);
  const history = [
    db.prepare(forgetEventsSql.responses),
    db.prepare(forgetEventsSql.attempts),
    db.prepare(forgetEventsSql.deliveries),
  ];
  const remove = db.prepare(forgetEventsSql.event);
  return (below, limit) => {
    let left = limit;
    let bytesLeft: number = limits.retentionBytesMax;
    while (left > 0 && bytesLeft > 0) {
      const row = oldest.get(below);
      if (row === undefined) return { deleted: limit - left, isMore: false };
      const event = text(row, 'id');
      for (const each of history) left -= Number(each.run({ event, limit: left }).changes);
      if (left === 0) break;
      remove.run(event);
      left -= 1;
      bytesLeft -= integer(row, 'bytes');
    }
    return { deleted: limit - left, isMore: true };
  };
}
