// Keys: hashes of API keys and their dates. Whether a key admits a caller is decided in
// core/domain/key.ts.
import { strict as assert } from 'node:assert';
import type { Key } from '../../../core/domain/key.ts';
import { limits } from '../../../core/limits/limits.ts';
import { belowCursor } from '../../sql/cursor.ts';
import { toKey } from '../../sql/row.ts';
import type { Script } from '../../sql/statement.ts';
import { all, first, only } from '../../sql/statement.ts';
import type { NewKey } from '../../port/store.ts';
import { pageOf } from '../lists/fill-page.ts';
import type { Edit, Read } from '../shared/verb.ts';

const select = `
  select key.no, key.id, key.app, app.id as app_id, settings, key.name, scopes, customer, hash,
    old_hash, old_until_ms, key.created_ms, expires_ms, revoked_ms, used_ms,
    coalesce((select 1 from event_type where event_type.app = key.app limit 1), 0)
      as has_event_types
  from key join app on app.no = key.app`;

export const keysSql = {
  insert: `
    insert into key (id, app, name, scopes, hash, created_ms, expires_ms, customer)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)`,
  byId: `${select} where key.id = ?1`,
  inApp: `${select} where key.id = ?1 and key.app = ?2`,
  list: `${select} where key.app = ?1 and key.no < ?2 order by key.no desc limit ?3 + 0`,
  oldest: `${select} where key.app = ?1 and key.no > ?2 order by key.no limit ?3 + 0`,
  rotate: `
    update key set old_hash = hash, old_until_ms = ?1, hash = ?2
    where id = ?3 and app = ?4 and revoked_ms is null`,
  // Revoking again keeps the first time.
  revoke: `
    update key set revoked_ms = ?1 where id = ?2 and app = ?3 and revoked_ms is null
    returning id`,
  touch: 'update key set used_ms = ?1 where id = ?2',
} as const;

export function* isKeyTaken(id: string): Script<boolean> {
  return (yield* first(keysSql.byId, id)) !== undefined;
}

export function* insertKey(input: { appNo: number; key: NewKey; nowMs: number }): Script<Key> {
  const { id, name, scopes, hash, expiresMs = null, customer = null } = input.key;
  const scopeList = scopes.join(' ');
  const { appNo, nowMs } = input;
  yield* all(keysSql.insert, id, appNo, name, scopeList, hash, nowMs, expiresMs, customer);
  return toKey(yield* only(keysSql.byId, id));
}

export const createKey: Edit<'createKey'> = function* ({ appNo, key }, nowMs) {
  if (yield* isKeyTaken(key.id)) return { kind: 'key_taken' };
  return { kind: 'created', key: yield* insertKey({ appNo, key, nowMs }) };
};

export const rotateKey: Edit<'rotateKey'> = function* ({ appNo, id, hash, oldUntilMs }) {
  yield* all(keysSql.rotate, oldUntilMs, hash, id, appNo);
  const row = yield* first(keysSql.inApp, id, appNo);
  if (row === undefined) return { kind: 'not_found' };
  const key = toKey(row);
  return key.revokedMs === undefined ? { kind: 'rotated', key } : { kind: 'revoked' };
};

export const revokeKey: Edit<'revokeKey'> = function* ({ appNo, id }, nowMs) {
  const isRepeated = (yield* first(keysSql.revoke, nowMs, id, appNo)) === undefined;
  const row = yield* first(keysSql.inApp, id, appNo);
  return row === undefined
    ? { kind: 'not_found' }
    : { kind: 'revoked', key: toKey(row), isRepeated };
};

export const touchKeys: Edit<'touchKeys'> = function* ({ ids }, nowMs) {
  assert(ids.length <= limits.keyCacheEntriesMax, 'Cannot touch so many keys at once');
  // In the same order on every node, or two of them could deadlock.
  for (const id of ids.toSorted()) yield* all(keysSql.touch, nowMs, id);
  return { kind: 'touched' };
};

export const key: Read<'key'> = function* ({ id }) {
  const row = yield* first(keysSql.byId, id);
  return row === undefined ? undefined : toKey(row);
};

export const keys: Read<'keys'> = function* ({ appNo, page: { limit, after } }) {
  const rows = yield* all(keysSql.list, appNo, belowCursor(after), limit + 1);
  return pageOf(rows, limit, toKey);
};
