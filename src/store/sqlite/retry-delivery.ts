// Retry by hand: a dead delivery goes on where it stopped; a delivered or cancelled one stays what it
// is, and the same event goes to the same callback once more.
import type { DatabaseSync } from 'node:sqlite';
import type { Lane } from '../../core/lane.ts';
import type { EditInput } from '../store.ts';
import { endStates } from './end-delivery.ts';
import { prepareLanes } from './lanes.ts';
import type { Row } from './row.ts';
import { integer, one } from './row.ts';
import type { Edit } from './verb.ts';

export const retryDeliverySql = {
  live: 'select n from delivery_live where event = ? and n = ? and app = ?',
  done: `
    select lane, callback, state, attempts, slice from delivery_done
    where event = ? and n = ? and app = ?`,
  remove: 'delete from delivery_done where event = ? and n = ?',
  // While a large fan-out is under way, the fan-out counts.
  nextOfFanOut: 'update fanout set made = made + 1 where event = ? returning made - 1 as n',
  next: 'update event set deliveries = deliveries + 1 where id = ? returning deliveries - 1 as n',
  insert: `
    insert into delivery_live (event, n, app, lane, callback, due_ms, attempts, slice)
    values (?, ?, ?, ?, ?, ?, ?, ?)`,
} as const;

export function prepareRetryDelivery(db: DatabaseSync): Edit<'retryDelivery'> {
  const live = db.prepare(retryDeliverySql.live);
  const done = db.prepare(retryDeliverySql.done);
  const lanes = prepareLanes(db);
  const goOn = prepareGoOn(db);
  return (input, { nowMs }) => {
    const { event, n, appNo } = input;
    if (live.get(event, n, appNo) !== undefined) return { kind: 'pending' };
    const row = done.get(event, n, appNo);
    if (row === undefined) return { kind: 'not_found' };
    const lane = lanes.get(integer(row, 'lane'));
    if (lane.state === 'ended') return { kind: 'ended' };
    return { kind: 'due', n: goOn(input, { row, lane, nowMs }) };
  };
}

interface Done {
  row: Row;
  lane: Lane;
  nowMs: number;
}

/** The number of the delivery that is due now. */
function prepareGoOn(db: DatabaseSync): (input: EditInput<'retryDelivery'>, done: Done) => number {
  const remove = db.prepare(retryDeliverySql.remove);
  const nextOfFanOut = db.prepare(retryDeliverySql.nextOfFanOut);
  const next = db.prepare(retryDeliverySql.next);
  const insert = db.prepare(retryDeliverySql.insert);
  const lanes = prepareLanes(db);
  return ({ event, n: oldN, appNo }, { row, lane, nowMs }) => {
    const isDead = integer(row, 'state') === endStates.dead;
    if (isDead) remove.run(event, oldN);
    const n = isDead ? oldN : integer(one(nextOfFanOut.get(event) ?? next.get(event)), 'n');
    const attempts = isDead ? integer(row, 'attempts') : 0;
    const callback = integer(row, 'callback');
    const slice = integer(row, 'slice');
    insert.run(event, n, appNo, lane.no, callback, lanes.join(lane, nowMs), attempts, slice);
    lanes.wake(lane, nowMs);
    return n;
  };
}
