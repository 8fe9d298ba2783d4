// Ends a delivery: moves its row from the queue to the history, and writes the notice of a dead one.
import type { DatabaseSync } from 'node:sqlite';
import type { DeliveryName } from '../../../core/domain/delivery.ts';
import type { Owner } from '../../statistics/transaction-facts.ts';
import { type Row, integer, one } from '../../sql/row.ts';
import { type EndState, endStates } from '../../sql/end-states.ts';
import { type DeadDelivery, insertNotice, noticesOfDead } from '../../verbs/shared/notices.ts';
import { prepareScripts } from '../transaction/run-script.ts';

export const endDeliverySql = {
  take: 'delete from delivery_live where event = ? and n = ? returning app, lane, callback, slice',
  insert: `
    insert into delivery_done
      (event, n, app, lane, callback, state, attempts, code, error, slice, ended_ms)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
} as const;

export interface Ending extends DeliveryName {
  /** The columns of its row, if the caller has already deleted it from the queue. */
  row?: Row | undefined;
  state: EndState;
  attempts: number;
  status: number | undefined;
  error: string | undefined;
  nowMs: number;
}

/** Returns the app and lane of the delivery. */
export type EndDelivery = (ending: Ending) => Owner;

export function prepareEndDelivery(db: DatabaseSync): EndDelivery {
  const take = db.prepare(endDeliverySql.take);
  const insert = db.prepare(endDeliverySql.insert);
  return ({ event, n, state, attempts, status = null, error = null, nowMs, ...known }) => {
    const row = known.row ?? one(take.get(event, n));
    const owner = { appNo: integer(row, 'app'), lane: integer(row, 'lane') };
    insert.run(
      event,
      n,
      owner.appNo,
      owner.lane,
      integer(row, 'callback'),
      endStates[state],
      attempts,
      status,
      error,
      integer(row, 'slice'),
      nowMs,
    );
    return owner;
  };
}

// Writes notices of dead deliveries, if any callback is subscribed to them.

export type NoticeDead = (dead: readonly DeadDelivery[], nowMs: number) => void;

export function prepareNoticeDead(db: DatabaseSync): NoticeDead {
  const runScript = prepareScripts(db);
  return (dead, nowMs) => {
    for (const notice of runScript(noticesOfDead(dead, nowMs))) {
      runScript(insertNotice(notice, nowMs));
    }
  };
}
