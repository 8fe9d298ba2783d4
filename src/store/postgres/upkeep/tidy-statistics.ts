// Compacts figures: minutes that are over are merged over all nodes into one row, and rows past
// their retention are deleted. The row of minute 0 keeps the total of everything merged. Nodes may
// run this concurrently: each takes rows that no other has locked.
import { coarseMinutes, minuteMs, minuteOf } from '../../../core/telemetry/statistics.ts';
import {
  appColumns,
  increments,
  subscriptionColumns,
  sums,
} from '../../statistics/statistics-columns.ts';
import type { EditInput, EditOutput } from '../../port/store.ts';
import type { Tx } from '../connection/tx.ts';

const { all, counts } = appColumns;
const { all: ofSubscription } = subscriptionColumns;

export const tidyFiguresSql = {
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
      insert into stat_app (app, minute, writer, ${all.join(', ')})
      select app, minute, 0, ${sums(all)} from gone group by app, minute order by app, minute
      on conflict (app, minute, writer) do update set ${increments('stat_app', all)}),
    total as (
      insert into stat_app (app, minute, writer, ${counts.join(', ')})
      select app, 0, 0, ${sums(counts)} from gone group by app order by app
      on conflict (app, minute, writer) do update set ${increments('stat_app', counts)})
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
  oldOfApps: `
    with old as materialized (
      select app, minute, writer from stat_app where writer = 0 and minute > 0 and minute < $1::bigint
      order by minute limit $2 for update skip locked)
    delete from stat_app using old
    where stat_app.app = old.app
        and stat_app.minute = old.minute
        and stat_app.writer = old.writer
    returning stat_app.app`,
  oldOfSubscriptions: `
    with old as materialized (
      select subscription, minute from stat_subscription where minute % ${coarseMinutes} = 0 and minute < $1::bigint
      order by minute limit $2 for update skip locked)
    delete from stat_subscription using old
    where stat_subscription.subscription = old.subscription
        and stat_subscription.minute = old.minute
    returning stat_subscription.subscription`,
} as const;

export async function tidyFigures(
  tx: Tx,
  input: EditInput<'tidyFigures'>,
  nowMs: number,
): Promise<EditOutput<'tidyFigures'>> {
  const { appKeepMs, subscriptionFineMs, subscriptionKeepMs, limit } = input;
  const { fold, coarsen, oldOfApps, oldOfSubscriptions } = tidyFiguresSql;
  const moved = await Promise.all([
    tx.query(fold, [minuteOf(nowMs - minuteMs), limit]),
    tx.query(coarsen, [minuteOf(nowMs - subscriptionFineMs), limit]),
    tx.query(oldOfApps, [minuteOf(nowMs - appKeepMs), limit]),
    tx.query(oldOfSubscriptions, [minuteOf(nowMs - subscriptionKeepMs), limit]),
  ]);
  const lengths = moved.map((rows) => rows.length);
  return { moved: lengths.reduce((sum, one) => sum + one, 0), isMore: lengths.includes(limit) };
}
