// Slices in the order of time. A range begins where a slice begins, and names all slices that
// overlap it. Each node writes to a slice of its own, so on PostgreSQL several overlap.
import { limits } from '../../../core/limits/limits.ts';
import type { Position } from '../../sql/cursor.ts';
import { isUnleasedSql } from '../../sql/is-unleased.ts';
import { integer, text, type Row } from '../../sql/row.ts';
import { all, forEach, type Value, type Script } from '../../sql/statement.ts';
import type { Walk } from './fill-page.ts';
import type { Step, SearchRange } from './search-walk.ts';
import { firstIdAt, timeOf } from '../../../core/base/id.ts';

/** Characters of an id that change about every nine hours: an era. */
const eraLength = 5;
const isWide = `substr(first_event, 1, ${eraLength}) < substr(last_event, 1, ${eraLength})`;
const columns = 'slice, first_event, last_event';

// The few spans that cross the end of an era have an index of their own; any other span that
// contains an id begins in the id's era. Without this, every older span would be read.
export const spansSql = {
  within: `
    select ${columns} from slice_span
    where first_event < ?1 and first_event >= ?2 order by first_event desc limit ?3 + 0`,
  reaching: `
    select ${columns} from slice_span
    where first_event < ?1 and first_event >= ?2 and last_event >= ?1 and not ${isWide}
    union all
    select ${columns} from slice_span indexed by slice_span_wide
    where last_event >= ?1 and first_event < ?1 and ${isWide}`,
  hasEvents: `
    select ?1 + 0 as tag from event
    where slice = ?2 and app = ?3 and name >= ?4 and name <= ?5 and id >= ?6 and id <= ?7 limit 1`,
  hasWaiting: `
    select ?1 + 0 as tag from delivery_live
    where slice = ?2 and app = ?3 and ${isUnleasedSql} limit 1`,
} as const;

/** A range between two values; both ends are included. */
export type Bounds<T> = readonly [least: T, most: T];

export interface Range {
  below: Position;
  /** The first event of the range; older ones are left out. */
  from: string;
}

/**
 * What an app must have in a range: events with such names; or pending deliveries, or a slice
 * with a leased one.
 */
export type Presence =
  | { of: 'events'; appNo: number; names: Bounds<string> }
  | { of: 'live'; appNo: number; running: ReadonlySet<number> };

interface Span {
  slice: number;
  first: string;
  last: string;
}

/** The range as it is, for indexes that do not begin with a slice. */
export function* walkWhole({ below, from }: Range): Walk<SearchRange> {
  yield { below, from, slices: [] };
}

export function* rangesInTime(
  { below, from }: Range,
  presence?: Presence,
): Walk<SearchRange | Step> {
  let at = below;
  while (aboveAll(at) > from) {
    const most = limits.searchRangesMax;
    const spans = (yield* all(spansSql.within, aboveAll(at), from, most)).map(toSpan);
    const oldest = spans.length < most ? from : (spans.at(-1)?.first ?? from);
    const era = oldest.slice(0, eraLength);
    const reaching = (yield* all(spansSql.reaching, oldest, era)).map(toSpan);
    const known = [...spans, ...reaching];
    // A slice that began before `from` needs one more range, which begins there.
    const isLast = oldest === from;
    const begins = new Set(spans.map(({ first }) => first));
    if (isLast && reaching.length > 0) begins.add(from);
    const ranges: SearchRange[] = [];
    for (const first of begins) {
      const upper = aboveAll(at);
      const over = known.filter((span) => span.first < upper && span.last >= first);
      ranges.push({ below: at, from: first, slices: over.map(({ slice }) => slice) });
      at = { event: first, n: 0 };
    }
    yield* presence === undefined ? ranges : present(ranges, presence);
    if (isLast) return;
  }
}

/** Turns empty ranges into steps. */
function* present(ranges: readonly SearchRange[], presence: Presence): Walk<SearchRange | Step> {
  const { of, appNo } = presence;
  const sql = of === 'live' ? spansSql.hasWaiting : spansSql.hasEvents;
  const each = ranges.flatMap(({ below, from, slices }, tag) =>
    slices.map((slice): Value[] => {
      const more = of === 'live' ? [] : [...presence.names, from, below.event];
      return [tag, slice, appNo, ...more];
    }),
  );
  const tags = new Set((yield* forEach(sql, each)).map((row) => integer(row, 'tag')));
  for (const [tag, one] of ranges.entries()) {
    const isRunning = of === 'live' && one.slices.some((slice) => presence.running.has(slice));
    if (isRunning || tags.has(tag)) yield one;
    else yield { event: one.from, n: 0, fits: false, cost: limits.indexProbeRows };
  }
}

/** An exclusive upper bound for the events that have deliveries below the position. */
export function aboveAll({ event, n }: Position): string {
  return n === 0 ? event : `${event}0`;
}

function toSpan(row: Row): Span {
  return {
    slice: integer(row, 'slice'),
    first: text(row, 'first_event'),
    last: text(row, 'last_event'),
  };
}

// Deletes the spans of slices whose events are all deleted. A span that is deleted too early would
// hide events from lists, so it is kept a day longer than the retention, and deleted only if it
// lies below every existing event.

export const forgetSpansSql = {
  old: `
    delete from slice_span where slice in (
      select slice from slice_span
      where first_event < ?1 and last_event < ?1 and last_event < (select min(id) from event)
      order by first_event limit ?2 + 0)
    returning slice`,
} as const;

const marginMs = 24 * 60 * 60 * 1000;

export function* forgetSpans(beforeMs: number, limit: number): Script<void> {
  yield* all(forgetSpansSql.old, firstIdAt(beforeMs - marginMs), limit);
}

// How far the span of a slice reaches. Pure. A span is extended ahead of time by as much as the
// slice is old. So it is written some ten times in the life of a slice, not with every batch, and
// covers at most about twice the time that it needs to.

/** An id above `event`, for a slice that has been in use for `ageMs`. */
export function reachOf(event: string, ageMs: number): string {
  const { sliceReachMs, sliceReachMaxMs } = limits;
  const aheadMs = Math.min(Math.max(ageMs, sliceReachMs), sliceReachMaxMs);
  const reach = firstIdAt(timeOf(event) + aheadMs);
  return reach > event ? reach : event; // Only at the largest possible time.
}
