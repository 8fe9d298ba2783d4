// Ends a delivery: its row moves from the queue to the history.
import type { DatabaseSync } from 'node:sqlite';
import type { DeliveryName } from '../../core/delivery.ts';
import type { Owner } from '../counting.ts';
import { integer, one } from '../row.ts';
import type { EndState } from '../verbs/end-states.ts';
import { endStates } from '../verbs/end-states.ts';

export const endDeliverySql = {
  delete: `
    delete from delivery_live where event = ? and n = ? returning app, lane, callback, slice`,
  insert: `
    insert into delivery_done
      (event, n, app, lane, callback, state, attempts, code, error, slice, ended_ms)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
} as const;

export interface Ending extends DeliveryName {
  state: EndState;
  attempts: number;
  status: number | undefined;
  error: string | undefined;
  nowMs: number;
}

/** Gives whose it was. */
export type EndDelivery = (ending: Ending) => Owner;

export function prepareEndDelivery(db: DatabaseSync): EndDelivery {
  const remove = db.prepare(endDeliverySql.delete);
  const insert = db.prepare(endDeliverySql.insert);
  return ({ event, n, state, attempts, status = null, error = null, nowMs }) => {
    const row = one(remove.get(event, n));
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
