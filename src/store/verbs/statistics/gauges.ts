// Reads gauges over all apps: values that indexes of exactly these rows can count; and a scan of
// lanes and subscriptions, in pieces, because no index could count those.
import { brokenAfter } from '../../../core/domain/circuit-breaker.ts';
import { never } from '../../../core/domain/lane.ts';
import { limits } from '../../../core/limits/limits.ts';
import { noStatistics } from '../../../core/telemetry/statistics.ts';
import { integer, maybe, text, type Row } from '../../sql/row.ts';
import { only } from '../../sql/statement.ts';
import { appColumns } from '../../statistics/statistics-columns.ts';
import type { Read } from '../shared/verb.ts';

const { counts: countColumns } = appColumns;
const sumIf = (condition: string, name: string): string =>
  `coalesce(sum(case when ${condition} then 1 else 0 end), 0) as ${name}`;

export const gaugesSql = {
  // One row for each app, and the recent ones; see figures.ts.
  counts: `
    select ${countColumns.map((name) => `coalesce(sum(${name}), 0) as ${name}`).join(', ')}
    from (
      select ${countColumns.join(', ')} from stat_app indexed by stat_app_age
      where minute = 0 and writer = 0
      union all
      select ${countColumns.join(', ')} from stat_app indexed by stat_app_fresh
      where writer > 0) as parts`,
  running: `
    select count(*) as found from delivery_live indexed by delivery_running
    where lease is not null`,
  oldest: 'select min(event) as event from delivery_live',
  fanOuts: 'select count(*) as found from (select 1 from fanout limit ?1 + 0) as counted',
  replays: `
    select count(*) as found from (
      select 1 from replay where state = 'running' order by next_ms, no limit ?1 + 0) as counted`,
  notices: 'select count(*) as found from (select 1 from notice limit ?1 + 0) as counted',
  // The first pending delivery is found as a claim finds it. In an ordered lane it is due when it
  // was created.
  lanes: `
    select max(no) as last, count(*) as examined,
      ${sumIf('state = 0', 'open')},
      ${sumIf('state = 1', 'held')},
      ${sumIf('state < 2 and ordered = 1', 'ordered')},
      ${sumIf('state < 2 and interval_ms is not null', 'limited')},
      ${sumIf('state < 2 and failures >= ?3 and gate_ms > ?2', 'broken')},
      ${sumIf('state < 2 and failures >= ?3 and gate_ms <= ?2', 'probing')},
      min(case when state < 2 and due_ms <= ?2 then due_ms end) as oldest_due_ms,
      min(case when state = 0 and due_ms <= ?2 and ready_ms <= ?2 then due_ms end)
        as oldest_ready_ms
    from (
      select no, state, ordered, interval_ms, failures, gate_ms, ready_ms, (
        select due_ms from delivery_live where delivery_live.lane = one.no and lease is null
        order by due_ms, event, n limit 1) as due_ms
      from lane as one where no > ?1 order by no limit ?4 + 0) as piece`,
  // Walks from lane to lane with a running count: it reads nothing that is not due, however much is
  // scheduled for later, and stops when it has counted enough.
  due: `
    with recursive walk (lane, found) as (
      select (
        select lane from delivery_live indexed by delivery_due
        where lane > ?1 and lane <= ?2 and lease is null order by lane limit 1), cast(0 as bigint)
      union all
      select (
        select lane from delivery_live indexed by delivery_due
        where lane > walk.lane and lane <= ?2 and lease is null order by lane limit 1),
        found + (
          select count(*) from (
            select 1 from delivery_live indexed by delivery_due
            where lane = walk.lane and lease is null and due_ms <= ?3 limit ?4 + 0) as counted)
      from walk where lane is not null and found < ?4)
    select max(found) as found from walk`,
  subscriptions: `
    select max(no) as last, count(*) as examined,
      ${sumIf("state = 'paused' and confirm_by_ms is not null", 'unconfirmed')},
      ${sumIf("state = 'active'", 'active')},
      ${sumIf("state = 'paused' and confirm_by_ms is null", 'paused')},
      ${sumIf("state = 'disabled'", 'disabled')}
    from (
      select no, state, confirm_by_ms from subscription where no > ?1 order by no limit ?2 + 0) as piece`,
} as const;

export const gauges: Read<'gauges'> = function* () {
  const most = limits.dueCountedMax;
  const row = yield* only(gaugesSql.counts);
  const { counts } = noStatistics();
  for (const name of countColumns) counts[name] = integer(row, name);
  return {
    counts,
    running: integer(yield* only(gaugesSql.running), 'found'),
    oldestPending: maybe(text, yield* only(gaugesSql.oldest), 'event'),
    fanOuts: integer(yield* only(gaugesSql.fanOuts, most), 'found'),
    replays: integer(yield* only(gaugesSql.replays, most), 'found'),
    notices: integer(yield* only(gaugesSql.notices, most), 'found'),
  };
};

export const laneCensus: Read<'laneCensus'> = function* ({ after, nowMs, dueMost }) {
  const row = yield* only(gaugesSql.lanes, after, nowMs, brokenAfter, limits.laneScanRowsMax);
  const last = lastOf(row);
  const due =
    dueMost === 0
      ? 0
      : integer(yield* only(gaugesSql.due, after, last ?? never, nowMs, dueMost), 'found');
  return {
    last,
    due: Math.min(due, dueMost),
    open: integer(row, 'open'),
    held: integer(row, 'held'),
    ordered: integer(row, 'ordered'),
    limited: integer(row, 'limited'),
    broken: integer(row, 'broken'),
    probing: integer(row, 'probing'),
    oldestDueMs: maybe(integer, row, 'oldest_due_ms'),
    oldestReadyMs: maybe(integer, row, 'oldest_ready_ms'),
  };
};

export const subscriptionCensus: Read<'subscriptionCensus'> = function* ({ after }) {
  const row = yield* only(gaugesSql.subscriptions, after, limits.laneScanRowsMax);
  return {
    last: lastOf(row),
    unconfirmed: integer(row, 'unconfirmed'),
    active: integer(row, 'active'),
    paused: integer(row, 'paused'),
    disabled: integer(row, 'disabled'),
  };
};

function lastOf(row: Row): number | undefined {
  const isFull = integer(row, 'examined') === limits.laneScanRowsMax;
  return isFull ? maybe(integer, row, 'last') : undefined;
}

// Health: a read that reaches the database, and returns its last migration.

export const healthSql = {
  schema: 'select max(number) as schema from migration',
} as const;

export const health: Read<'health'> = function* () {
  return { schema: integer(yield* only(healthSql.schema), 'schema') };
};
