// Handlers of API keys. A secret appears only in the answer to the call that created it.
import { isLive, scopes as allScopes, scopesBeyond, type Key } from '../../core/domain/key.ts';
import { Problem } from '../../core/errors/problem.ts';
import type { Context } from '../../engine/context.ts';
import type { Identifier } from '../../engine/access/identify.ts';
import {
  createKey,
  getKey,
  listKeys,
  revokeKey,
  rotateKey,
  type KeyInput,
} from '../../engine/access/keys.ts';
import type { Call, Handlers } from '../request/call.ts';
import * as fields from '../request/fields.ts';

export function keyHandlers(context: Context, identifier: Identifier): Handlers {
  const show = (key: Key): Record<string, unknown> => showKey(key, context.world.nowMs());
  return {
    listKeys: async ({ app, request }) => {
      const page = await listKeys(context, app, fields.pageInput(request));
      return { status: 200, body: { items: page.items.map(show), nextCursor: page.next ?? null } };
    },
    createKey: async (call) => {
      const input = readKeyInput(call);
      const { key, secret } = await createKey(context, call.app, input);
      call.note({ subjectKey: `rbk_${key.id}` });
      return { status: 201, body: { ...show(key), key: secret } };
    },
    getKey: async ({ app, request }) => {
      const key = await getKey(context, app, fields.pathText(request, 'id'));
      return { status: 200, body: show(key) };
    },
    rotateKey: async ({ app, key: caller, request }) => {
      const id = fields.pathText(request, 'id');
      refuseBeyond(caller, await getKey(context, app, id), `Cannot rotate key ${id}`);
      const rotation = { id, overlapMs: fields.overlapMs(request) };
      const { key, secret } = await rotateKey(context, app, rotation);
      identifier.forget(key.id);
      return { status: 200, body: { ...show(key), key: secret } };
    },
    revokeKey: async ({ app, key: caller, request }) => {
      const id = fields.pathText(request, 'id');
      refuseBeyond(caller, await getKey(context, app, id), `Cannot revoke key ${id}`);
      const key = await revokeKey(context, app, id);
      identifier.forget(key.id);
      return { status: 204 };
    },
  };
}

function readKeyInput({ key: caller, request }: Call): KeyInput {
  const body = fields.bodyFields(request);
  const scopes = allScopes.filter((scope) => fields.list(body, 'scopes').includes(scope));
  refuseBeyond(caller, { scopes }, 'Cannot create the key');
  const expiresMs = fields.optionalInstant(body, 'expiresAt', 'body#/expiresAt');
  const customer = fields.optionalText(body, 'customer');
  return { name: fields.text(body, 'name'), scopes, customer, expiresMs };
}

/**
 * A key may manage only keys whose scopes it holds itself. Scopes never change, so checking them
 * first is safe.
 */
function refuseBeyond(caller: Key | undefined, subject: Pick<Key, 'scopes'>, action: string): void {
  const beyond = scopesBeyond(caller, subject);
  if (beyond.length === 0) return;
  const has = caller?.scopes.join(', ') ?? 'none';
  throw new Problem(
    'missing_scope',
    `${action}: it has the scope ${beyond.map((scope) => `"${scope}"`).join(', ')}, which ` +
      `the calling key does not hold (it holds: ${has}). Call with a key that holds it`,
  );
}

function showKey(key: Key, nowMs: number): Record<string, unknown> {
  const { id, name, scopes, customer, createdMs, expiresMs, revokedMs, usedMs, oldUntilMs } = key;
  const unlive = revokedMs === undefined ? 'expired' : 'revoked';
  const isOverlapping = oldUntilMs !== undefined && nowMs < oldUntilMs;
  return {
    id: `rbk_${id}`,
    name,
    scopes,
    ...(customer === undefined ? {} : { customer }),
    state: isLive(key, nowMs) ? 'active' : unlive,
    createdAt: fields.time(createdMs),
    ...(expiresMs === undefined ? {} : { expiresAt: fields.time(expiresMs) }),
    ...(revokedMs === undefined ? {} : { revokedAt: fields.time(revokedMs) }),
    ...(usedMs === undefined ? {} : { lastUsedAt: fields.time(usedMs) }),
    ...(isOverlapping ? { oldValidUntil: fields.time(oldUntilMs) } : {}),
  };
}
