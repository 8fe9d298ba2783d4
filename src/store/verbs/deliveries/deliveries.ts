// Lists of deliveries, newest first, from the queue and the history together. Each filter uses the
// index that serves it best; other conditions are checked row by row, for a bounded number of rows.
import { deliveryKey } from '../../../core/domain/delivery.ts';
import { limits } from '../../../core/limits/limits.ts';
import type { DeliveryFilter } from '../../port/delivery-verbs.ts';
import { belowPosition, cursorAtPosition, type Position } from '../../sql/cursor.ts';
import { integer } from '../../sql/row.ts';
import { all, first, only, type Script } from '../../sql/statement.ts';
import { fillPage, nextStep, type Walk } from '../lists/fill-page.ts';
import { searchPathsFor, type SearchPaths } from '../lists/search-queries.ts';
import {
  isAnyName,
  liveStates,
  rangeOf,
  searchFilterOf,
  type SearchFilter,
} from '../lists/search-filter.ts';
import { aboveAll, rangesInTime, walkWhole, type Range } from '../lists/slices-in-time.ts';
import { walkEvents } from './events.ts';
import { searchRanges, type Step, type SearchRange } from '../lists/search-walk.ts';
import { deliveriesNamed } from '../shared/delivery.ts';
import type { Read } from '../shared/verb.ts';

export const deliveriesSql = {
  subscription: 'select no from subscription where id = ?1 and app = ?2',
  lanes: 'select no from lane where subscription = ?1',
  lanesOfCustomer: `
    select lane.no from subscription join lane on lane.subscription = subscription.no
    where subscription.app = ?1 and customer = ?2 and customer is not null
    order by subscription.no desc limit ?3 + 0`,
  failed: `
    select count(*) as count from (
      select 1 from delivery_done indexed by delivery_failed
      where app = ?1 and state <> 1 and event >= ?2 and event <= ?3 limit ?4 + 0) as few`,
  retried: `
    select count(*) as count from (
      select 1 from delivery_live indexed by delivery_retried
      where app = ?1 and attempts > 0 and event >= ?2 and event <= ?3 limit ?4 + 0) as few`,
  // ?2: number of the subscription, or 0 for any.
  running: `
    select distinct slice from delivery_live indexed by delivery_running
    where lease is not null and app + 0 = ?1 and (cast(?2 as bigint) = 0
      or (select subscription from lane where lane.no = delivery_live.lane) = ?2)`,
} as const;

export const deliveries: Read<'deliveries'> = function* ({ appNo, page, filter }) {
  const range = rangeOf(belowPosition(page.after), filter);
  return yield* fillPage({
    walk: walk({ appNo, filter, range }),
    limit: page.limit,
    toCursor: cursorAtPosition,
    toItems: function* (steps) {
      const found = yield* deliveriesNamed(appNo, steps);
      return steps.map((step) => found.get(deliveryKey(step)));
    },
  });
};

interface Search {
  appNo: number;
  filter: DeliveryFilter;
  range: Range;
}

/** All walks yield names in the same order, so each page may choose its own. */
function* walk({ appNo, filter, range }: Search): Walk<Step> {
  const owner = filter.subscription;
  const found = owner === undefined ? 0 : yield* numberOf(appNo, owner);
  if (found === undefined) return;
  const sought = searchFilterOf(filter, found);
  const lanes = yield* lanesOf(sought, { appNo, customer: filter.customer });
  if (lanes?.length === 0) return;
  const searchPaths = searchPathsFor({ appNo, sought, lanes: lanes ?? [] });
  const { event, subject } = filter;
  const isName = !isAnyName(sought.names);
  const ofNames = { of: 'events', appNo, names: sought.names } as const;
  const isNarrow = isName || lanes !== undefined;
  if (subject !== undefined) {
    yield* walkByEvents({ appNo, range: narrowed(range, event), subject, sought, searchPaths });
  } else if (event !== undefined) {
    yield* searchRanges(walkEvent(event, range), searchPaths.byKey);
  } else if (isOfFailures(sought) && (!isNarrow || (yield* areFew(appNo, range)))) {
    yield* searchRanges(walkWhole(range), searchPaths.failures);
  } else if (filter.state === 'running') {
    yield* searchRanges(walkWhole(range), searchPaths.running);
  } else if (lanes !== undefined) {
    const spans = rangesInTime(range, isName ? ofNames : undefined);
    yield* searchRanges(spans, searchPaths.ofLanes(yield* slicesRunning(appNo, sought)));
  } else if (filter.state === 'due' || filter.state === 'pending') {
    const running = yield* slicesRunning(appNo, sought);
    yield* searchRanges(rangesInTime(range, { of: 'live', appNo, running }), searchPaths.byKey);
  } else if (isOneCode(sought)) {
    yield* searchRanges(rangesInTime(range, ofNames), searchPaths.byKey);
  } else {
    yield* walkByEvents({ appNo, range, subject, sought, searchPaths });
  }
}

