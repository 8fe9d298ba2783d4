// Inserts a delivery of an event: already leased when the node sends it right away, otherwise
// pending, and then its lane is made ready.
import type { DatabaseSync } from 'node:sqlite';
import type { DeliveryName } from '../../../core/domain/delivery.ts';
import { acceptsFresh } from '../../../core/domain/lane.ts';
import { factOf } from '../../statistics/transaction-facts.ts';
import { prepareLanes } from './lanes.ts';
import type { Listener } from '../../rules/listeners.ts';
import type { InsertContext } from '../transaction/edit.ts';

export const makeDeliverySql = {
  insert: `
    insert into delivery_live (event, n, app, lane, callback, due_ms, slice, lease)
    values (?, ?, ?, ?, ?, ?, ?, ?)`,
} as const;

export interface NewDelivery extends DeliveryName, Pick<Listener, 'callback' | 'lane'> {
  appNo: number;
  slice: number;
}

/** `lane` is as it was when the event was matched; nothing else has written to it since. */
export type MakeDelivery = (delivery: NewDelivery, context: InsertContext) => void;

export function prepareMakeDelivery(db: DatabaseSync): MakeDelivery {
  const insert = db.prepare(makeDeliverySql.insert);
  const lanes = prepareLanes(db);
  return ({ event, n, appNo, slice, lane, callback }, context) => {
    const { nowMs, insertLeases, facts } = context;
    const { slots, fresh } = insertLeases;
    const dueMs = lanes.join(lane, nowMs);
    const isLeased = acceptsFresh(lane, nowMs) && slots.free(lane) > 0;
    const lease = isLeased ? slots.lease : null;
    insert.run(event, n, appNo, lane.no, callback, dueMs, slice, lease);
    facts.push(factOf('made', { appNo, lane: lane.no }));
    if (isLeased) {
      slots.take(lane);
      const { no, version, concurrency } = lane;
      fresh.push({ event, n, appNo, lane: no, callback, version, concurrency });
    } else {
      lanes.wake(lane, nowMs);
    }
  };
}
