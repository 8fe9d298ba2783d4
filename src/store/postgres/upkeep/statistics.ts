// Statistics of apps and subscriptions: written with the deliveries that they count, and compacted
// when their minute is over.

import { limits } from '../../../core/limits/limits.ts';
import {
  bucketCount,
  coarseMinutes,
  minuteMs,
  minuteOf,
  type Statistics,
} from '../../../core/telemetry/statistics.ts';
import { type Fact, statisticsByApp } from '../../statistics/transaction-facts.ts';
import {
  type StatisticsColumns,
  appColumns,
  statisticsValues,
  increments,
  subscriptionColumns,
  sums,
} from '../../statistics/statistics-columns.ts';
import type { PendingStatistics } from '../../statistics/pending-statistics.ts';
import { integer, one } from '../../sql/row.ts';
import { areListenersUnchanged } from '../publish/match.ts';
import type { Tx } from '../connection/tx.ts';
import type { Parameter } from '../connection/pipeline.ts';
import type { EditInput, EditOutput } from '../../port/store.ts';
import { deleteBatch } from './forget.ts';

// Writes figures: those of apps at the end of every transaction, those of subscriptions on demand
// or when too many have accumulated, each in one statement. They are the last rows that a
// transaction locks, and in one order, so a transaction that waits for them blocks no other.

/** The buckets of row `x.i`, out of the concatenated buckets of all rows. */
function bucketsOf(parameter: string, wrap: (value: string) => string = (value) => value): string {
  return Array.from({ length: bucketCount }, (_, bucket) =>
    wrap(`(${parameter}::int[])[(x.i - 1) * ${bucketCount} + ${bucket + 1}]`),
  ).join(', ');
}

function arrays(first: number, columns: readonly string[]): string {
  return columns.map((_column, i) => `$${first + i}::int[]`).join(', ');
}

const { counts: appCounts, all: ofApp } = appColumns;
const { counts: laneCounts, all: ofSubscription } = subscriptionColumns;

export const writeStatisticsSql = {
  writer: "select nextval('stat_writer') as writer",
  app: `
    insert into stat_app (app, minute, writer, ${ofApp.join(', ')})
    select x.app, $2::bigint, $3::bigint, ${appCounts.map((name) => `x.${name}`).join(', ')},
      ${bucketsOf('$4')}
    from unnest($1::bigint[], ${arrays(5, appCounts)}) with ordinality
      as x (app, ${appCounts.join(', ')}, i)
    where ${areListenersUnchanged} order by x.app
    on conflict (app, minute, writer) do update set ${increments('stat_app', ofApp)}`,
  ofOneApp: `
    insert into stat_app (app, minute, writer, ${ofApp.join(', ')})
    select $1, $2, $3, ${ofApp.map((_column, i) => `$${4 + i}`).join(', ')} where ${areListenersUnchanged}
    on conflict (app, minute, writer) do update set ${increments('stat_app', ofApp)}`,
  // Several lanes may belong to one subscription, and an upsert must not touch a row twice.
  subscription: `
    insert into stat_subscription (subscription, minute, ${ofSubscription.join(', ')})
    select lane.subscription, x.minute, ${laneCounts.map((name) => `sum(x.${name})`).join(', ')},
      ${bucketsOf('$3', (value) => `sum(${value})`)}
    from unnest($1::bigint[], $2::bigint[], ${arrays(4, laneCounts)}) with ordinality
      as x (lane, minute, ${laneCounts.join(', ')}, i)
    join lane on lane.no = x.lane where ${areListenersUnchanged}
    group by lane.subscription, x.minute order by lane.subscription, x.minute
    on conflict (subscription, minute) do update
    set ${increments('stat_subscription', ofSubscription)}`,
} as const;

/** A number that no other writer of any node has. */
export async function takeWriter(tx: Tx): Promise<number> {
  const [row] = await tx.query(writeStatisticsSql.writer, []);
  return integer(one(row), 'writer');
}

export interface StatisticsContext {
  nowMs: number;
  writer: number;
  pending: PendingStatistics;
  /** What the transaction does, to be counted. */
  facts: Fact[];
}

/**
 * Last in the transaction, in one pipeline with reads that lock nothing, so it costs no round trip.
 * One statement for all apps instead of one each, and plain parameters for a single app, which take
 * less of the server's CPU than arrays (docs/performance.md).
 */
export async function writeStatistics(tx: Tx, context: StatisticsContext): Promise<void> {
  const { pending, facts } = context;
  await Promise.all([
    writeAppStatistics(tx, context),
    // At least as many as this batch may add, so that they cannot accumulate without bound.
    pending.isFull()
      ? keepStatistics(tx, pending, Math.max(facts.length, limits.statisticsRowsMax))
      : [],
  ]);
}

