// Deletes expired rows, a bounded number at a time.
import { strict as assert } from 'node:assert';
import { all, first } from '../sql/statement.ts';
import { timeOf } from '../../core/base/id.ts';
import { limits } from '../../core/limits/limits.ts';
import type { Row } from '../sql/row.ts';
import { text } from '../sql/row.ts';
import type { Edit } from './shared/verb.ts';

export const forgetSql = {
  idempotency: `
    delete from idem where (app, key) in
      (select app, key from idem where created_ms < ?1 order by created_ms limit ?2 + 0)
    returning app`,
  patterns: `
    delete from pattern where (app, contract, pattern, callback, born) in
      (select app, contract, pattern, callback, born from pattern
       where died_ms < ?1 order by died_ms limit ?2 + 0)
    returning app`,
  firstFanOut: 'select event from fanout order by event limit 1',
} as const;

export const forget: Edit<'forget'> = function* ({ idempotencyBeforeMs, limit }) {
  assert(limit >= 1, `Cannot forget ${limit} rows: to SQLite a negative limit means no limit`);
  const gone = yield* all(forgetSql.idempotency, idempotencyBeforeMs, limit);
  return { deleted: gone.length };
};

export const forgetPatterns: Edit<'forgetPatterns'> = function* ({ beforeMs, limit }) {
  assert(limit >= 1, `Cannot forget ${limit} rows: to SQLite a negative limit means no limit`);
  const row = yield* first(forgetSql.firstFanOut);
  const diedBeforeMs = patternsEndedBefore(row, beforeMs);
  const gone = yield* all(forgetSql.patterns, diedBeforeMs, limit);
  return { deleted: gone.length };
};

/**
 * A fan-out needs the patterns that were alive when its event was accepted. A pattern that ended
 * long before the event was created is not among them, however long the transactions of that time
 * took.
 */
export function patternsEndedBefore(firstFanOut: Row | undefined, beforeMs: number): number {
  if (firstFanOut === undefined) return beforeMs;
  return Math.min(beforeMs, timeOf(text(firstFanOut, 'event')) - limits.patternKeepMs);
}
