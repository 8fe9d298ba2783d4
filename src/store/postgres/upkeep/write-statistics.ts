// Writes figures: those of apps at the end of every transaction, those of subscriptions on demand
// or when too many have accumulated, each in one statement. They are the last rows that a
// transaction locks, and in one order, so a transaction that waits for them blocks no other.
import { bucketCount, minuteOf, type Statistics } from '../../../core/telemetry/statistics.ts';
import { limits } from '../../../core/limits/limits.ts';
import type { Fact } from '../../statistics/transaction-facts.ts';
import { figuresByApp } from '../../statistics/transaction-facts.ts';
import type { FigureColumns } from '../../statistics/statistics-columns.ts';
import {
  appColumns,
  figureValues,
  increments,
  subscriptionColumns,
} from '../../statistics/statistics-columns.ts';
import type { PendingStatistics } from '../../statistics/pending-statistics.ts';
import { integer, one } from '../../sql/row.ts';
import { isAsKnown } from '../publish/match.ts';
import type { Tx } from '../connection/tx.ts';
import type { Parameter } from '../connection/wire.ts';

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

export const writeFiguresSql = {
  writer: "select nextval('stat_writer') as writer",
  app: `
    insert into stat_app (app, minute, writer, ${ofApp.join(', ')})
    select x.app, $2::bigint, $3::bigint, ${appCounts.map((name) => `x.${name}`).join(', ')},
      ${bucketsOf('$4')}
    from unnest($1::bigint[], ${arrays(5, appCounts)}) with ordinality
      as x (app, ${appCounts.join(', ')}, i)
    where ${isAsKnown} order by x.app
    on conflict (app, minute, writer) do update set ${increments('stat_app', ofApp)}`,
  ofOneApp: `
    insert into stat_app (app, minute, writer, ${ofApp.join(', ')})
    select $1, $2, $3, ${ofApp.map((_column, i) => `$${4 + i}`).join(', ')} where ${isAsKnown}
    on conflict (app, minute, writer) do update set ${increments('stat_app', ofApp)}`,
  // Several lanes may belong to one subscription, and an upsert must not touch a row twice.
  subscription: `
    insert into stat_subscription (subscription, minute, ${ofSubscription.join(', ')})
    select lane.subscription, x.minute, ${laneCounts.map((name) => `sum(x.${name})`).join(', ')},
      ${bucketsOf('$3', (value) => `sum(${value})`)}
    from unnest($1::bigint[], $2::bigint[], ${arrays(4, laneCounts)}) with ordinality
      as x (lane, minute, ${laneCounts.join(', ')}, i)
    join lane on lane.no = x.lane where ${isAsKnown}
    group by lane.subscription, x.minute order by lane.subscription, x.minute
    on conflict (subscription, minute) do update
    set ${increments('stat_subscription', ofSubscription)}`,
} as const;

/** A number that no other writer of any node has. */
export async function takeWriter(tx: Tx): Promise<number> {
  const [row] = await tx.query(writeFiguresSql.writer, []);
  return integer(one(row), 'writer');
}

export interface FigureContext {
  nowMs: number;
  writer: number;
  gathered: PendingStatistics;
  /** What the transaction does, to be counted. */
  facts: Fact[];
}

/**
 * Last in the transaction, in one pipeline with reads that lock nothing, so it costs no round trip.
 * One statement for all apps instead of one each, and plain parameters for a single app, which take
 * less of the server's CPU than arrays (docs/performance.md).
 */
export async function writeFigures(tx: Tx, context: FigureContext): Promise<void> {
  const { gathered, facts } = context;
  await Promise.all([
    writeAppFigures(tx, context),
    // At least as many as this batch may add, so that they cannot accumulate without bound.
    gathered.isFull()
      ? keepFigures(tx, gathered, Math.max(facts.length, limits.figuresRowsMax))
      : [],
  ]);
}

export async function writeAppFigures(
  tx: Tx,
  { nowMs, writer, facts }: Omit<FigureContext, 'gathered'>,
): Promise<void> {
  const apps = figuresByApp(facts);
  const [first] = apps;
  if (first === undefined) return;
  if (apps.length === 1) {
    const [appNo, figures] = first;
    const values = figureValues(appColumns, figures);
    await tx.query(writeFiguresSql.ofOneApp, [appNo, minuteOf(nowMs), writer, ...values]);
    return;
  }
  const numbers = apps.map(([appNo]) => appNo);
  const { took, counts } = columnsOf(
    appColumns,
    apps.map(([, figures]) => figures),
  );
  await tx.query(writeFiguresSql.app, [numbers, minuteOf(nowMs), writer, took, ...counts]);
}

export async function keepFigures(
  tx: Tx,
  gathered: PendingStatistics,
  limit: number,
): Promise<{ written: number; isMore: boolean }> {
  const some = gathered.take(limit);
  if (some.length > 0) {
    const { took, counts } = columnsOf(
      subscriptionColumns,
      some.map(({ figures }) => figures),
    );
    await tx.query(writeFiguresSql.subscription, [
      some.map(({ lane }) => lane),
      some.map(({ minute }) => minute),
      took,
      ...counts,
    ]);
  }
  return { written: some.length, isMore: !gathered.isEmpty() };
}

function columnsOf(
  { counts }: FigureColumns,
  rows: readonly Statistics[],
): { took: Parameter; counts: Parameter[] } {
  return {
    took: rows.flatMap(({ took }) => took),
    counts: counts.map((name) => rows.map((figures) => figures.counts[name])),
  };
}
