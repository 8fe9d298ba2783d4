// The request of an idempotency key, and its result. Written in the same transaction as the
// operation itself, so a repeated request finds both or neither. Publishes have code of their own.
import { AssertionError } from 'node:assert';
import { limits } from '../../../core/limits/limits.ts';
import { bytes, text } from '../../sql/row.ts';
import { skippedMembers, toSkipped } from '../../rules/listeners.ts';
import { type Script, all, first, only } from '../../sql/statement.ts';
import type { Idempotency } from '../../port/store.ts';
import type { Accepted } from '../../port/delivery-verbs.ts';

export const idempotencySql = {
  expire: 'delete from idem where app = ?1 and key = ?2 and created_ms < ?3',
  // On PostgreSQL the insert waits for another node that is inserting the same key.
  keep: `
    insert into idem (app, key, print, result, created_ms) values (?1, ?2, ?3, ?4, ?5)
    on conflict (app, key) do nothing returning app`,
  result: 'update idem set result = ?3 where app = ?1 and key = ?2',
  drop: 'delete from idem where app = ?1 and key = ?2',
  find: 'select print, result from idem where app = ?1 and key = ?2',
} as const;

export type EarlierRequest =
  | { kind: 'none' }
  | { kind: 'same'; result: string }
  | { kind: 'other' };

export interface KeptResult {
  appNo: number;
  idempotency: Idempotency;
  nowMs: number;
  result: string;
}

/** Keeps the key with its result, unless it exists already. An expired one counts as absent. */
export function* keepIdempotencyKey({
  appNo,
  idempotency,
  nowMs,
  result,
}: KeptResult): Script<EarlierRequest> {
  const { key, print } = idempotency;
  yield* all(idempotencySql.expire, appNo, key, nowMs - limits.idempotencyKeepMs);
  const kept = yield* first(idempotencySql.keep, appNo, key, print, result, nowMs);
  if (kept !== undefined) return { kind: 'none' };
  const row = yield* only(idempotencySql.find, appNo, key);
  const isSame = Buffer.compare(bytes(row, 'print'), print) === 0;
  return isSame ? { kind: 'same', result: text(row, 'result') } : { kind: 'other' };
}

/** Replaces the result of a key that the same transaction has kept. */
export function* changeKeptResult(
  { appNo, idempotency }: Pick<KeptResult, 'appNo' | 'idempotency'>,
  result: string,
): Script<void> {
  yield* all(idempotencySql.result, appNo, idempotency.key, result);
}

/** Deletes a key whose operation did not happen. */
export function* dropIdempotencyKey(appNo: number, { key }: Idempotency): Script<void> {
  yield* all(idempotencySql.drop, appNo, key);
}

// The result of a publish as it is stored with its idempotency key.

export function printResult(events: readonly Accepted[]): string {
  const printed = events.map(({ id, deliveries, skipped }) => {
    const more = skipped === undefined ? [] : [skippedMembers(skipped)];
    return [id, deliveries ?? null, ...more];
  });
  return JSON.stringify(printed);
}

export function readResult(result: string): Accepted[] {
  const results: unknown = JSON.parse(result);
  if (!Array.isArray(results)) throw noResult(result);
  return results.map((one: unknown) => {
    if (!Array.isArray(one)) throw noResult(result);
    const [id, deliveries, skipped]: readonly unknown[] = one;
    if (typeof id !== 'string') throw noResult(result);
    const accepted = { id, deliveries: typeof deliveries === 'number' ? deliveries : undefined };
    return skipped === undefined ? accepted : { ...accepted, skipped: toSkipped(skipped) };
  });
}

function noResult(result: string): AssertionError {
  return new AssertionError({ message: `Cannot answer with ${result}: expected lists` });
}
