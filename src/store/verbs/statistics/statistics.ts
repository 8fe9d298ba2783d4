// Reads figures: the totals of an app, and what it or its subscriptions did in each step of a span.
// It never counts deliveries, except the pending ones of one subscription, and of those only a
// bounded number. bench/parts/overview.ts measures it.
import { limits } from '../../../core/limits/limits.ts';
import { type Counts, noStatistics, type Span } from '../../../core/telemetry/statistics.ts';
import type { StepStatistics, Attention } from '../../port/statistics-verbs.ts';
import { isUnleasedSql } from '../../sql/is-unleased.ts';
import { integer, maybe, text, type Row } from '../../sql/row.ts';
import { all, forEach, only, type Script, type Value } from '../../sql/statement.ts';
import {
  appColumns,
  subscriptionColumns,
  sums,
  toStatistics,
  type StatisticsColumns,
} from '../../statistics/statistics-columns.ts';
import type { Read } from '../shared/verb.ts';

const { counts: countColumns } = appColumns;
const ofSubscription = 'lane in (select no from lane where subscription = ?1)';
/** SQLite binds numbers as floating point, so the division needs a cast. */
export const step = (from: string, length: string): string =>
  `cast((minute - ${from}) / ${length} as integer) as step`;

export const statisticsSql = {
  // Past minutes are in the row of minute 0; the other rows are few.
  counts: `
    select ${countColumns.map((name) => `coalesce(sum(${name}), 0) as ${name}`).join(', ')}
    from (
      select ${countColumns.join(', ')} from stat_app where app = ?1 and minute = 0
      union all
      select ${countColumns.join(', ')} from stat_app indexed by stat_app_fresh
      where app = ?1 and writer > 0) as parts`,
  ofApp: `
    select ${step('?2', '?4')}, ${sums(appColumns.all)} from stat_app
    where app = ?1 and minute > 0 and minute >= ?2 and minute < ?3 group by step`,
  subscription: `
    select no, id from subscription where id = ?1 and app = ?2 and (?3 = '' or customer = ?3)`,
  // Compares row values, which only the primary key can serve: by minute alone, all subscriptions
  // would be read.
  ofSubscription: `
    select cast(?1 as bigint) as subscription, ${step('?2', '?4')}, ${sums(subscriptionColumns.all)}
    from stat_subscription
    where (subscription, minute) >= (?1, ?2) and (subscription, minute) < (?1, ?3)
    group by step`,
  waiting: `
    select cast(?1 as bigint) as subscription, count(*) as found, min(event) as event from (
      select event from delivery_live where ${ofSubscription} and lease is null
      limit ?2 + 0) as waiting`,
  // The head of each lane, for when not all deliveries are counted: a good estimate of the oldest.
  heads: `
    select cast(?1 as bigint) as subscription, min(event) as event from (
      select (
        select event from delivery_live where delivery_live.lane = one.no and lease is null
        order by due_ms, event, n limit 1) as event
      from lane as one where one.subscription = ?1) as heads`,
  running: `
    select cast(?1 as bigint) as subscription, count(*) as found, min(event) as event
    from delivery_live indexed by delivery_running
    where lease is not null and lane in (select no from lane where subscription = ?1)`,
} as const;

export const counts: Read<'counts'> = function* ({ appNo }) {
  return yield* countsOf(appNo);
};

export const appStatistics: Read<'appStatistics'> = function* ({ appNo, span }) {
  const values = [appNo, ...spanValues(span)];
  const rows = yield* all(statisticsSql.ofApp, ...values);
  return {
    steps: toSteps(rows, appColumns),
    counts: yield* countsOf(appNo),
    oldestPending: yield* oldestPending(appNo),
    attention: yield* attention(appNo),
  };
};

export const subscriptionStatistics: Read<'subscriptionStatistics'> = function* (input) {
  const { appNo, customer = '', ids, span, pendingMax } = input;
  const asked = ids.map((id) => [id, appNo, customer]);
  const rows = yield* forEach(statisticsSql.subscription, asked);
  const numbers = new Map(rows.map((row) => [text(row, 'id'), integer(row, 'no')]));
  const known = ids.flatMap((id) => {
    const no = numbers.get(id);
    return no === undefined ? [] : [{ id, no }];
  });
  const each = (...more: readonly Value[]): (readonly Value[])[] =>
    known.map(({ no }) => [no, ...more]);
  const steps = bySubscription(
    yield* forEach(statisticsSql.ofSubscription, each(...spanValues(span))),
  );
  const waiting = bySubscription(yield* forEach(statisticsSql.waiting, each(pendingMax)));
  const heads = bySubscription(yield* forEach(statisticsSql.heads, each()));
  const running = bySubscription(yield* forEach(statisticsSql.running, each()));
  return known.map(({ id, no }) => {
    const [due, runs] = [waiting.get(no) ?? [], running.get(no) ?? []];
    const pending = foundIn(due) + foundIn(runs);
    const first = foundIn(due) < pendingMax ? due : (heads.get(no) ?? []);
    const [oldest] = [...first, ...runs].flatMap((row) => maybe(text, row, 'event') ?? []).sort();
    return {
      id,
      steps: toSteps(steps.get(no) ?? [], subscriptionColumns),
      pending: Math.min(pending, pendingMax),
      isCapped: pending >= pendingMax,
      oldestPending: oldest,
    };
  });
};

function* countsOf(appNo: number): Script<Counts> {
  const row = yield* only(statisticsSql.counts, appNo);
  const { counts: found } = noStatistics();
  for (const name of countColumns) found[name] = integer(row, name);
  return found;
}

export function spanValues({
  fromMinute,
  untilMinute,
  stepMinutes,
}: Span): [number, number, number] {
  return [fromMinute, untilMinute, stepMinutes];
}

