// The request of an idempotency key, and its result. Written in the same transaction as the
// operation itself, so a repeated request finds both or neither.
import type { DatabaseSync } from 'node:sqlite';
import { limits } from '../../../core/limits/limits.ts';
import type { Idempotency } from '../../port/store.ts';
import { bytes, integer, text } from '../../sql/row.ts';

export const idempotencySql = {
  find: 'select print, result, created_ms from idem where app = ? and key = ?',
  keep: `
    insert into idem (app, key, print, result, created_ms)
    values (:app, :key, :print, :result, :nowMs)
    on conflict (app, key) do update
    set print = excluded.print, result = excluded.result, created_ms = excluded.created_ms`,
} as const;

export type Earlier = { kind: 'none' } | { kind: 'same'; result: string } | { kind: 'other' };

export interface IdempotencyInput {
  appNo: number;
  idempotency: Idempotency;
  nowMs: number;
}

export interface Idempotencies {
  /** The earlier use of this key. An expired one counts as none. */
  find(input: IdempotencyInput): Earlier;
  keep(input: IdempotencyInput & { result: string }): void;
}

export function prepareIdempotencies(db: DatabaseSync): Idempotencies {
  const find = db.prepare(idempotencySql.find);
  const keep = db.prepare(idempotencySql.keep);
  return {
    find: ({ appNo, idempotency, nowMs }) => {
      const row = find.get(appNo, idempotency.key);
      if (row === undefined) return { kind: 'none' };
      if (nowMs - integer(row, 'created_ms') > limits.idempotencyKeepMs) return { kind: 'none' };
      const isSame = Buffer.compare(bytes(row, 'print'), idempotency.print) === 0;
      return isSame ? { kind: 'same', result: text(row, 'result') } : { kind: 'other' };
    },
    keep: ({ appNo, idempotency: { key, print }, nowMs, result }) => {
      keep.run({ app: appNo, key, print, result, nowMs });
    },
  };
}
