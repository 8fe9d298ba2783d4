// Forgetting: deletes what has outlived its time, a bounded number of rows at a time.
import { strict as assert } from 'node:assert';
import type { DatabaseSync } from 'node:sqlite';
import type { Edit } from './verb.ts';

export const forgetSql = {
  idempotency: `
    delete from idem where (app, key) in
      (select app, key from idem where created_ms < ? order by created_ms limit ? + 0)`,
} as const;

export function prepareForget(db: DatabaseSync): Edit<'forget'> {
  const idempotency = db.prepare(forgetSql.idempotency);
  return ({ idempotencyBeforeMs, limit }) => {
    assert(limit >= 1, `Cannot forget ${limit} rows: to SQLite a negative limit means no limit`);
    return { deleted: Number(idempotency.run(idempotencyBeforeMs, limit).changes) };
  };
}
