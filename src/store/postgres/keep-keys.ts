// Idempotency keys of many publishes at once, kept in the order of the keys: two nodes with the same
// keys wait for each other in one direction only, and whoever comes second finds the first one's answer.
import { limits } from '../../core/limits.ts';
import { bytes, integer, text } from '../row.ts';
import type { Idempotency } from '../store.ts';
import type { Earlier } from '../verbs/idempotency.ts';
import type { Tx } from './tx.ts';

export const keepKeysSql = {
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
      on idem.app = x.app and idem.key = x.key`,
} as const;

export interface Keyed {
  /** Of the call. */
  index: number;
  appNo: number;
  idempotency: Idempotency;
  result: string;
}

type Before = Exclude<Earlier, { kind: 'none' }>;

/** What was answered before, by the index of the call. Of equal keys in one batch the first is kept. */
export async function keepKeys(
  tx: Tx,
  keyed: readonly Keyed[],
  nowMs: number,
): Promise<Map<number, Before>> {
  const firsts = new Map<string, Keyed>();
  for (const one of keyed) {
    const name = nameOf(one.appNo, one.idempotency.key);
    if (!firsts.has(name)) firsts.set(name, one);
  }
  if (firsts.size === 0) return new Map();
  const kept = [...firsts.values()];
  const apps = kept.map(({ appNo }) => appNo);
  const keys = kept.map(({ idempotency: { key } }) => key);
  const [, ours] = await Promise.all([
    tx.query(keepKeysSql.expire, [apps, keys, nowMs - limits.idempotencyKeepMs]),
    tx.query(keepKeysSql.keep, [
      apps,
      keys,
      kept.map(({ idempotency: { print } }) => print),
      kept.map(({ result }) => result),
      nowMs,
    ]),
  ]);
  const answers = new Map(
    kept.map(({ appNo, idempotency, result }) => [
      nameOf(appNo, idempotency.key),
      { print: idempotency.print, result },
    ]),
  );
  const isOurs = new Set(ours.map((row) => nameOf(integer(row, 'app'), bytes(row, 'key'))));
  if (isOurs.size < kept.length) {
    for (const row of await tx.query(keepKeysSql.find, [apps, keys])) {
      const name = nameOf(integer(row, 'app'), bytes(row, 'key'));
      answers.set(name, { print: bytes(row, 'print'), result: text(row, 'result') });
    }
  }
  return new Map(
    keyed.flatMap((one) => {
      const name = nameOf(one.appNo, one.idempotency.key);
      if (isOurs.has(name) && firsts.get(name) === one) return [];
      const answer = answers.get(name);
      const isSame = answer && Buffer.compare(answer.print, one.idempotency.print) === 0;
      const before: Before =
        isSame === true ? { kind: 'same', result: answer?.result ?? '' } : { kind: 'other' };
      return [[one.index, before] as const];
    }),
  );
}

function nameOf(appNo: number, key: Uint8Array): string {
  return `${appNo} ${Buffer.from(key).toString('base64')}`;
}
