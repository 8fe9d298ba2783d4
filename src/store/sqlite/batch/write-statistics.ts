// Writes figures: those of apps at the end of every transaction, one row for each app involved;
// those of subscriptions on request, or when too many have accumulated.
import type { DatabaseSync } from 'node:sqlite';
import { limits } from '../../../core/limits/limits.ts';
import { minuteOf } from '../../../core/telemetry/statistics.ts';
import type { Fact } from '../../statistics/transaction-facts.ts';
import { figuresByApp } from '../../statistics/transaction-facts.ts';
import {
  appColumns,
  figureValues,
  increments,
  subscriptionColumns,
} from '../../statistics/statistics-columns.ts';
import type { PendingStatistics } from '../../statistics/pending-statistics.ts';

const placeholders = (columns: readonly string[]): string => columns.map(() => '?').join(', ');

export const writeFiguresSql = {
  app: `
    insert into stat_app (app, minute, writer, ${appColumns.all.join(', ')})
    values (?, ?, ?, ${placeholders(appColumns.all)})
    on conflict (app, minute, writer) do update set ${increments('stat_app', appColumns.all)}`,
  subscription: `
    insert into stat_subscription (subscription, minute, ${subscriptionColumns.all.join(', ')})
    select subscription, ?, ${placeholders(subscriptionColumns.all)} from lane where no = ?
    on conflict (subscription, minute) do update
    set ${increments('stat_subscription', subscriptionColumns.all)}`,
} as const;

/** The number of the only process that writes to this database. */
export const writer = 1;

export type KeepFigures = (limit: number) => { written: number; isMore: boolean };

export function prepareKeepFigures(db: DatabaseSync, gathered: PendingStatistics): KeepFigures {
  const write = db.prepare(writeFiguresSql.subscription);
  return (limit) => {
    const some = gathered.take(limit);
    for (const { lane, minute, figures } of some) {
      write.run(minute, ...figureValues(subscriptionColumns, figures), lane);
    }
    return { written: some.length, isMore: !gathered.isEmpty() };
  };
}

/**
 * The last statement of a transaction. Its cost is negligible within a batch of one app, and grows
 * with a row for each app involved.
 */
export type WriteFigures = (facts: readonly Fact[], nowMs: number) => void;

export function prepareWriteFigures(
  db: DatabaseSync,
  { gathered, keep }: { gathered: PendingStatistics; keep: KeepFigures },
): WriteFigures {
  const write = db.prepare(writeFiguresSql.app);
  return (facts, nowMs) => {
    for (const [appNo, figures] of figuresByApp(facts)) {
      write.run(appNo, minuteOf(nowMs), writer, ...figureValues(appColumns, figures));
    }
    // Writes as many as this batch may add, so that the accumulated figures stay bounded.
    if (gathered.isFull()) keep(Math.max(facts.length, limits.figuresRowsMax));
  };
}