export function toSteps(rows: readonly Row[], columns: StatisticsColumns): StepStatistics[] {
  return rows
    .map((row) => ({ step: integer(row, 'step'), figures: toStatistics(row, columns) }))
    .sort((a, b) => a.step - b.step);
}

function foundIn(rows: readonly Row[]): number {
  return rows.reduce((sum, row) => sum + integer(row, 'found'), 0);
}

function bySubscription(rows: readonly Row[]): Map<number, Row[]> {
  return Map.groupBy(rows, (row) => integer(row, 'subscription'));
}

// The oldest event of an app with a pending delivery: how far behind the app is. The queue is in
// the order of events, but of all apps; behind a long backlog of other apps, the search goes by
// slices.

export const oldestPendingSql = {
  first: `
    select min(event) as event from (
      select event, app from delivery_live order by event, n limit ?2 + 0) as oldest
    where app = ?1`,
  // Slice by slice, one probe each, until a few contain deliveries of the app. Slices that several
  // nodes fill overlap in time, so on PostgreSQL this may miss the oldest event by some minutes.
  bySlices: `
    with recursive step (slice, depth) as (
      select min(slice), 1 from delivery_live where ${isUnleasedSql}
      union all
      select (
        select min(slice) from delivery_live where slice > step.slice and ${isUnleasedSql}), depth + 1
      from step where slice is not null and depth < ?2)
    select min(event) as event from delivery_live
    where app = ?1 and ${isUnleasedSql} and slice in (
      select slice from step where exists (
        select 1 from delivery_live as found
        where found.slice = step.slice and found.app = ?1 and ${isUnleasedSql})
      order by slice limit 4)`,
  // Of an expression: otherwise PostgreSQL may scan everything pending in the order of the primary
  // key.
  running: `
    select min(event || '') as event from delivery_live indexed by delivery_running
    where lease is not null and app + 0 = ?1`,
} as const;

const rowsMax = 1_000;
/** At 4,096 rows per slice that is a backlog of millions. */
const slicesMax = 1_000;

function* oldestPending(appNo: number): Script<string | undefined> {
  const found = yield* only(oldestPendingSql.first, appNo, rowsMax);
  const event = maybe(text, found, 'event');
  if (event !== undefined) return event;
  const waiting = maybe(text, yield* only(oldestPendingSql.bySlices, appNo, slicesMax), 'event');
  const running = maybe(text, yield* only(oldestPendingSql.running, appNo), 'event');
  return [waiting, running].filter((one) => one !== undefined).sort()[0];
}

// What an operator should look at, most serious first: disabled subscriptions, and failing
// receivers. A few of each, found by indexes that contain nothing else.

// A lane that no callback uses any more may have failed last; nothing would ever clear it.
export const attentionSql = {
  disabled: `
    select subscription.id,
      (select url from callback where callback.subscription = subscription.no and inactive is null
       order by position limit 1) as url,
      (select max(failures) from lane where lane.subscription = subscription.no) as failures,
      (select min(failing_ms) from lane where lane.subscription = subscription.no) as since_ms
    from subscription where app = ?1 and state = 'disabled' order by no desc limit ?2 + 0`,
  failing: `
    select subscription.id, failing.no as lane, failing.failures, failing.failing_ms as since_ms,
      (select url from callback where callback.lane = failing.no order by position limit 1) as url
    from (
      select no, subscription, failures, failing_ms from lane
      where app = ?1 and failures > 0 and state = 0
        and (select position from callback where callback.lane = lane.no limit 1) is not null
      order by failures desc, no desc limit ?2 + 0) as failing
    join subscription on subscription.no = failing.subscription
    order by failures desc, lane desc`,
  // A delivery that was tried waits for its retry, so it is due later than the rest.
  lastTried: `
    select cast(?1 as bigint) as lane, attempt.code, attempt.error from (
      select event, n, attempts from delivery_live where lane = ?1 and lease is null
      order by due_ms desc, event desc, n desc limit 16) as waiting
    join attempt on attempt.event = waiting.event and attempt.n = waiting.n
      and attempt.k = waiting.attempts
    order by attempt.started_ms desc, attempt.event desc, attempt.n desc limit 1`,
} as const;

function* attention(appNo: number): Script<Attention[]> {
  const most = limits.attentionMax;
  const disabled = (yield* all(attentionSql.disabled, appNo, most)).map((row): Attention => ({
    ...toAttention(row, 'disabled'),
    url: maybe(text, row, 'url') ?? '',
    failures: maybe(integer, row, 'failures') ?? 0,
  }));
  const failing = yield* findFailing(appNo, most);
  return [...disabled, ...failing].slice(0, most);
}

function* findFailing(appNo: number, most: number): Script<Attention[]> {
  const rows = yield* all(attentionSql.failing, appNo, most);
  const lanes = rows.map((row) => [integer(row, 'lane')]);
  const tried = yield* forEach(attentionSql.lastTried, lanes);
  const last = new Map(tried.map((row) => [integer(row, 'lane'), row]));
  return rows.map((row): Attention => {
    const attempt = last.get(integer(row, 'lane'));
    return {
      ...toAttention(row, 'failing'),
      url: maybe(text, row, 'url') ?? '',
      failures: integer(row, 'failures'),
      status: attempt && maybe(integer, attempt, 'code'),
      error: attempt && maybe(text, attempt, 'error'),
    };
  });
}

function toAttention(row: Row, kind: Attention['kind']): Attention {
  return {
    kind,
    subscription: text(row, 'id'),
    url: '',
    sinceMs: maybe(integer, row, 'since_ms'),
    failures: 0,
    status: undefined,
    error: undefined,
  };
}
