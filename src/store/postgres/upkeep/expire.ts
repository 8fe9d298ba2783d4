// Expiry: ends pending deliveries of events older than the retention, so that their day can be
// dropped. They become dead with reason `expired`; in an ended lane they are cancelled, as the
// sweep would do.
import { deliveryKey, type DeliveryName } from '../../../core/domain/delivery.ts';
import type { Lane } from '../../../core/domain/lane.ts';
import { laneAfterHeadExpired } from '../../../core/domain/lane.ts';
import type { Fact } from '../../statistics/transaction-facts.ts';
import { factOf } from '../../statistics/transaction-facts.ts';
import type { Row } from '../../sql/row.ts';
import { integer, text } from '../../sql/row.ts';
import { endStates, toEndState } from '../../sql/end-states.ts';
import type { EndedSubscriptions, FinalCallback } from '../../port/delivery-verbs.ts';
import type { DeadDelivery } from '../../verbs/shared/notices.ts';
import {
  endFinals,
  finalDeliveries,
  type FinalDelivery,
} from '../../verbs/subscriptions/end-subscription.ts';
import { lockLanes, writeLanes } from '../shared/lanes.ts';
import { lockApps } from '../shared/lock-order.ts';
import { noticeDead } from '../shared/notices.ts';
import type { Tx } from '../connection/tx.ts';

export const expireSql = {
  // By the primary key, oldest first: `lease is null` would match the index of all pending
  // deliveries, and a plan made on an empty table would read and sort that.
  waiting: `
    select event, n, lane, callback from delivery_live where event < $1 and coalesce(lease, 0) = 0
    order by event, n limit $2`,
  // In ordered lanes: the head of the queue and its successors.
  standing: `
    select x.no as lane, y.event, y.n
    from unnest($1::bigint[], $2::int[]) as x (no, most)
    cross join lateral (
      select event, n, due_ms from delivery_live where lane = x.no and lease is null
      order by due_ms, event, n limit x.most) y
    order by x.no, y.due_ms, y.event, y.n`,
  end: `
    with x as (
      select * from unnest($1::text[], $2::int[], $3::smallint[], $4::text[])
        as x (event, n, state, error)),
    moved as (
      delete from delivery_live using x
      where delivery_live.event = any (array[x.event]) and delivery_live.n = x.n
        and coalesce(lease, 0) = 0
      returning delivery_live.app, delivery_live.lane, delivery_live.callback,
        delivery_live.attempts, delivery_live.slice, x.*)
    insert into delivery_done
      (event, n, app, lane, callback, state, attempts, error, slice, ended_ms)
    select event, n, app, lane, callback, state, attempts, error, slice, $5::bigint from moved
    returning event, n, app, lane, state`,
  // Of the subscriptions of these callbacks.
  lanes: `
    select lane.no from unnest($1::bigint[]) as x (no)
    join callback on callback.no = x.no
    join lane on lane.subscription = callback.subscription`,
} as const;

export interface Expiring {
  /** Deliveries of events with lower ids than this. */
  below: string;
  limit: number;
  nowMs: number;
  finals: readonly FinalCallback[];
  /** Records what has ended. */
  facts: Fact[];
}

export interface Expired {
  /** How many deliveries ended. */
  count: number;
  /** How many of them became dead. */
  expired: number;
  ended?: EndedSubscriptions;
}

