// Deletes idempotency keys, patterns and feed rows past their retention, a bounded number at a
// time.
import { timeOf } from '../../../core/base/id.ts';
import type { EditInput, EditOutput } from '../../port/store.ts';
import { integer, maybe, one, text } from '../../sql/row.ts';
import { patternsEndedBefore } from '../../verbs/forget.ts';
import type { Tx } from '../connection/tx.ts';

export const forgetSql = {
  idempotency: deleteBatch({
    table: 'idem',
    key: ['app', 'key'],
    where: 'created_ms < $1::bigint',
    order: 'created_ms',
  }),
  patterns: deleteBatch({
    table: 'pattern',
    key: ['app', 'contract', 'pattern', 'callback', 'born'],
    where: 'died_ms < $1::bigint',
    order: 'died_ms',
  }),
  firstFanOut: 'select event from fanout order by event limit 1',
  feed: deleteBatch({
    table: 'change_feed',
    key: ['app', 'node', 'seq'],
    where: 'at_ms < $1::bigint',
    order: 'at_ms',
  }),
  watch: deleteBatch({
    table: 'watch',
    key: ['app', 'node'],
    where: 'until_ms < $1::bigint',
    order: 'until_ms',
  }),
} as const;

export async function forget(
  tx: Tx,
  { idempotencyBeforeMs, limit }: EditInput<'forget'>,
): Promise<EditOutput<'forget'>> {
  const gone = await tx.query(forgetSql.idempotency, [idempotencyBeforeMs, limit]);
  return { deleted: gone.length };
}

export async function forgetPatterns(
  tx: Tx,
  { beforeMs, limit }: EditInput<'forgetPatterns'>,
): Promise<EditOutput<'forgetPatterns'>> {
  const [row] = await tx.query(forgetSql.firstFanOut, []);
  const gone = await tx.query(forgetSql.patterns, [patternsEndedBefore(row, beforeMs), limit]);
  return { deleted: gone.length };
}

export async function forgetFeed(
  tx: Tx,
  { beforeMs, limit }: EditInput<'forgetFeed'>,
): Promise<EditOutput<'forgetFeed'>> {
  const [gone, over] = await Promise.all([
    tx.query(forgetSql.feed, [beforeMs, limit]),
    tx.query(forgetSql.watch, [beforeMs, limit]),
  ]);
  return { deleted: Math.max(gone.length, over.length) };
}

// Deletes subscriptions that ended longer ago than the retention, with all their rows. A
// subscription is kept while an event is kept that may have been published to it, because its
// deliveries refer to its callbacks.

export const forgetSubscriptionsSql = {
  firstEvent: 'select min(id) as id from event',
  // Pending deliveries of a lane are swept first. Rows are locked so that two nodes do not do the
  // same work.
  oldest: `
    select no from subscription
    where ended_ms < $1
      and not exists (
        select from lane where lane.subscription = subscription.no and swept = 0 offset 0)
    order by ended_ms limit $2 for update skip locked`,
  patterns: `
    delete from pattern using callback
    where pattern.callback = callback.no and callback.subscription = any($1::bigint[])
    returning pattern.callback`,
  callbacks: 'delete from callback where subscription = any($1::bigint[]) returning no',
  lanes: 'delete from lane where subscription = any($1::bigint[]) returning no',
  subscriptions: 'delete from subscription where no = any($1::bigint[]) returning no',
} as const;

/** A subscription has a few dependent rows; this keeps a step within its limit. */
const rowsOfOne = 8;

export async function forgetSubscriptions(
  tx: Tx,
  { endedBeforeMs, limit }: { endedBeforeMs: number; limit: number },
): Promise<{ deleted: number; isMore: boolean }> {
  const [first] = await tx.query(forgetSubscriptionsSql.firstEvent, []);
  const firstEvent = maybe(text, one(first), 'id');
  const keptMs = firstEvent === undefined ? endedBeforeMs : timeOf(firstEvent);
  const most = Math.max(Math.floor(limit / rowsOfOne), 1);
  const beforeMs = Math.min(endedBeforeMs, keptMs);
  const rows = await tx.query(forgetSubscriptionsSql.oldest, [beforeMs, most]);
  if (rows.length === 0) return { deleted: 0, isMore: false };
  const numbers = rows.map((row) => integer(row, 'no'));
  let deleted = 0;
  // In the order of the references between the tables.
  const { patterns, callbacks, lanes, subscriptions } = forgetSubscriptionsSql;
  for (const sql of [patterns, callbacks, lanes, subscriptions]) {
    deleted += (await tx.query(sql, [numbers])).length;
  }
  return { deleted, isMore: rows.length === most };
}

/**
 * The statement that deletes a bounded number of old rows. `$1` is the time or minute that `where` compares with, `$2`
 * the most rows to delete. Rows that another transaction has locked are left for the next time. The rows are chosen in a
 * materialized CTE: as a subquery of `in (…)`, some plans evaluate it again for every row, and delete more.
 */
export function deleteBatch({
  table,
  key,
  where,
  order,
}: {
  table: string;
  /** The columns of the primary key. */
  key: readonly string[];
  where: string;
  order: string;
}): string {
  return `
    with old as materialized (
      select ${key.join(', ')} from ${table} where ${where}
      order by ${order} limit $2 for update skip locked)
    delete from ${table} using old
    where ${key.map((column) => `${table}.${column} = old.${column}`).join(' and ')}
    returning ${table}.${key[0]}`;
}
