// Compacts figures: past minutes move to their final rows, and expired ones are deleted. The row of
// minute 0 keeps the sum of all past minutes, so an app's totals stay exact.
import { strict as assert } from 'node:assert';
import type { DatabaseSync } from 'node:sqlite';
import { coarseMinutes, minuteMs, minuteOf } from '../../../core/telemetry/statistics.ts';
import {
  appColumns,
  increments,
  subscriptionColumns,
} from '../../statistics/statistics-columns.ts';
import { integer } from '../../sql/row.ts';
import type { Edit } from '../transaction/edit.ts';

const all = appColumns.all.join(', ');
const counts = appColumns.counts.join(', ');
const ofSubscription = subscriptionColumns.all.join(', ');
const fine = 'where subscription = :subscription and minute = :minute';
const fresh = 'where app = :app and minute = :minute and writer = :writer';

export const tidyFiguresSql = {
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

export function prepareTidyFigures(db: DatabaseSync): Edit<'tidyFigures'> {
  const over = db.prepare(tidyFiguresSql.over);
  const steps = [
    db.prepare(tidyFiguresSql.keep),
    db.prepare(tidyFiguresSql.total),
    db.prepare(tidyFiguresSql.remove),
  ];
  const fineRows = db.prepare(tidyFiguresSql.fine);
  const coarsen = [db.prepare(tidyFiguresSql.coarse), db.prepare(tidyFiguresSql.removeFine)];
  const oldOfApps = db.prepare(tidyFiguresSql.oldOfApps);
  const oldOfSubscriptions = db.prepare(tidyFiguresSql.oldOfSubscriptions);
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
