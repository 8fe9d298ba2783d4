// Reads events, single ones and lists, always within one app.
import type { Event } from '../../../core/domain/event.ts';
import { limits } from '../../../core/limits/limits.ts';
import { skippedIn } from '../../rules/listeners.ts';
import { belowPosition, cursorAtPosition } from '../../sql/cursor.ts';
import { type Row, bytes, integer, maybe, text } from '../../sql/row.ts';
import { first, forEach } from '../../sql/statement.ts';
import { fillPage, type Walk } from '../lists/fill-page.ts';
import { namesOf, rangeOf } from '../lists/search-filter.ts';
import type { Owner } from '../../rules/pattern-keys.ts';
import { rowCosts } from '../lists/search-queries.ts';
import type { Read } from '../shared/verb.ts';
import { rangesInTime, walkWhole, type Bounds, type Range } from '../lists/slices-in-time.ts';
import { searchRanges, type SearchQuery, type Step } from '../lists/search-walk.ts';

export const eventsSql = {
  one: `
    select id, app, name, subject, customer, created_ms, deliveries, rejected, skipped, payload
    from event where id = ?1 and app = ?2`,
} as const;

export const event: Read<'event'> = function* ({ appNo, id }) {
  return maybeEvent(yield* first(eventsSql.one, id, appNo));
};

export const events: Read<'events'> = function* ({ appNo, page: { limit, after }, ...filter }) {
  const range = rangeOf(belowPosition(after), filter);
  return yield* fillPage({
    walk: walkEvents({ appNo, names: namesOf(filter), owner: filter, range }),
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
    subject: maybe(text, row, 'subject'),
    customer: maybe(text, row, 'customer'),
    payload: bytes(row, 'payload'),
    createdMs: integer(row, 'created_ms'),
    deliveries: maybe(integer, row, 'deliveries'),
    rejected: maybe(text, row, 'rejected'),
    skipped: skippedIn(row),
  };
}

// Walks the events of an app, newest first, slice by slice: for a quiet app among busy ones this
// costs one probe per slice, not one row per event of the others. Events of one subject, and
// those of one customer, have an index of their own.

export const walkEventsSql = {
  // Sorts by an expression, over at most a slice: in the order of the primary key PostgreSQL would
  // scan all newer events.
  ofSlice: `
    with seen as (
      select id from event
      where slice = ?5 and app = ?6 and name >= ?7 and name <= ?8 and id < ?2 and id >= ?3
      order by id || '' desc limit ?4 + 0)
    select ?1 + 0 as tag, id as event, 0 as n, 0 as examined from seen
    union all
    select ?1 + 0, id, 0, (select count(*) from seen)
    from (select id from seen order by id limit 1) as edge`,
  ofSubject: namedIn('subject = ?6 and subject is not null'),
  ofCustomer: namedIn('customer = ?7 and customer is not null'),
} as const;

/** `named`: the condition of an index. An empty subject or customer stands for any, or none. */
function namedIn(named: string): string {
  return `
    with seen as (
      select id, name, subject, customer from event
      where app = ?5 and ${named} and id < ?2 and id >= ?3
      order by id desc limit ?4 + 0)
    select ?1 + 0 as tag, id as event, 0 as n, 0 as examined from seen
    where (?6 = '' or subject = ?6) and (?7 = '' or customer = ?7) and name >= ?8 and name <= ?9
    union all
    select ?1 + 0, id, 0, (select count(*) from seen)
    from (select id from seen order by id limit 1) as edge`;
}

export interface EventWalk {
  appNo: number;
  names: Bounds<string>;
  /** Undefined: any, or none. */
  owner: Partial<Owner>;
  range: Range;
}

export function walkEvents({ appNo, names, owner, range }: EventWalk): Walk<Step> {
  const { subject = '', customer = '' } = owner;
  if (subject !== '' || customer !== '') {
    const named: SearchQuery = {
      sql: subject === '' ? walkEventsSql.ofCustomer : walkEventsSql.ofSubject,
      rowCost: rowCosts.indexed,
      values: ({ tag, below, from, most }) => [
        [tag, below.event, from, most, appNo, subject, customer, ...names],
      ],
    };
    return searchRanges(walkWhole(range), [named]);
  }
  const query: SearchQuery = {
    sql: walkEventsSql.ofSlice,
    rowCost: 1,
    values: ({ tag, below, from, most, slices }) =>
      slices.map((slice) => [tag, below.event, from, most, slice, appNo, ...names]),
  };
  return searchRanges(rangesInTime(range), [query]);
}
