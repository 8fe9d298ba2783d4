// Sessions of the console and of portals, and the tickets that create them. Whether one admits a
// caller is decided by the API.
import { strict as assert } from 'node:assert';
import { isLive } from '../../../core/domain/key.ts';
import type { PortalGrant } from '../../../core/domain/session.ts';
import { limits } from '../../../core/limits/limits.ts';
import { bytes, integer, maybe, text, toKey, type Row } from '../../sql/row.ts';
import { all, first } from '../../sql/statement.ts';
import { keysSql } from './keys.ts';
import type { Edit, Read } from '../shared/verb.ts';

export const sessionsSql = {
  create: `
    insert into session (hash, kind, key, key_hash, created_ms, expires_ms, portal)
    select ?1, ?2, no, ?6, ?3, ?4, ?7 from key where id = ?5
    returning hash`,
  // A ticket may be presented several times at once; only the first delete returns the row.
  take: `
    delete from session
    where hash = ?1 and kind = 'ticket' and expires_ms > ?2 and (portal is null) = (?3 = 'console')
    returning (select id from key where key.no = session.key) as key_id, key_hash, portal`,
  prolong: `
    update session set expires_ms = ?2 where hash = ?1 and kind = 'session' and expires_ms < ?2`,
  end: `delete from session where hash = ?1 and kind = 'session' returning hash`,
  // In the same order on every node, so that concurrent deletes wait but cannot deadlock.
  forget: `
    delete from session where hash in
      (select hash from session where expires_ms < ?1 order by expires_ms limit ?2 + 0)
    returning hash`,
  find: `
    select session.hash, key.id as key_id, key_hash, session.created_ms, session.expires_ms, portal
    from session join key on key.no = session.key
    where session.hash = ?1 and kind = 'session'`,
} as const;

export const createSession: Edit<'createSession'> = function* (input, nowMs) {
  const { hash, kind, keyId, keyHash, expiresMs, portal } = input;
  const grant = portal === undefined ? null : JSON.stringify(portal);
  const values = [hash, kind, nowMs, expiresMs, keyId, keyHash, grant] as const;
  const row = yield* first(sessionsSql.create, ...values);
  return { kind: row === undefined ? 'not_found' : 'created' };
};

export const takeTicket: Edit<'takeTicket'> = function* ({ hash, opens }, nowMs) {
  const row = yield* first(sessionsSql.take, hash, nowMs, opens);
  if (row === undefined) return { kind: 'not_found' };
  const keyHash = bytes(row, 'key_hash');
  return { kind: 'taken', keyId: text(row, 'key_id'), keyHash, portal: grantIn(row) };
};

export const prolongSession: Edit<'prolongSession'> = function* ({ hash, expiresMs }) {
  yield* all(sessionsSql.prolong, hash, expiresMs);
  return { kind: 'prolonged' };
};

export const endSession: Edit<'endSession'> = function* ({ hash }) {
  const ended = yield* first(sessionsSql.end, hash);
  return { kind: 'ended', isRepeated: ended === undefined };
};

export const forgetSessions: Edit<'forgetSessions'> = function* ({ beforeMs, limit }) {
  assert(limit >= 1, `Cannot forget ${limit} rows: to SQLite a negative limit means no limit`);
  const gone = yield* all(sessionsSql.forget, beforeMs, limit);
  return { deleted: gone.length };
};

export const session: Read<'session'> = function* ({ hash }) {
  const row = yield* first(sessionsSql.find, hash);
  return (
    row && {
      hash: bytes(row, 'hash'),
      keyId: text(row, 'key_id'),
      keyHash: bytes(row, 'key_hash'),
      createdMs: integer(row, 'created_ms'),
      expiresMs: integer(row, 'expires_ms'),
      portal: grantIn(row),
    }
  );
};

function grantIn(row: Row): PortalGrant | undefined {
  const json = maybe(text, row, 'portal');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by createSession
  return json === undefined ? undefined : (JSON.parse(json) as PortalGrant);
}

export const adminKey: Read<'adminKey'> = function* ({ appNo, nowMs }) {
  let above = 0;
  for (let seen = 0; seen < limits.rowsExaminedMax; seen += limits.searchRowsMin) {
    const rows = yield* all(keysSql.oldest, appNo, above, limits.searchRowsMin);
    const found = rows.map(toKey).find((key) => isLive(key, nowMs) && key.scopes.includes('admin'));
    if (found !== undefined) return { keyId: found.id, keyHash: found.hash };
    const last = rows.at(-1);
    if (last === undefined) return undefined;
    above = integer(last, 'no');
  }
  return undefined;
};
