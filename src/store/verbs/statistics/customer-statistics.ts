// Reads the figures of a customer: the sums over its newest subscriptions. They are added up by the
// database, so that a customer with many subscriptions returns no more rows than one with few.
import { limits } from '../../../core/limits/limits.ts';
import { integer, maybe, text } from '../../sql/row.ts';
import { all, first, only } from '../../sql/statement.ts';
import { subscriptionColumns, sums } from '../../statistics/statistics-columns.ts';
import type { Read } from '../shared/verb.ts';
import { spanValues, step, toSteps } from './statistics.ts';

const newest = `
  select no from subscription where app = ?1 and customer = ?2 and customer is not null
  order by no desc`;
const own = `(${newest} limit ?3 + 0) as own`;

export const customerStatisticsSql = {
  more: `${newest} limit 1 offset ?3 + 0`,
  // Compares row values for the reason given at `statistics.ofSubscription`.
  steps: `
    select ${step('?4', '?6')}, ${sums(subscriptionColumns.all)}
    from ${own} cross join stat_subscription
    where (subscription, minute) >= (own.no, ?4) and (subscription, minute) < (own.no, ?5)
    group by step`,
  waiting: `
    select count(*) as found, min(event) as event from (
      select event from ${own} cross join lane cross join delivery_live
      where lane.subscription = own.no and delivery_live.lane = lane.no and lease is null
      limit ?4 + 0) as waiting`,
  // The head of each lane, for when not all deliveries are counted: a good estimate of the oldest.
  heads: `
    select min(event) as event from (
      select (
        select event from delivery_live where delivery_live.lane = lane.no and lease is null
        order by due_ms, event, n limit 1) as event
      from ${own} cross join lane where lane.subscription = own.no) as heads`,
  // `is true` keeps PostgreSQL from turning the condition into a join, which may read all deliveries
  // in flight for each lane of the customer. It looks each lane up in a hash table instead.
  running: `
    select count(*) as found, min(event) as event
    from delivery_live indexed by delivery_running
    where lease is not null and (lane in (
      select lane.no from ${own} cross join lane where lane.subscription = own.no)) is true`,
} as const;

export const customerStatistics: Read<'customerStatistics'> = function* (input) {
  const { appNo, customer, span, pendingMax } = input;
  const owner = [appNo, customer, limits.customerSummedMax];
  const sql = customerStatisticsSql;
  const steps = yield* all(sql.steps, ...owner, ...spanValues(span));
  const waiting = yield* only(sql.waiting, ...owner, pendingMax);
  const running = yield* only(sql.running, ...owner);
  const areAllWaitingCounted = integer(waiting, 'found') < pendingMax;
  const head = areAllWaitingCounted ? waiting : yield* only(sql.heads, ...owner);
  const pending = integer(waiting, 'found') + integer(running, 'found');
  const [oldest] = [head, running].flatMap((row) => maybe(text, row, 'event') ?? []).sort();
  return {
    steps: toSteps(steps, subscriptionColumns),
    pending: Math.min(pending, pendingMax),
    isCapped: pending >= pendingMax,
    oldestPending: oldest,
    subscriptionsAreCapped: (yield* first(sql.more, ...owner)) !== undefined,
  };
};