export async function expire(
  tx: Tx,
  { below, limit, nowMs, finals, facts }: Expiring,
): Promise<Expired> {
  const rows = await tx.query(expireSql.waiting, [below, limit]);
  if (rows.length === 0) return { count: 0, expired: 0 };
  const ending = await tx.run(finalDeliveries(rows.map(toWaiting), finals));
  const lanes = await lockAll(tx, rows, ending);
  const changed = await withoutHeads(tx, { rows, lanes, nowMs });
  const isEnded = (row: Row): boolean => lanes.get(integer(row, 'lane'))?.state === 'ended';
  const [ended] = await Promise.all([
    tx.query(expireSql.end, [
      rows.map((row) => text(row, 'event')),
      rows.map((row) => integer(row, 'n')),
      rows.map((row) => (isEnded(row) ? endStates.cancelled : endStates.dead)),
      rows.map((row) => (isEnded(row) ? null : 'expired')),
      nowMs,
    ]),
    changed.length === 0 ? undefined : writeLanes(tx, changed),
  ]);
  for (const row of ended) {
    const owner = { appNo: integer(row, 'app'), lane: integer(row, 'lane') };
    facts.push(factOf(toEndState(integer(row, 'state')), owner));
  }
  const expired = ended.filter((row) => integer(row, 'state') === endStates.dead);
  const dead = expired.map(toDead).sort(byName);
  await noticeDead(tx, dead, nowMs);
  const names = new Set(dead.map(deliveryKey));
  const over = ending.filter((one) => names.has(deliveryKey(one)));
  const subscriptions = await tx.run(endFinals(over, nowMs));
  const counts = { count: ended.length, expired: expired.length };
  return subscriptions === undefined ? counts : { ...counts, ended: subscriptions };
}

/** Locks the lanes of the deliveries, and before them, as everywhere, the apps whose subscriptions may end. */
async function lockAll(
  tx: Tx,
  rows: readonly Row[],
  ending: readonly FinalDelivery[],
): Promise<ReadonlyMap<number, Lane>> {
  const own = new Set(rows.map((row) => integer(row, 'lane')));
  if (ending.length === 0) return lockLanes(tx, own);
  await lockApps(tx, new Set(ending.map(({ appNo }) => appNo)));
  const callbacks = new Set(ending.map(({ callback }) => callback));
  const found = await tx.query(expireSql.lanes, [[...callbacks]]);
  const locked = await lockLanes(tx, own.union(new Set(found.map((row) => integer(row, 'no')))));
  return new Map([...locked].filter(([no]) => own.has(no)));
}

function toWaiting(row: Row): DeliveryName & { callback: number } {
  return { event: text(row, 'event'), n: integer(row, 'n'), callback: integer(row, 'callback') };
}

function toDead(row: Row): DeadDelivery {
  return { event: text(row, 'event'), n: integer(row, 'n'), appNo: integer(row, 'app') };
}

function byName(a: DeliveryName, b: DeliveryName): number {
  if (a.event !== b.event) return a.event < b.event ? -1 : 1;
  return a.n - b.n;
}

interface Going {
  rows: readonly Row[];
  lanes: ReadonlyMap<number, Lane>;
  nowMs: number;
}

/** The ordered lanes after their heads have expired, in the order of the queue. */
async function withoutHeads(tx: Tx, { rows, lanes, nowMs }: Going): Promise<Lane[]> {
  const going = Map.groupBy(rows, (row) => integer(row, 'lane'));
  const ordered = [...lanes.values()].filter(({ ordered: is, state }) => is && state !== 'ended');
  if (ordered.length === 0) return [];
  const standing = await tx.query(expireSql.standing, [
    ordered.map(({ no }) => no),
    ordered.map(({ no }) => going.get(no)?.length ?? 0),
  ]);
  const queues = Map.groupBy(standing, (row) => integer(row, 'lane'));
  return ordered.flatMap((lane) => {
    const queue = (queues.get(lane.no) ?? []).map(nameOf);
    let after: Lane | undefined;
    for (const name of (going.get(lane.no) ?? []).map(nameOf)) {
      const times = queue[0] === name ? laneAfterHeadExpired(after ?? lane, nowMs) : undefined;
      if (times !== undefined) after = { ...(after ?? lane), ...times };
      const place = queue.indexOf(name);
      if (place >= 0) queue.splice(place, 1);
    }
    return after === undefined ? [] : [after];
  });
}

function nameOf(row: Row): string {
  const { event, n }: DeliveryName = { event: text(row, 'event'), n: integer(row, 'n') };
  return `${event} ${n}`;
}
