// Forgetting: deletes what has outlived its time, a bounded number of rows at a time.
import { strict as assert } from 'node:assert';
import { all } from '../statement.ts';
import type { Edit } from './verb.ts';

export const forgetSql = {
  idempotency: `
    delete from idem where (app, key) in
      (select app, key from idem where created_ms < ?1 order by created_ms limit ?2 + 0)
    returning app`,
} as const;

export const forget: Edit<'forget'> = function* ({ idempotencyBeforeMs, limit }) {
  assert(limit >= 1, `Cannot forget ${limit} rows: to SQLite a negative limit means no limit`);
  const gone = yield* all(forgetSql.idempotency, idempotencyBeforeMs, limit);
  return { deleted: gone.length };
};
