// Reads one delivery, from the queue or from the history.
import { type DeliveryName, deliveryKey, type Leased } from '../../../core/domain/delivery.ts';
import type { Delivery } from '../../port/delivery-verbs.ts';
import { type Row, integer, maybe, text, bytes } from '../../sql/row.ts';
import { type Script, type Value, forEach } from '../../sql/statement.ts';
import { toEndState } from '../../sql/end-states.ts';
import type { Read } from './verb.ts';
import type { Lane } from '../../../core/domain/lane.ts';

const around = `
    join event on event.id = delivery.event
    join callback on callback.no = delivery.callback
    join subscription on subscription.no = callback.subscription`;
const shared = `delivery.event, delivery.n, delivery.attempts, event.name, event.subject, event.created_ms,
      subscription.id as subscription, subscription.customer, position, label, method, url`;

export const deliverySql = {
  live: `
    select ${shared}, due_ms, case when lease is null then 0 else 1 end as is_running, attempt.code, attempt.error
    from delivery_live as delivery ${around}
    left join attempt on attempt.event = delivery.event and attempt.n = delivery.n
      and attempt.k = delivery.attempts
    where delivery.event = ?1 and delivery.n = ?2 and delivery.app = ?3`,
  done: `
    select ${shared}, delivery.state, delivery.ended_ms, delivery.code, delivery.error
    from delivery_done as delivery ${around}
    where delivery.event = ?1 and delivery.n = ?2 and delivery.app = ?3`,
} as const;

export const delivery: Read<'delivery'> = function* ({ appNo, event, n }) {
  const found = yield* deliveriesNamed(appNo, [{ event, n }]);
  return found.get(deliveryKey({ event, n }));
};

/** Those of the named deliveries that exist in the app, by key. */
export function* deliveriesNamed(
  appNo: number,
  names: readonly DeliveryName[],
): Script<Map<string, Delivery>> {
  const found = new Map<string, Delivery>();
  const keep = (one: Delivery): unknown => found.set(deliveryKey(one), one);
  const missing = (): readonly (readonly Value[])[] =>
    names.filter((name) => !found.has(deliveryKey(name))).map(({ event, n }) => [event, n, appNo]);
  (yield* forEach(deliverySql.live, missing())).map(toPending).forEach(keep);
  (yield* forEach(deliverySql.done, missing())).map(toEnded).forEach(keep);
  return found;
}

function toPending(row: Row): Delivery {
  const isRunning = integer(row, 'is_running') === 1;
  return {
    ...toShared(row),
    state: isRunning ? 'running' : 'due',
    dueMs: isRunning ? undefined : integer(row, 'due_ms'),
    endedMs: undefined,
  };
}

function toEnded(row: Row): Delivery {
  return {
    ...toShared(row),
    state: toEndState(integer(row, 'state')),
    dueMs: undefined,
    endedMs: integer(row, 'ended_ms'),
  };
}

function toShared(row: Row): Omit<Delivery, 'state' | 'dueMs' | 'endedMs'> {
  return {
    event: text(row, 'event'),
    n: integer(row, 'n'),
    eventName: text(row, 'name'),
    subject: maybe(text, row, 'subject'),
    subscription: text(row, 'subscription'),
    customer: maybe(text, row, 'customer'),
    callback: {
      position: integer(row, 'position'),
      label: text(row, 'label'),
      method: text(row, 'method'),
      url: text(row, 'url'),
    },
    attempts: integer(row, 'attempts'),
    status: maybe(integer, row, 'code'),
    error: maybe(text, row, 'error'),
    createdMs: integer(row, 'created_ms'),
  };
}

// Converts the row of a claimed delivery, with the lane that it was claimed from.

export function toLeased(row: Row, lane: Lane, lease: number): Leased {
  return {
    event: text(row, 'event'),
    n: integer(row, 'n'),
    eventName: text(row, 'name'),
    payload: bytes(row, 'payload'),
    trace: maybe(text, row, 'trace'),
    appNo: lane.appNo,
    lane: lane.no,
    callback: integer(row, 'callback'),
    version: lane.version,
    concurrency: lane.concurrency,
    tries: integer(row, 'tries'),
    attempts: integer(row, 'attempts'),
    lease,
  };
}
