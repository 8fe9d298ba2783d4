// Expiry: ends pending deliveries whose event is older than the retention, so that the event can be
// deleted. They become dead with the reason `expired`; in an ended lane they are cancelled, as the
// sweep would do.
import type { DatabaseSync } from 'node:sqlite';
import type { DeliveryName } from '../../../core/domain/delivery.ts';
import type { Lane } from '../../../core/domain/lane.ts';
import { headExpired } from '../../../core/domain/lane.ts';
import type { Fact } from '../../statistics/transaction-facts.ts';
import { factOf } from '../../statistics/transaction-facts.ts';
import { prepareEndDelivery } from '../deliver/end-delivery.ts';
import { prepareLanes } from '../publish/lanes.ts';
import { prepareNoticeDead } from '../publish/notices.ts';
import { integer, one, text } from '../../sql/row.ts';
import type { DeadDelivery } from '../../verbs/shared/notices.ts';

export const expireSql = {
  waiting: `
    select event, n, lane, attempts from delivery_live where event < :below and lease is null
    order by event, n limit :limit + 0`,
  head: `
    select event, n from delivery_live where lane = ? and lease is null
    order by due_ms, event, n limit 1`,
} as const;

export interface Expiring {
  /** Deliveries of events with lower ids than this. */
  below: string;
  limit: number;
  nowMs: number;
  /** Receives the facts of the deliveries that end. */
  facts: Fact[];
}

/** `expired`: how many of `ended` became dead. */
export type Expire = (expiring: Expiring) => { ended: number; expired: number };

export function prepareExpire(db: DatabaseSync): Expire {
  const waiting = db.prepare(expireSql.waiting);
  const isHead = prepareIsHead(db);
  const end = prepareEndDelivery(db);
  const lanes = prepareLanes(db);
  const notice = prepareNoticeDead(db);
  return ({ below, limit, nowMs, facts }) => {
    const dead: DeadDelivery[] = [];
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
      const times = isHead(lane, name) ? headExpired(lane, nowMs) : undefined;
      const owner = end({ ...ending, state: 'dead', error: 'expired' });
      facts.push(factOf('dead', owner));
      if (times !== undefined) lanes.write(lane, times);
      dead.push({ ...name, appNo: owner.appNo });
    }
    notice(dead, nowMs);
    return { ended: rows.length, expired: dead.length };
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