export async function writeAppStatistics(
  tx: Tx,
  { nowMs, writer, facts }: Omit<StatisticsContext, 'pending'>,
): Promise<void> {
  const apps = statisticsByApp(facts);
  const [first] = apps;
  if (first === undefined) return;
  if (apps.length === 1) {
    const [appNo, figures] = first;
    const values = statisticsValues(appColumns, figures);
    await tx.query(writeStatisticsSql.ofOneApp, [appNo, minuteOf(nowMs), writer, ...values]);
    return;
  }
  const numbers = apps.map(([appNo]) => appNo);
  const { took, counts } = columnsOf(
    appColumns,
    apps.map(([, figures]) => figures),
  );
  await tx.query(writeStatisticsSql.app, [numbers, minuteOf(nowMs), writer, took, ...counts]);
}

export async function keepStatistics(
  tx: Tx,
  pending: PendingStatistics,
  limit: number,
): Promise<{ written: number; isMore: boolean }> {
  const some = pending.take(limit);
  if (some.length > 0) {
    const { took, counts } = columnsOf(
      subscriptionColumns,
      some.map(({ figures }) => figures),
    );
    await tx.query(writeStatisticsSql.subscription, [
      some.map(({ lane }) => lane),
      some.map(({ minute }) => minute),
      took,
      ...counts,
    ]);
  }
  return { written: some.length, isMore: !pending.isEmpty() };
}

function columnsOf(
  { counts }: StatisticsColumns,
  rows: readonly Statistics[],
): { took: Parameter; counts: Parameter[] } {
  return {
    took: rows.flatMap(({ took }) => took),
    counts: counts.map((name) => rows.map((figures) => figures.counts[name])),
  };
}

// Compacts figures: minutes that are over are merged over all nodes into one row, and rows past
// their retention are deleted. The row of minute 0 keeps the total of everything merged. Nodes may
// run this concurrently: each takes rows that no other has locked.

export const tidyStatisticsSql = {
  // In one statement, so that no count can be added to a row between its merge and its deletion.
  fold: `
    with over as materialized (
      select app, minute, writer from stat_app where writer > 0 and minute < $1::bigint
      order by app, minute limit $2 for update skip locked),
    gone as (
      delete from stat_app using over
      where stat_app.app = over.app and stat_app.minute = over.minute
        and stat_app.writer = over.writer
      returning stat_app.*),
    kept as (
      insert into stat_app (app, minute, writer, ${ofApp.join(', ')})
      select app, minute, 0, ${sums(ofApp)} from gone group by app, minute order by app, minute
      on conflict (app, minute, writer) do update set ${increments('stat_app', ofApp)}),
    total as (
      insert into stat_app (app, minute, writer, ${appCounts.join(', ')})
      select app, 0, 0, ${sums(appCounts)} from gone group by app order by app
      on conflict (app, minute, writer) do update set ${increments('stat_app', appCounts)})
    select app from gone`,
  coarsen: `
    with fine as materialized (
      select subscription, minute from stat_subscription
      where minute % ${coarseMinutes} > 0 and minute < $1::bigint
      order by minute limit $2 for update skip locked),
    gone as (
      delete from stat_subscription using fine
      where stat_subscription.subscription = fine.subscription
        and stat_subscription.minute = fine.minute
      returning stat_subscription.*, fine.minute - fine.minute % ${coarseMinutes} as coarse),
    kept as (
      insert into stat_subscription (subscription, minute, ${ofSubscription.join(', ')})
      select subscription, coarse, ${sums(ofSubscription)}
      from gone group by subscription, coarse order by subscription, coarse
      on conflict (subscription, minute) do update
      set ${increments('stat_subscription', ofSubscription)})
    select subscription from gone`,
  oldOfApps: deleteBatch({
    table: 'stat_app',
    key: ['app', 'minute', 'writer'],
    where: 'writer = 0 and minute > 0 and minute < $1::bigint',
    order: 'minute',
  }),
  oldOfSubscriptions: deleteBatch({
    table: 'stat_subscription',
    key: ['subscription', 'minute'],
    where: `minute % ${coarseMinutes} = 0 and minute < $1::bigint`,
    order: 'minute',
  }),
} as const;

export async function tidyStatistics(
  tx: Tx,
  input: EditInput<'tidyStatistics'>,
  nowMs: number,
): Promise<EditOutput<'tidyStatistics'>> {
  const { appKeepMs, subscriptionFineMs, subscriptionKeepMs, limit } = input;
  const { fold, coarsen, oldOfApps, oldOfSubscriptions } = tidyStatisticsSql;
  const moved = await Promise.all([
    tx.query(fold, [minuteOf(nowMs - minuteMs), limit]),
    tx.query(coarsen, [minuteOf(nowMs - subscriptionFineMs), limit]),
    tx.query(oldOfApps, [minuteOf(nowMs - appKeepMs), limit]),
    tx.query(oldOfSubscriptions, [minuteOf(nowMs - subscriptionKeepMs), limit]),
  ]);
  const lengths = moved.map((rows) => rows.length);
  return {
    moved: lengths.reduce((sum, length) => sum + length, 0),
    isMore: lengths.includes(limit),
  };
}
