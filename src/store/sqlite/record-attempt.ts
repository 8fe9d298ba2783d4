// Writes an attempt down, with what was sent and what came back; if that is long, in a row of its own: the table of
// attempts has no rowid, and long rows would fill its inner pages and spill over. Measured with 600,000 attempts: in one
// row an answer of 230 bytes takes 5.0 µs and 317 bytes of the file, in two rows 8.4 and 392. One of 1,324 takes 13.1 µs
// and 4,682 bytes in one row, 12.1 and 2,152 in two.
import type { DatabaseSync } from 'node:sqlite';
import type { DeliveryName } from '../../core/delivery.ts';
import { limits } from '../../core/limits.ts';
import type { AttemptRecord } from '../delivery-verbs.ts';
import { printHead } from '../verbs/attempts.ts';

export const recordAttemptSql = {
  insert: `
    insert into attempt (event, n, k, node, started_ms, took_ms, code, error, head, body)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  insertLong: 'insert into response (event, n, k, head, body) values (?, ?, ?, ?, ?)',
} as const;

export type RecordAttempt = (name: DeliveryName, k: number, attempt: AttemptRecord) => void;

export function prepareRecordAttempt(db: DatabaseSync): RecordAttempt {
  const insert = db.prepare(recordAttemptSql.insert);
  const insertLong = db.prepare(recordAttemptSql.insertLong);
  return ({ event, n }, k, attempt) => {
    const { node, startedMs, tookMs, status = null, error = null, response } = attempt;
    const head = printHead(attempt);
    const body = response?.body ?? null;
    const isLong = head.length + (body?.length ?? 0) > limits.attemptRowBytes;
    const beside = isLong ? [null, null] : [head, body];
    insert.run(event, n, k, node, startedMs, tookMs, status, error, ...beside);
    if (isLong) insertLong.run(event, n, k, head, body);
  };
}
