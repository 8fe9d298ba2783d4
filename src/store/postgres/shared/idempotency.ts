// Stores the idempotency keys of many publishes or subscribes, in the order of the keys: two nodes with the same
// keys lock them in the same order, and the second one finds the answer of the first.
import { limits } from '../../../core/limits/limits.ts';
import type { Row } from '../../sql/row.ts';
import { bytes, integer, text } from '../../sql/row.ts';
import type { Idempotency } from '../../port/store.ts';
import type { EarlierRequest } from '../../verbs/shared/idempotency.ts';
import type { Tx } from '../connection/tx.ts';

export const idempotencyKeysSql = {
  expire: `
    delete from idem using unnest($1::bigint[], $2::bytea[]) as x (app, key)
    where idem.app = x.app and idem.key = x.key and created_ms < $3::bigint`,
  keep: `
    insert into idem (app, key, print, result, created_ms)
    select app, key, print, result, $5::bigint
    from unnest($1::bigint[], $2::bytea[], $3::bytea[], $4::text[]) as x (app, key, print, result)
    order by app, key
    on conflict (app, key) do nothing returning app, key`,
  find: `
    select idem.app, idem.key, print, result
    from idem join unnest($1::bigint[], $2::bytea[]) as x (app, key)
      on idem.app = x.app and idem.key = x.key
    where created_ms >= $3::bigint`,
} as const;

/** An idempotency key is its app's. */
export interface KeyName {
  appNo: number;
  idempotency: Idempotency;
}

export interface Keyed extends KeyName {
  /** Of the call. */
  index: number;
  /** Undefined when the call comes to nothing: then its key is looked up, but not kept. */
  result: string | undefined;
}

type Earlier = Exclude<EarlierRequest, { kind: 'none' }>;

export interface Answer {
  print: Uint8Array;
  result: string;
}

/** Earlier answers, by the index of the call. Of equal keys in one batch the first is stored. */
export async function keepIdempotencyKeys(
  tx: Tx,
  keyed: readonly Keyed[],
  nowMs: number,
): Promise<Map<number, Earlier>> {
  const oldestMs = nowMs - limits.idempotencyKeepMs;
  const ours = await keepFirstIdempotencyKeys(tx, keyed, { nowMs, oldestMs });
  const asked = keyed.filter((one) => !ours.has(keyNameOf(one)));
  const answers = await findIdempotencyKeys(tx, asked, oldestMs);
  const earlier = new Map<number, Earlier>();
  for (const { index, result, ...one } of keyed) {
    const name = keyNameOf(one);
    const answer = answers.get(name);
    const { print } = one.idempotency;
    if (answer !== undefined) {
      const isSame = Buffer.compare(answer.print, print) === 0;
      earlier.set(index, isSame ? { kind: 'same', result: answer.result } : { kind: 'other' });
    } else if (result !== undefined && ours.has(name)) answers.set(name, { print, result });
    else if (result !== undefined) earlier.set(index, { kind: 'other' }); // Deleted in the meantime.
  }
  return earlier;
}

type Kept = KeyName & { result: string };

function firstKept(keyed: readonly Omit<Keyed, 'index'>[]): Kept[] {
  const firsts = new Map<string, Kept>();
  for (const { result, ...one } of keyed) {
    const name = keyNameOf(one);
    if (result !== undefined && !firsts.has(name)) firsts.set(name, { ...one, result });
  }
  return [...firsts.values()];
}

/** Of equal keys the first is kept. Returns the names of keys that were not stored before. */
export async function keepFirstIdempotencyKeys(
  tx: Tx,
  keyed: readonly Omit<Keyed, 'index'>[],
  { nowMs, oldestMs }: { nowMs: number; oldestMs: number },
): Promise<Set<string>> {
  const kept = firstKept(keyed);
  if (kept.length === 0) return new Set();
  const [apps, keys] = keyColumns(kept);
  const [, rows] = await Promise.all([
    tx.query(idempotencyKeysSql.expire, [apps, keys, oldestMs]),
    tx.query(idempotencyKeysSql.keep, [
      apps,
      keys,
      kept.map(({ idempotency: { print } }) => print),
      kept.map(({ result }) => result),
      nowMs,
    ]),
  ]);
  return new Set(rows.map(nameOfRow));
}

/** What was answered before, by the name of the key. */
export async function findIdempotencyKeys(
  tx: Tx,
  asked: readonly KeyName[],
  oldestMs: number,
): Promise<Map<string, Answer>> {
  if (asked.length === 0) return new Map();
  const rows = await tx.query(idempotencyKeysSql.find, [...keyColumns(asked), oldestMs]);
  return new Map(
    rows.map((row) => [
      nameOfRow(row),
      { print: bytes(row, 'print'), result: text(row, 'result') },
    ]),
  );
}

export function keyColumns(keyed: readonly KeyName[]): [number[], Uint8Array[]] {
  return [keyed.map(({ appNo }) => appNo), keyed.map(({ idempotency: { key } }) => key)];
}

export function keyNameOf({ appNo, idempotency }: KeyName): string {
  return keyName(appNo, idempotency.key);
}

function nameOfRow(row: Row): string {
  return keyName(integer(row, 'app'), bytes(row, 'key'));
}

function keyName(appNo: number, key: Uint8Array): string {
  return `${appNo} ${Buffer.from(key).toString('base64')}`;
}
