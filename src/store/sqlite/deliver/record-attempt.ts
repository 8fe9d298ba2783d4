// Records an attempt with its request and response. A long response gets a row of its own: the
// table of attempts has no rowid, and long rows would fill its inner pages and overflow. Short ones
// are smaller and faster in the row of the attempt: docs/decisions/0024.
import type { DatabaseSync } from 'node:sqlite';
import type { DeliveryName } from '../../../core/domain/delivery.ts';
import { limits } from '../../../core/limits/limits.ts';
import type { AttemptRecord } from '../../port/delivery-verbs.ts';
import { printHead } from '../../verbs/deliveries/attempts.ts';

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
