// Statistics of apps and subscriptions: written with the deliveries that they count, and compacted
// when their minute is over.
import type { DatabaseSync } from 'node:sqlite';
import { strict as assert } from 'node:assert';
import { limits } from '../../../core/limits/limits.ts';
import { minuteOf, coarseMinutes, minuteMs } from '../../../core/telemetry/statistics.ts';
import { type Fact, statisticsByApp } from '../../statistics/transaction-facts.ts';
import {
  appColumns,
  statisticsValues,
  increments,
  subscriptionColumns,
} from '../../statistics/statistics-columns.ts';
import type { PendingStatistics } from '../../statistics/pending-statistics.ts';
import { integer } from '../../sql/row.ts';
import type { Edit } from '../transaction/edit.ts';

// Writes figures: those of apps at the end of every transaction, one row for each app involved;
// those of subscriptions on request, or when too many have accumulated.

const placeholders = (columns: readonly string[]): string => columns.map(() => '?').join(', ');

export const writeStatisticsSql = {
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

export type KeepStatistics = (limit: number) => { written: number; isMore: boolean };

export function prepareKeepStatistics(
  db: DatabaseSync,
  pending: PendingStatistics,
): KeepStatistics {
  const write = db.prepare(writeStatisticsSql.subscription);
  return (limit) => {
    const some = pending.take(limit);
    for (const { lane, minute, figures } of some) {
      write.run(minute, ...statisticsValues(subscriptionColumns, figures), lane);
    }
    return { written: some.length, isMore: !pending.isEmpty() };
  };
}

/**
 * The last statement of a transaction. Its cost is negligible within a batch of one app, and grows
 * with a row for each app involved.
 */
export type WriteStatistics = (facts: readonly Fact[], nowMs: number) => void;

export function prepareWriteStatistics(
  db: DatabaseSync,
  { pending, keep }: { pending: PendingStatistics; keep: KeepStatistics },
): WriteStatistics {
  const write = db.prepare(writeStatisticsSql.app);
  return (facts, nowMs) => {
    for (const [appNo, figures] of statisticsByApp(facts)) {
      write.run(appNo, minuteOf(nowMs), writer, ...statisticsValues(appColumns, figures));
    }
    // Writes as many as this batch may add, so that the accumulated figures stay bounded.
    if (pending.isFull()) keep(Math.max(facts.length, limits.statisticsRowsMax));
  };
}

// Compacts figures: past minutes move to their final rows, and expired ones are deleted. The row of
// minute 0 keeps the sum of all past minutes, so an app's totals stay exact.

const all = appColumns.all.join(', ');
const counts = appColumns.counts.join(', ');
const ofSubscription = subscriptionColumns.all.join(', ');
const fine = 'where subscription = :subscription and minute = :minute';
const fresh = 'where app = :app and minute = :minute and writer = :writer';

export const tidyStatisticsSql = {
  over: `
    select app, minute, writer from stat_app indexed by stat_app_fresh
    where writer > 0 and minute < ? limit ? + 0`,
  keep: `
    insert into stat_app (app, minute, writer, ${all})
    select app, minute, 0, ${all} from stat_app ${fresh}
    on conflict (app, minute, writer) do update set ${increments('stat_app', appColumns.all)}`,
  total: `
    insert into stat_app (app, minute, writer, ${counts})
    select app, 0, 0, ${counts} from stat_app ${fresh}
    on conflict (app, minute, writer) do update set ${increments('stat_app', appColumns.counts)}`,
  remove: `delete from stat_app ${fresh}`,
  fine: `
    select subscription, minute from stat_subscription indexed by stat_subscription_fine
    where minute % ${coarseMinutes} > 0 and minute < ? limit ? + 0`,
  coarse: `
    insert into stat_subscription (subscription, minute, ${ofSubscription})
    select subscription, minute - minute % ${coarseMinutes}, ${ofSubscription}
    from stat_subscription ${fine}
    on conflict (subscription, minute) do update
    set ${increments('stat_subscription', subscriptionColumns.all)}`,
  removeFine: `delete from stat_subscription ${fine}`,
  oldOfApps: `
    delete from stat_app where (app, minute, writer) in
      (select app, minute, writer from stat_app indexed by stat_app_age
       where writer = 0 and minute > 0 and minute < ? limit ? + 0)`,
  oldOfSubscriptions: `
    delete from stat_subscription where (subscription, minute) in
      (select subscription, minute from stat_subscription indexed by stat_subscription_age
       where minute % ${coarseMinutes} = 0 and minute < ? limit ? + 0)`,
} as const;

export function prepareTidyStatistics(db: DatabaseSync): Edit<'tidyStatistics'> {
  const over = db.prepare(tidyStatisticsSql.over);
  const steps = [
    db.prepare(tidyStatisticsSql.keep),
    db.prepare(tidyStatisticsSql.total),
    db.prepare(tidyStatisticsSql.remove),
  ];
  const fineRows = db.prepare(tidyStatisticsSql.fine);
  const coarsen = [db.prepare(tidyStatisticsSql.coarse), db.prepare(tidyStatisticsSql.removeFine)];
  const oldOfApps = db.prepare(tidyStatisticsSql.oldOfApps);
  const oldOfSubscriptions = db.prepare(tidyStatisticsSql.oldOfSubscriptions);
  return ({ appKeepMs, subscriptionFineMs, subscriptionKeepMs, limit }, { nowMs }) => {
    assert(limit >= 1, `Cannot tidy ${limit} rows: to SQLite a negative limit means no limit`);
    const rows = over.all(minuteOf(nowMs - minuteMs), limit);
    for (const row of rows) {
      const [app, minute] = [integer(row, 'app'), integer(row, 'minute')];
      for (const each of steps) each.run({ app, minute, writer: integer(row, 'writer') });
    }
    const fineOnes = fineRows.all(minuteOf(nowMs - subscriptionFineMs), limit);
    for (const row of fineOnes) {
      const [subscription, minute] = [integer(row, 'subscription'), integer(row, 'minute')];
      for (const each of coarsen) each.run({ subscription, minute });
    }
    const moved = [
      rows.length,
      fineOnes.length,
      Number(oldOfApps.run(minuteOf(nowMs - appKeepMs), limit).changes),
      Number(oldOfSubscriptions.run(minuteOf(nowMs - subscriptionKeepMs), limit).changes),
    ];
    return { moved: moved.reduce((sum, one) => sum + one, 0), isMore: moved.includes(limit) };
  };
}
