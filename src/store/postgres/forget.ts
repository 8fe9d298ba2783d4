// Forgetting: deletes idempotency keys, patterns and changes that have outlived their time, a bounded number
// at a time. What somebody is just using, perhaps another node that forgets it, is left for the next time.
import type { EditInput, EditOutput } from '../store.ts';
import { diedBefore } from '../verbs/forget.ts';
import type { Tx } from './tx.ts';

export const forgetSql = {
  idempotency: `
    delete from idem where (app, key) in
      (select app, key from idem where created_ms < $1::bigint
       order by created_ms limit $2 for update skip locked)
    returning app`,
  patterns: `
    delete from pattern where (app, contract, pattern, callback, born) in
      (select app, contract, pattern, callback, born from pattern
       where died_ms < $1::bigint order by died_ms limit $2 for update skip locked)
    returning app`,
  firstFanOut: 'select event from fanout order by event limit 1',
  feed: `
    delete from change_feed where (app, node, seq) in
      (select app, node, seq from change_feed where at_ms < $1::bigint
       order by at_ms limit $2 for update skip locked)
    returning seq`,
  watch: `
    delete from watch where (app, node) in
      (select app, node from watch where until_ms < $1::bigint
       order by until_ms limit $2 for update skip locked)
    returning app`,
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
  const gone = await tx.query(forgetSql.patterns, [diedBefore(row, beforeMs), limit]);
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
