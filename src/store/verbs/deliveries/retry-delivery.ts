// Retry by hand: a dead delivery continues where it stopped. A delivered or cancelled one stays as
// it is, and the same event is sent to the same callback as a new delivery.
import type { DeliveryName } from '../../../core/domain/delivery.ts';
import type { Lane } from '../../../core/domain/lane.ts';
import type { Fact } from '../../statistics/transaction-facts.ts';
import { factOf } from '../../statistics/transaction-facts.ts';
import type { Row } from '../../sql/row.ts';
import { integer, maybe, text } from '../../sql/row.ts';
import type { Script } from '../../sql/statement.ts';
import { all, first, only } from '../../sql/statement.ts';
import { endStates } from '../../sql/end-states.ts';
import { joinLane, lockLane, wakeLane } from '../shared/lanes.ts';
import type { Edit } from '../shared/verb.ts';

export const retryDeliverySql = {
  live: 'select n from delivery_live where event = ?1 and n = ?2 and app = ?3',
  // It goes to the present lane of its callback, which may differ from its former one.
  done: `
    select callback.lane, delivery_done.callback, delivery_done.state, attempts, slice, customer
    from delivery_done join callback on callback.no = delivery_done.callback
      join subscription on subscription.no = callback.subscription
    where delivery_done.event = ?1 and n = ?2 and delivery_done.app = ?3`,
  remove: 'delete from delivery_done where event = ?1 and n = ?2 returning n',
  // While a large fan-out is in progress, the fan-out assigns the numbers.
  nextOfFanOut: 'update fanout set made = made + 1 where event = ?1 returning made - 1 as n',
  next: 'update event set deliveries = deliveries + 1 where id = ?1 returning deliveries - 1 as n',
  insert: `
    insert into delivery_live (event, n, app, lane, callback, due_ms, attempts, slice)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)`,
} as const;

export const retryDelivery: Edit<'retryDelivery'> = function* (input, nowMs, facts) {
  const { event, n: oldN, appNo } = input;
  const live = yield* first(retryDeliverySql.live, event, oldN, appNo);
  if (live !== undefined) return { kind: 'pending' };
  const row = yield* first(retryDeliverySql.done, event, oldN, appNo);
  if (row === undefined) return { kind: 'not_found' };
  const lane = yield* lockLane(integer(row, 'lane'));
  if (lane.state === 'ended') return { kind: 'ended' };
  const n = yield* sendAgain({ event, n: oldN, appNo, row, lane }, nowMs, facts);
  if (n === undefined) return { kind: 'pending' };
  return { kind: 'due', n, customer: maybe(text, row, 'customer') };
};

export interface SendingAgain extends DeliveryName {
  appNo: number;
  /** Row of its end. */
  row: Row;
  /** Locked by the caller. */
  lane: Lane;
}

/** Makes an ended delivery due, and returns its number; undefined when another node was first. */
export function* sendAgain(
  { event, n: oldN, appNo, row, lane }: SendingAgain,
  nowMs: number,
  facts: Fact[],
): Script<number | undefined> {
  const isDead = integer(row, 'state') === endStates.dead;
  if (isDead) {
    const removed = yield* first(retryDeliverySql.remove, event, oldN);
    if (removed === undefined) return undefined;
  }
  const n = isDead ? oldN : yield* nextNumber(event);
  const attempts = isDead ? integer(row, 'attempts') : 0;
  const dueMs = yield* joinLane(lane, nowMs);
  const callback = integer(row, 'callback');
  const slice = integer(row, 'slice');
  const values = [event, n, appNo, lane.no, callback, dueMs, attempts, slice] as const;
  yield* all(retryDeliverySql.insert, ...values);
  yield* wakeLane(lane, nowMs);
  facts.push(factOf(isDead ? 'revived' : 'made', { appNo, lane: lane.no }));
  return n;
}

function* nextNumber(event: string): Script<number> {
  const ofFanOut = yield* first(retryDeliverySql.nextOfFanOut, event);
  return integer(ofFanOut ?? (yield* only(retryDeliverySql.next, event)), 'n');
}
