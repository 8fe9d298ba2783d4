// Forgetting: deletes idempotency keys that have outlived their time, a bounded number at a time. One that
// somebody is just using, in a transaction that may stay open for long, is left for the next time.
import type { EditInput, EditOutput } from '../store.ts';
import type { Tx } from './tx.ts';

export const forgetSql = {
  idempotency: `
    delete from idem where (app, key) in
      (select app, key from idem where created_ms < $1::bigint
       order by created_ms limit $2 for update skip locked)
    returning app`,
} as const;

export async function forget(
  tx: Tx,
  { idempotencyBeforeMs, limit }: EditInput<'forget'>,
): Promise<EditOutput<'forget'>> {
  const gone = await tx.query(forgetSql.idempotency, [idempotencyBeforeMs, limit]);
  return { deleted: gone.length };
}
