// API keys of an app: create, list, rotate with an overlap, revoke. A secret is shown only once.
import { defaultAppName, type App } from '../../core/domain/app.ts';
import { customerScopes, hashKey, makeKey, type Key, type Scope } from '../../core/domain/key.ts';
import { Problem } from '../../core/errors/problem.ts';
import type { NewKey, Page, PageInput } from '../../store/port/store.ts';
import { audited, type Recorded } from '../audit.ts';
import type { Context } from '../context.ts';

/** A key that was just created, with its secret, which is not stored. */
export interface FreshKey {
  key: Key;
  secret: string;
}

export interface KeyInput {
  name: string;
  scopes: readonly Scope[];
  customer?: string | undefined;
  expiresMs: number | undefined;
}

type Owner = Pick<App, 'no'>;
type Deps = Pick<Context, 'world' | 'store' | 'defaultApp'>;

/** Key ids have 47 bits: a collision is rare, and another id is drawn. */
export const drawsMax = 3;

export async function createKey(context: Deps, app: Recorded, input: KeyInput): Promise<FreshKey> {
  if (input.scopes.includes('operator') && app.no !== context.defaultApp.no) {
    const message = `expected none: only keys of the app "${defaultAppName}" can hold "operator"`;
    throw new Problem('missing_scope', `Cannot give a key the scope "operator": ${message}`);
  }
  refuseCustomersScopes(input);
  if (input.expiresMs !== undefined && input.expiresMs <= context.world.nowMs()) {
    const message = 'Cannot create a key that has already expired: expected a time in the future';
    const faults = [{ field: 'body#/expiresAt', message: 'must be in the future' }];
    throw new Problem('invalid_request', message, { faults });
  }
  for (let draws = 0; draws < drawsMax; draws += 1) {
    const { fresh, secret } = drawKey(context, input);
    const audit = audited(app, 'key.created', { object: `rbk_${fresh.id}` });
    const result = await context.store.edit('createKey', { appNo: app.no, key: fresh, audit });
    if (result.kind === 'created') return { key: result.key, secret };
  }
  throw new Problem('internal', 'Cannot generate an unused key id');
}

/** Nothing that these scopes admit is of one customer. */
function refuseCustomersScopes({ customer, scopes }: KeyInput): void {
  const beyond = scopes.filter((scope) => !customerScopes.includes(scope));
  if (customer === undefined || beyond.length === 0) return;
  const found = beyond.map((scope) => `"${scope}"`).join(' and ');
  const message = `has ${found}, expected only ${customerScopes.join(', ')} for a key of a customer`;
  throw new Problem('invalid_request', `Cannot create the key: its scopes ${message}`, {
    faults: [{ field: 'body#/scopes', message }],
  });
}

export async function listKeys({ store }: Deps, app: Owner, page: PageInput): Promise<Page<Key>> {
  return store.read('keys', { appNo: app.no, page });
}

export async function getKey({ store }: Deps, app: Owner, id: string): Promise<Key> {
  const bare = bareId(id);
  const key = bare === undefined ? undefined : await store.read('key', { id: bare });
  if (key === undefined || key.appNo !== app.no) throw notFound(id);
  return key;
}

export async function rotateKey(
  context: Deps,
  app: Recorded,
  { id, overlapMs }: { id: string; overlapMs: number },
): Promise<FreshKey> {
  const bare = bareId(id);
  if (bare === undefined) throw notFound(id);
  const { key: secret } = makeKey(context.world, bare);
  const oldUntilMs = context.world.nowMs() + overlapMs;
  const result = await context.store.edit('rotateKey', {
    appNo: app.no,
    id: bare,
    hash: hashKey(secret),
    oldUntilMs,
    audit: audited(app, 'key.rotated', { object: id }),
  });
  if (result.kind === 'not_found') throw notFound(id);
  if (result.kind === 'revoked') {
    throw new Problem(
      'conflict',
      `Cannot rotate key ${id}: it was revoked, create a new one instead`,
    );
  }
  return { key: result.key, secret };
}

export async function revokeKey({ store }: Deps, app: Recorded, id: string): Promise<Key> {
  const bare = bareId(id);
  if (bare === undefined) throw notFound(id);
  const audit = audited(app, 'key.revoked', { object: id });
  const result = await store.edit('revokeKey', { appNo: app.no, id: bare, audit });
  if (result.kind === 'not_found') throw notFound(id);
  return result.key;
}

export function drawKey(
  { world }: Pick<Context, 'world'>,
  { name, scopes, customer, expiresMs }: KeyInput,
): { fresh: NewKey; secret: string } {
  const { id, key: secret } = makeKey(world);
  return { fresh: { id, hash: hashKey(secret), name, scopes, customer, expiresMs }, secret };
}

/** The public id of a key is `rbk_` and eight characters. */
function bareId(id: string): string | undefined {
  return /^rbk_([0-9A-Za-z]{8})$/.exec(id)?.[1];
}

function notFound(id: string): Problem {
  return new Problem('not_found', `There is no key ${JSON.stringify(id.slice(0, 12))}`);
}
