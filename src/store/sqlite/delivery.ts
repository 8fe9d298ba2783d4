// Reading one delivery, wherever it is: in the queue or in the history.
import type { DatabaseSync } from 'node:sqlite';
import type { Delivery } from '../delivery-verbs.ts';
import { endStates } from './end-delivery.ts';
import type { Row } from './row.ts';
import { integer, maybe, text } from './row.ts';
import type { Read } from './verb.ts';

const around = `
    join event on event.id = delivery.event
    join callback on callback.no = delivery.callback
    join subscription on subscription.no = callback.subscription`;
const shared = `delivery.event, delivery.n, delivery.attempts, event.name, event.created_ms,
      subscription.id as subscription, position, label, method, url`;

export const deliverySql = {
  live: `
    select ${shared}, due_ms, lease is not null as is_running, attempt.code, attempt.error
    from delivery_live as delivery ${around}
    left join attempt on attempt.event = delivery.event and attempt.n = delivery.n
      and attempt.k = delivery.attempts
    where delivery.event = ? and delivery.n = ? and delivery.app = ?`,
  done: `
    select ${shared}, delivery.state, delivery.ended_ms, delivery.code, delivery.error
    from delivery_done as delivery ${around}
    where delivery.event = ? and delivery.n = ? and delivery.app = ?`,
} as const;

export function prepareDelivery(db: DatabaseSync): Read<'delivery'> {
  const live = db.prepare(deliverySql.live);
  const done = db.prepare(deliverySql.done);
  return ({ appNo, event, n }) => {
    const pending = live.get(event, n, appNo);
    if (pending !== undefined) return toPending(pending);
    const ended = done.get(event, n, appNo);
    return ended === undefined ? undefined : toEnded(ended);
  };
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
  const found = integer(row, 'state');
  const state = endStateNames.find((name) => endStates[name] === found);
  return {
    ...toShared(row),
    state: state ?? 'cancelled',
    dueMs: undefined,
    endedMs: integer(row, 'ended_ms'),
  };
}

const endStateNames = ['delivered', 'dead', 'cancelled'] as const;

function toShared(row: Row): Omit<Delivery, 'state' | 'dueMs' | 'endedMs'> {
  return {
    event: text(row, 'event'),
    n: integer(row, 'n'),
    eventName: text(row, 'name'),
    subscription: text(row, 'subscription'),
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