/** Undefined: those of the whole app, or of a customer with so many that each match is checked instead. */
function* lanesOf(
  { subscription }: SearchFilter,
  { appNo, customer }: { appNo: number; customer: string | undefined },
): Script<number[] | undefined> {
  if (subscription === 0 && customer === undefined) return undefined;
  const most = limits.searchLanesMax;
  const rows =
    subscription > 0
      ? yield* all(deliveriesSql.lanes, subscription)
      : yield* all(deliveriesSql.lanesOfCustomer, appNo, customer ?? '', most + 1);
  if (subscription === 0 && rows.length > most) return undefined;
  return rows.map((row) => integer(row, 'no'));
}

function* numberOf(appNo: number, id: string): Script<number | undefined> {
  const row = yield* first(deliveriesSql.subscription, id, appNo);
  return row === undefined ? undefined : integer(row, 'no');
}

/** Leased deliveries are few: those in flight on the nodes. */
function* slicesRunning(
  appNo: number,
  { states: [, most], subscription }: SearchFilter,
): Script<ReadonlySet<number>> {
  if (most < liveStates.running) return new Set();
  const rows = yield* all(deliveriesSql.running, appNo, subscription);
  return new Set(rows.map((row) => integer(row, 'slice')));
}

/** Whether every match is dead, cancelled, or pending after a failed attempt. */
function isOfFailures({ states: [least, most], attemptsMin, codes, error }: SearchFilter): boolean {
  const isEndOfFailure = least > 1 && most <= 3;
  const isAnswerOfFailure = codes[0] >= 300 || (codes[0] > 0 && codes[1] < 200);
  return isEndOfFailure || attemptsMin > 0 || isAnswerOfFailure || error !== '';
}

function isOneCode({ codes: [least, most] }: SearchFilter): boolean {
  return least === most;
}

/** During an outage there are many failures, and searching by name or subscription is better. */
function* areFew(appNo: number, { below, from }: Range): Script<boolean> {
  let count = 0;
  for (const sql of [deliveriesSql.failed, deliveriesSql.retried]) {
    const row = yield* only(sql, appNo, from, below.event, limits.failuresFewMax - count);
    count += integer(row, 'count');
    if (count === limits.failuresFewMax) return false;
  }
  return true;
}

/** The part of the range with this event; without one, the whole range. */
function narrowed({ below, from }: Range, event: string | undefined): Range {
  if (event === undefined) return { below, from };
  const isBelow = below.event <= event;
  return {
    below: isBelow ? below : { event, n: newestN },
    from: from > event ? from : event,
  };
}

function* walkEvent(event: string, { below, from }: Range): Walk<SearchRange> {
  if (event >= from && event < aboveAll(below)) yield eventRange(event, below);
}

interface ByEvents {
  appNo: number;
  range: Range;
  subject: string | undefined;
  sought: SearchFilter;
  searchPaths: SearchPaths;
}

/** Most events have few deliveries, and most of those match. */
function walkByEvents(search: ByEvents): Walk<Step> {
  const { appNo, range, subject, searchPaths } = search;
  const { names } = search.sought;
  const upTo = { event: aboveAll(range.below), n: 0 };
  const events = walkEvents({ appNo, names, owner: { subject }, range: { ...range, below: upTo } });
  return searchRanges(eventRanges(events, range.below), searchPaths.byKey, {
    rangesAtOnce: eventsAtFirst,
  });
}

const eventsAtFirst = 8;

function* eventRanges(events: Walk<Step>, below: Position): Walk<SearchRange | Step> {
  for (;;) {
    const step = yield* nextStep(events);
    if (step === undefined) return;
    yield step.fits ? eventRange(step.event, below) : step;
  }
}

/** All deliveries of an event, or the rest of them where the previous page ended. */
function eventRange(event: string, below: Position): SearchRange {
  const isRest = event === below.event;
  return { below: isRest ? below : { event, n: newestN }, from: event, slices: [] };
}

/** Above every number of a delivery. */
const newestN = 1_000_000_000;

// Counts all deliveries. It reads every row, so it is for tests and must not be used in a running
// service.

// One statement, so that it reads one snapshot on both databases.
export const tallySql = {
  all: `
    select sum(due) as due, sum(running) as running, sum(delivered) as delivered,
      sum(dead) as dead, sum(cancelled) as cancelled
    from (
      select count(*) - count(lease) as due, count(lease) as running, 0 as delivered, 0 as dead,
        0 as cancelled
      from delivery_live
      union all
      select 0, 0, count(*) filter (where state = 1), count(*) filter (where state = 2),
        count(*) filter (where state = 3)
      from delivery_done) as counted`,
} as const;

export const tally: Read<'tally'> = function* () {
  const row = yield* only(tallySql.all);
  return {
    due: integer(row, 'due'),
    running: integer(row, 'running'),
    delivered: integer(row, 'delivered'),
    dead: integer(row, 'dead'),
    cancelled: integer(row, 'cancelled'),
  };
};
