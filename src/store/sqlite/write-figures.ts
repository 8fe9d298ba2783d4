// Writes figures: those of apps at the end of every transaction, in one row for each app that had
// anything to do with it; those of subscriptions when they are asked for, or when too many wait.
import type { DatabaseSync } from 'node:sqlite';
import { limits } from '../../core/limits.ts';
import { minuteOf } from '../../core/stats-span.ts';
import type { Fact } from '../counting.ts';
import { figuresByApp } from '../counting.ts';
import { appColumns, figureValues, increments, subscriptionColumns } from '../figure-columns.ts';
import type { Gathered } from '../gathered.ts';

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

/** The one process that writes into this database. */
export const writer = 1;

export type KeepFigures = (limit: number) => { written: number; isMore: boolean };

export function prepareKeepFigures(db: DatabaseSync, gathered: Gathered): KeepFigures {
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
 * The last thing that a transaction does. Measured with full batches of 256 deliveries of one app (CPU
 * time, 2 cores shared with others): noting, adding up and writing take 25 µs of 5,000 for a batch of
 * settlements; a batch that has to do with a hundred apps writes a hundred rows, 10 µs each.
 */
export type WriteFigures = (facts: readonly Fact[], nowMs: number) => void;

export function prepareWriteFigures(
  db: DatabaseSync,
  { gathered, keep }: { gathered: Gathered; keep: KeepFigures },
): WriteFigures {
  const write = db.prepare(writeFiguresSql.app);
  return (facts, nowMs) => {
    for (const [appNo, figures] of figuresByApp(facts)) {
      write.run(appNo, minuteOf(nowMs), writer, ...figureValues(appColumns, figures));
    }
    // As many as this batch may add, so that it can never become more and more.
    if (gathered.isFull()) keep(Math.max(facts.length, limits.figuresRowsMax));
  };
}
