// Reads events, single ones and lists, always within one app.
import type { Event } from '../../../core/domain/event.ts';
import { limits } from '../../../core/limits/limits.ts';
import { belowPosition, cursorAtPosition } from '../../sql/cursor.ts';
import type { Row } from '../../sql/row.ts';
import { bytes, integer, maybe, text } from '../../sql/row.ts';
import { first, forEach } from '../../sql/statement.ts';
import { fillPage } from '../lists/fill-page.ts';
import { namesOf, rangeOf } from '../lists/search-filter.ts';
import type { Read } from '../shared/verb.ts';
import { walkEvents } from '../lists/walk-events.ts';

export const eventsSql = {
  one: `
    select id, app, name, created_ms, deliveries, rejected, payload from event where id = ?1 and app = ?2`,
} as const;

export const event: Read<'event'> = function* ({ appNo, id }) {
  return maybeEvent(yield* first(eventsSql.one, id, appNo));
};

export const events: Read<'events'> = function* ({ appNo, page: { limit, after }, ...filter }) {
  const range = rangeOf(belowPosition(after), filter);
  return yield* fillPage({
    walk: walkEvents({ appNo, names: namesOf(filter), range }),
    limit,
    toCursor: cursorAtPosition,
    toItems: function* (steps) {
      const ids = steps.map(({ event: id }) => [id, appNo]);
      const rows = yield* forEach(eventsSql.one, ids);
      const found = new Map(rows.map((row) => [text(row, 'id'), row]));
      return steps.map(({ event: id }) => maybeEvent(found.get(id)));
    },
    atOnce: limits.eventsReadAtOnce,
    weigh: ({ payload }) => payload.byteLength,
  });
};

function maybeEvent(row: Row | undefined): Event | undefined {
  return row === undefined ? undefined : toEvent(row);
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
