// Keys: hashes of API keys and their dates. Whether a key lets anyone in is not decided here.
import { strict as assert } from 'node:assert';
import type { DatabaseSync } from 'node:sqlite';
import type { Key } from '../../core/key.ts';
import { limits } from '../../core/limits.ts';
import { belowCursor } from '../cursor.ts';
import type { NewKey } from '../store.ts';
import { fillPage, rowsFetchedMax } from './page.ts';
import { one, toKey } from './row.ts';
import type { Edit, Read } from './verb.ts';

const select = `
  select key.no, key.id, key.app, app.id as app_id, key.name, scopes, hash, old_hash, old_until_ms,
    key.created_ms, expires_ms, revoked_ms, used_ms
  from key join app on app.no = key.app`;

export const keysSql = {
  insert: `
    insert into key (id, app, name, scopes, hash, created_ms, expires_ms)
    values (:id, :app, :name, :scopes, :hash, :nowMs, :expiresMs)`,
  byId: `${select} where key.id = ?`,
  inApp: `${select} where key.id = ? and key.app = ?`,
  list: `${select} where key.app = ? and key.no < ? order by key.no desc limit ? + 0`,
  rotate: `
    update key set old_hash = hash, old_until_ms = :oldUntilMs, hash = :hash
    where id = :id and app = :app`,
  revoke: 'update key set revoked_ms = :nowMs where id = :id and app = :app',
  touch: 'update key set used_ms = :nowMs where id = :id',
} as const;

export interface InsertKey {
  isTaken(id: string): boolean;
  insert(input: { appNo: number; key: NewKey; nowMs: number }): Key;
}

export function prepareInsertKey(db: DatabaseSync): InsertKey {
  const insert = db.prepare(keysSql.insert);
  const byId = db.prepare(keysSql.byId);
  return {
    isTaken: (id) => byId.get(id) !== undefined,
    insert: ({ appNo, key, nowMs }) => {
      insert.run({
        id: key.id,
        app: appNo,
        name: key.name,
        scopes: key.scopes.join(' '),
        hash: key.hash,
        nowMs,
        expiresMs: key.expiresMs ?? null,
      });
      return toKey(one(byId.get(key.id)));
    },
  };
}

export function prepareCreateKey(db: DatabaseSync): Edit<'createKey'> {
  const keys = prepareInsertKey(db);
  return ({ appNo, key }, { nowMs }) => {
    if (keys.isTaken(key.id)) return { kind: 'key_taken' };
    return { kind: 'created', key: keys.insert({ appNo, key, nowMs }) };
  };
}

export function prepareRotateKey(db: DatabaseSync): Edit<'rotateKey'> {
  const inApp = db.prepare(keysSql.inApp);
  const rotate = db.prepare(keysSql.rotate);
  return ({ appNo, id, hash, oldUntilMs }) => {
    const row = inApp.get(id, appNo);
    if (row === undefined) return { kind: 'not_found' };
    if (toKey(row).revokedMs !== undefined) return { kind: 'revoked' };
    rotate.run({ id, app: appNo, hash, oldUntilMs });
    return { kind: 'rotated', key: toKey(one(inApp.get(id, appNo))) };
  };
}

/** Revoking again keeps the time of the first. */
export function prepareRevokeKey(db: DatabaseSync): Edit<'revokeKey'> {
  const inApp = db.prepare(keysSql.inApp);
  const revoke = db.prepare(keysSql.revoke);
  return ({ appNo, id }, { nowMs }) => {
    const row = inApp.get(id, appNo);
    if (row === undefined) return { kind: 'not_found' };
    const key = toKey(row);
    if (key.revokedMs !== undefined) return { kind: 'revoked', key };
    revoke.run({ id, app: appNo, nowMs });
    return { kind: 'revoked', key: { ...key, revokedMs: nowMs } };
  };
}

export function prepareTouchKeys(db: DatabaseSync): Edit<'touchKeys'> {
  const touch = db.prepare(keysSql.touch);
  return ({ ids }, { nowMs }) => {
    assert(ids.length <= limits.keyCacheEntriesMax, 'Cannot touch so many keys at once');
    for (const id of ids) touch.run({ id, nowMs });
    return { kind: 'touched' };
  };
}

export function prepareKey(db: DatabaseSync): Read<'key'> {
  const byId = db.prepare(keysSql.byId);
  return ({ id }) => {
    const row = byId.get(id);
    return row === undefined ? undefined : toKey(row);
  };
}

export function prepareKeys(db: DatabaseSync): Read<'keys'> {
  const list = db.prepare(keysSql.list);
  return ({ appNo, page: { limit, after } }) => {
    const rows = list.iterate(appNo, belowCursor(after), rowsFetchedMax);
    return fillPage({ rows, limit, toItem: toKey });
  };
}
