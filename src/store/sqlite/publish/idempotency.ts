// The idempotency keys of publishes: each is looked up before its publish, and stored after it with
// the result. In the same transaction as the publish, so a repeated request finds both or neither.
import type { DatabaseSync } from 'node:sqlite';
import { limits } from '../../../core/limits/limits.ts';
import type { Idempotency } from '../../port/store.ts';
import { bytes, integer, text } from '../../sql/row.ts';
import type { EarlierRequest } from '../../verbs/shared/idempotency.ts';

export const idempotencyKeysSql = {
  find: 'select print, result, created_ms from idem where app = ? and key = ?',
  keep: `
    insert into idem (app, key, print, result, created_ms)
    values (:app, :key, :print, :result, :nowMs)
    on conflict (app, key) do update
    set print = excluded.print, result = excluded.result, created_ms = excluded.created_ms`,
} as const;

interface KeyedPublish {
  appNo: number;
  idempotency: Idempotency;
  nowMs: number;
}

interface IdempotencyKeys {
  /** The earlier use of this key. An expired one counts as none. */
  find(input: KeyedPublish): EarlierRequest;
  keep(input: KeyedPublish & { result: string }): void;
}

export function prepareIdempotencyKeys(db: DatabaseSync): IdempotencyKeys {
  const find = db.prepare(idempotencyKeysSql.find);
  const keep = db.prepare(idempotencyKeysSql.keep);
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
