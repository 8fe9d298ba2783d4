// Writes an attempt down, with what was sent and what came back.
import type { DatabaseSync } from 'node:sqlite';
import type { DeliveryName } from '../../core/delivery.ts';
import type { AttemptRecord } from '../delivery-verbs.ts';
import { printHead } from '../verbs/attempts.ts';

export const recordAttemptSql = {
  attempt: `
    insert into attempt (event, n, k, node, started_ms, took_ms, code, error)
    values (?, ?, ?, ?, ?, ?, ?, ?)`,
  response: 'insert into response (event, n, k, head, body) values (?, ?, ?, ?, ?)',
} as const;

export type RecordAttempt = (name: DeliveryName, k: number, attempt: AttemptRecord) => void;

export function prepareRecordAttempt(db: DatabaseSync): RecordAttempt {
  const insert = db.prepare(recordAttemptSql.attempt);
  const insertResponse = db.prepare(recordAttemptSql.response);
  return ({ event, n }, k, attempt) => {
    const { node, startedMs, tookMs, status, error, response } = attempt;
    insert.run(event, n, k, node, startedMs, tookMs, status ?? null, error ?? null);
    insertResponse.run(event, n, k, printHead(attempt), response?.body ?? null);
  };
}
