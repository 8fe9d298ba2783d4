// Reads figures: the totals of an app, and what it or its subscriptions did in each step of a span.
// It never counts deliveries, except the pending ones of one subscription, and of those only a
// bounded number. bench/parts/overview.ts measures it.
import type { Counts } from '../../../core/telemetry/statistics.ts';
import { noStatistics } from '../../../core/telemetry/statistics.ts';
import type { Span } from '../../../core/telemetry/stats-span.ts';
import {
  appColumns,
  subscriptionColumns,
  sums,
  toFigures,
} from '../../statistics/statistics-columns.ts';
import type { FigureColumns } from '../../statistics/statistics-columns.ts';
import type { StepFigures } from '../../port/statistics-verbs.ts';
import type { Row } from '../../sql/row.ts';
import { integer, maybe, text } from '../../sql/row.ts';
import type { Script, Value } from '../../sql/statement.ts';
import { all, forEach, only } from '../../sql/statement.ts';
import { attention } from './attention.ts';
import { oldestPending } from './oldest-pending.ts';
import type { Read } from '../shared/verb.ts';

const { counts: countColumns } = appColumns;
const ofSubscription = 'lane in (select no from lane where subscription = ?1)';
/** SQLite binds numbers as floating point, so the division needs a cast. */
const step = (from: string, length: string): string =>
  `cast((minute - ${from}) / ${length} as integer) as step`;

export const figuresSql = {
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
  subscription: 'select no, id from subscription where id = ?1 and app = ?2',
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

export const appFigures: Read<'appFigures'> = function* ({ appNo, span }) {
  const values = [appNo, ...spanValues(span)];
  const rows = yield* all(figuresSql.ofApp, ...values);
  return {
    steps: toSteps(rows, appColumns),
    counts: yield* countsOf(appNo),
    oldestPending: yield* oldestPending(appNo),
    attention: yield* attention(appNo),
  };
};

export const subscriptionFigures: Read<'subscriptionFigures'> = function* (input) {
  const { appNo, ids, span, pendingMax } = input;
  const asked = ids.map((id) => [id, appNo]);
  const rows = yield* forEach(figuresSql.subscription, asked);
  const numbers = new Map(rows.map((row) => [text(row, 'id'), integer(row, 'no')]));
  const known = ids.flatMap((id) => {
    const no = numbers.get(id);
    return no === undefined ? [] : [{ id, no }];
  });
  const each = (...more: readonly Value[]): (readonly Value[])[] =>
    known.map(({ no }) => [no, ...more]);
  const steps = bySubscription(
    yield* forEach(figuresSql.ofSubscription, each(...spanValues(span))),
  );
  const waiting = bySubscription(yield* forEach(figuresSql.waiting, each(pendingMax)));
  const heads = bySubscription(yield* forEach(figuresSql.heads, each()));
  const running = bySubscription(yield* forEach(figuresSql.running, each()));
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
  const row = yield* only(figuresSql.counts, appNo);
  const { counts: found } = noStatistics();
  for (const name of countColumns) found[name] = integer(row, name);
  return found;
}

function spanValues({ fromMinute, untilMinute, stepMinutes }: Span): [number, number, number] {
  return [fromMinute, untilMinute, stepMinutes];
}

function toSteps(rows: readonly Row[], columns: FigureColumns): StepFigures[] {
  return rows
    .map((row) => ({ step: integer(row, 'step'), figures: toFigures(row, columns) }))
    .sort((a, b) => a.step - b.step);
}

function foundIn(rows: readonly Row[]): number {
  return rows.reduce((sum, row) => sum + integer(row, 'found'), 0);
}

function bySubscription(rows: readonly Row[]): Map<number, Row[]> {
  return Map.groupBy(rows, (row) => integer(row, 'subscription'));
}
