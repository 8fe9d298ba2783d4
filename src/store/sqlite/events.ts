// Reading events, one and in lists, always within one app.
import type { DatabaseSync } from 'node:sqlite';
import type { Event } from '../../core/event.ts';
import { limits } from '../../core/limits.ts';
import { belowPosition } from '../cursor.ts';
import { fillSteps } from './page.ts';
import type { Row } from './row.ts';
import { bytes, integer, maybe, text } from './row.ts';
import type { Read } from './verb.ts';
import { prepareWalkEvents } from './walk-events.ts';

export const eventsSql = {
  one: `
    select id, app, name, created_ms, deliveries, rejected, payload from event where id = ? and app = ?`,
} as const;

export function prepareEvent(db: DatabaseSync): Read<'event'> {
  const find = db.prepare(eventsSql.one);
  return ({ appNo, id }) => {
    const row = find.get(id, appNo);
    return row === undefined ? undefined : toEvent(row);
  };
}

export function prepareEvents(db: DatabaseSync): Read<'events'> {
  const find = prepareEvent(db);
  const walk = prepareWalkEvents(db);
  return ({ appNo, page: { limit, after }, name }) => {
    let bytesLeft: number = limits.pageBytesMax;
    return fillSteps({
      steps: walk({ appNo, name, below: belowPosition(after) }),
      limit,
      toPosition: ({ slice, event }) => ({ slice, event, n: 0 }),
      toItem: ({ event: id }) => {
        const event = id === '' ? undefined : find({ appNo, id });
        bytesLeft -= event?.payload.byteLength ?? 0;
        return event;
      },
      isFull: () => bytesLeft <= 0,
    });
  };
}

function toEvent(row: Row): Event {
  return {
    id: text(row, 'id'),
    appNo: integer(row, 'app'),
    name: text(row, 'name'),
    payload: bytes(row, 'payload'),
    createdMs: integer(row, 'created_ms'),
    deliveries: maybe(integer, row, 'deliveries'),
    rejected: maybe(text, row, 'rejected'),
  };
}
