// Walks the ended deliveries of an app, oldest first, for a replay or its dry run, and selects
// those that match. It examines a bounded number of rows at a time. Failed deliveries have an index
// by app; delivered ones do not, so the walk takes longer when many apps share the database.
import { strict as assert } from 'node:assert';
import {
  type DeliveryName,
  type EndedState,
  fitsEnding,
  fitsEvent,
} from '../../../core/domain/delivery.ts';
import { firstIdAt } from '../../../core/base/id.ts';
import { limits } from '../../../core/limits/limits.ts';
import type { ReplayRange, ReplayScope, ReplayWalk } from '../../port/replay-verbs.ts';
import type { Row } from '../../sql/row.ts';
import { integer, maybe, text } from '../../sql/row.ts';
import type { Script } from '../../sql/statement.ts';
import { all, first, forEach } from '../../sql/statement.ts';
import { toEndState } from '../../sql/end-states.ts';
import type { Read } from '../shared/verb.ts';

const columns = 'event, n, app, lane, state, code, error, ended_ms';
const between = 'event >= ?1 and event < ?2';
// The row comparison alone does not let PostgreSQL prune partitions, so the event bounds are
// repeated.
const behind = '(event, n) > (?1, ?2) and event >= ?1 and event <= ?3';

// Dead or cancelled is distinguished later: filtering by state, one statement could step over a
// million rows. The condition is explicit because SQLite does not infer it, and would scan the
// whole history.
const failed = 'delivery_done indexed by delivery_failed where state <> 1';

export const replayableSql = {
  first: `select event from delivery_done where ${between} order by event, n limit 1`,
  last: `
    select event from delivery_done where ${between} order by event desc, n desc limit 1`,
  firstFailed: `
    select event from ${failed} and app = ?3 and ${between} order by event, n limit 1`,
  lastFailed: `
    select event from ${failed} and app = ?3 and ${between}
    order by event desc, n desc limit 1`,
  all: `
    select ${columns} from delivery_done where ${behind} order by event, n limit ?4 + 0`,
  failed: `
    select ${columns} from ${failed} and app = ?5 and ${behind} order by event, n limit ?4 + 0`,
  lanes: `
    select lane.no from subscription join lane on lane.subscription = subscription.no
    where subscription.id = ?1 and subscription.app = ?2`,
  name: 'select id, name from event where id = ?1',
  made: `
    select coalesce(deliveries, (select made from fanout where fanout.event = event.id)) as made
    from event where id = ?1`,
} as const;

/** Above every id. */
const newest = '~';

export const replayRange: Read<'replayRange'> = (scope) => rangeOf(scope);

export function* rangeOf({ appNo, filter }: ReplayScope): Script<ReplayRange | undefined> {
  const { state, fromMs = 0, untilMs } = filter;
  const from = firstIdAt(fromMs);
  const until = untilMs === undefined ? newest : firstIdAt(untilMs);
  const isFailed = isOfFailures(state);
  const lowest = isFailed
    ? yield* first(replayableSql.firstFailed, from, until, appNo)
    : yield* first(replayableSql.first, from, until);
  if (lowest === undefined) return undefined;
  const highest = isFailed
    ? yield* first(replayableSql.lastFailed, from, until, appNo)
    : yield* first(replayableSql.last, from, until);
  assert(highest !== undefined, 'Where there is a first one there is a last one');
  return { firstEvent: text(lowest, 'event'), lastEvent: text(highest, 'event') };
}

function isOfFailures(state: EndedState): boolean {
  return state === 'dead' || state === 'cancelled';
}

/** How many deliveries the event has by now. */
export function* madeOf(event: string): Script<number> {
  const row = yield* first(replayableSql.made, event);
  return row === undefined ? 0 : (maybe(integer, row, 'made') ?? 0);
}

export const replayable: Read<'replayable'> = function* ({ limit, ...walk }) {
  const names: DeliveryName[] = [];
  const lanes = yield* lanesOf(walk);
  let reached: DeliveryName = walk.after;
  let left: number = limits.replayRowsExaminedMax;
  // A few rows at first, which often suffice.
  for (let most = Math.max(limit, rowsAtFirst); left > 0; most = Math.min(most * 2, left)) {
    const rows = yield* rowsBehind(walk, reached, most);
    const fitting = yield* ofEvents(walk, rows.filter(fitsOf(walk, lanes)));
    const taken = fitting.slice(0, limit - names.length);
    names.push(...taken.map(toName));
    const isFull = names.length === limit;
    const last = isFull ? taken.at(-1) : rows.at(-1);
    const { event, n } = last === undefined ? reached : toName(last);
    reached = { event, n };
    const isLast = rows.length < most && taken.length === fitting.length;
    if (isLast || isFull) return { names, reached, isLast };
    left -= most;
  }
  return { names, reached, isLast: false };
};

const rowsAtFirst = 64;

function* rowsBehind(
  { appNo, filter, lastEvent }: ReplayWalk,
  { event, n }: DeliveryName,
  most: number,
): Script<readonly Row[]> {
  const values = [event, n, lastEvent, most] as const;
  return isOfFailures(filter.state)
    ? yield* all(replayableSql.failed, ...values, appNo)
    : yield* all(replayableSql.all, ...values);
}

/** The lanes of the subscription in the filter. */
function* lanesOf({
  appNo,
  filter: { subscription },
}: ReplayWalk): Script<ReadonlySet<number> | undefined> {
  if (subscription === undefined) return undefined;
  const found = yield* all(replayableSql.lanes, subscription, appNo);
  return new Set(found.map((row) => integer(row, 'no')));
}

/** Whether the delivery's own row matches. */
function fitsOf(
  { appNo, filter, endedByMs, after }: ReplayWalk,
  lanes: ReadonlySet<number> | undefined,
): (row: Row) => boolean {
  return (row) => {
    const isYounger = text(row, 'event') === after.event && integer(row, 'n') >= after.below;
    if (isYounger || integer(row, 'ended_ms') > endedByMs) return false;
    if (integer(row, 'app') !== appNo || lanes?.has(integer(row, 'lane')) === false) return false;
    const state = toEndState(integer(row, 'state'));
    const [status, error] = [maybe(integer, row, 'code'), maybe(text, row, 'error')];
    return fitsEnding({ state, status, error }, filter);
  };
}

/** Events are read only if the filter names some. */
function* ofEvents(
  { filter: { event: pattern } }: ReplayWalk,
  rows: readonly Row[],
): Script<readonly Row[]> {
  if (pattern === undefined || pattern === '*') return rows;
  const ids = new Set(rows.map((row) => text(row, 'event')));
  const values = Array.from(ids, (id) => [id]);
  const found = yield* forEach(replayableSql.name, values);
  const fitting = found.filter((row) => fitsEvent(text(row, 'name'), pattern));
  const heard = new Set(fitting.map((row) => text(row, 'id')));
  return rows.filter((row) => heard.has(text(row, 'event')));
}

function toName(row: Row): DeliveryName {
  return { event: text(row, 'event'), n: integer(row, 'n') };
}
