// Apps, which are the tenants: creating one with its first key, listing, and the default app of the
// first start.
import { defaultAppName, type App } from '../../core/domain/app.ts';
import { byService } from '../../core/domain/audit.ts';
import { withoutPrefix, withPrefix } from '../../core/base/id.ts';
import {
  admits,
  hashKey,
  keyIdOf,
  scopes as allScopes,
  type Scope,
} from '../../core/domain/key.ts';
import { Problem } from '../../core/errors/problem.ts';
import type { NewKey, Page, PageInput, QuotaEdits } from '../../store/port/store.ts';
import { audited, type Recorded } from '../audit.ts';
import type { Context } from '../context.ts';
import { drawKey, drawsMax, type FreshKey } from './keys.ts';

type Deps = Pick<Context, 'world' | 'store' | 'newId'>;

type FreshApp = { app: App } & FreshKey;

/** `by`: an operator, in the trail of whose app it is recorded. */
export async function createApp(context: Deps, name: string, by?: Recorded): Promise<FreshApp> {
  const made = await tryCreateApp(context, name, by);
  if (made !== undefined) return made;
  const message = `Cannot create app ${JSON.stringify(name)}: the name is taken`;
  throw new Problem('conflict', message, { faults: [{ field: 'body#/name', message }] });
}

/** Undefined when the name is taken. */
async function tryCreateApp(
  context: Deps,
  name: string,
  by?: Recorded,
): Promise<FreshApp | undefined> {
  for (let draws = 0; draws < drawsMax; draws += 1) {
    const { fresh, secret } = drawKey(context, firstKey(name));
    const id = context.newId();
    const audit = by && audited(by, 'app.created', { object: withPrefix('app', id) });
    const result = await context.store.edit('createApp', { id, name, key: fresh, audit });
    if (result.kind === 'created') return { app: result.app, key: result.key, secret };
    if (result.kind === 'name_taken') return undefined;
  }
  throw new Problem('internal', 'Cannot generate an unused key id');
}

export async function getApp({ store }: Context, id: string): Promise<App> {
  const bare = withoutPrefix('app', id);
  const app = bare === undefined ? undefined : await store.read('app', { id: bare });
  if (app === undefined) throw noSuchApp(id);
  return app;
}

export interface AppEdit {
  name: string | undefined;
  quotas: QuotaEdits;
}

export async function editApp(
  context: Context,
  id: string,
  edit: AppEdit,
  by?: Recorded,
): Promise<App> {
  const app = await getApp(context, id);
  if (edit.name !== undefined && edit.name !== app.name && app.name === defaultAppName) {
    const why = 'the service looks it up by this name when it starts';
    throw new Problem('conflict', `Cannot rename the app "${defaultAppName}": ${why}`);
  }
  const audit = by && audited(by, 'app.edited', { object: id });
  const result = await context.store.edit('editApp', { appNo: app.no, ...edit, audit });
  switch (result.kind) {
    case 'edited':
      return result.app;
    case 'name_taken': {
      const message = `Cannot rename the app to ${JSON.stringify(edit.name)}: the name is taken`;
      throw new Problem('conflict', message, { faults: [{ field: 'body#/name', message }] });
    }
    case 'not_found':
      throw noSuchApp(id);
  }
}

function noSuchApp(id: string): Problem {
  return new Problem('not_found', `There is no app ${JSON.stringify(id)}`);
}

export async function listApps({ store }: Context, page: PageInput): Promise<Page<App>> {
  return store.read('apps', { page });
}

/**
 * The default app that a start found or created. `secret` is set only if the key was just created.
 */
export interface DefaultApp {
  app: App;
  secret: string | undefined;
  /** RINGBACK_API_KEY names an existing key that is revoked, expired or has another secret. */
  isChosenKeyDead: boolean;
}

/**
 * Finds the app `default`, or creates it with its first key: the configured one, or else a
 * generated one. When several nodes start at once, one creates it, and only that one knows the
 * generated key.
 */
export async function ensureDefaultApp(
  context: Deps,
  chosenKey: string | undefined,
): Promise<DefaultApp> {
  const made = await makeDefaultApp(context, chosenKey);
  if (made !== undefined) return made;
  const app = await context.store.read('app', { name: defaultAppName });
  if (app === undefined) throw new Problem('internal', `Cannot create the app "${defaultAppName}"`);
  if (chosenKey === undefined) return { app, secret: undefined, isChosenKeyDead: false };
  const key = newChosenKey(chosenKey);
  const by = { no: app.no, by: byService };
  const audit = audited(by, 'key.created', { object: `rbk_${key.id}` });
  await context.store.edit('createKey', { appNo: app.no, key, audit });
  const known = await context.store.read('key', { id: key.id });
  const isAlive = known !== undefined && admits(known, key.hash, context.world.nowMs());
  return { app, secret: undefined, isChosenKeyDead: !isAlive };
}

/** Undefined when it exists already or another node created it first. */
async function makeDefaultApp(
  context: Deps,
  chosenKey: string | undefined,
): Promise<DefaultApp | undefined> {
  if ((await context.store.read('app', { name: defaultAppName })) !== undefined) return undefined;
  if (chosenKey === undefined) {
    const made = await tryCreateApp(context, defaultAppName);
    return made && { app: made.app, secret: made.secret, isChosenKeyDead: false };
  }
  const id = context.newId();
  const key = newChosenKey(chosenKey);
  const made = await context.store.edit('createApp', { id, name: defaultAppName, key });
  if (made.kind !== 'created') return undefined;
  return { app: made.app, secret: undefined, isChosenKeyDead: false };
}

function newChosenKey(chosen: string): NewKey {
  const id = keyIdOf(chosen);
  if (id === undefined)
    throw new TypeError('Cannot use RINGBACK_API_KEY: its checksum does not match');
  return { ...firstKey(defaultAppName), id, hash: hashKey(chosen), name: 'RINGBACK_API_KEY' };
}

/** The first key of an app has every scope that a key of this app can have. */
function firstKey(appName: string): Omit<NewKey, 'id' | 'hash'> {
  const scopes: Scope[] = allScopes.filter((it) => it !== 'operator' || appName === defaultAppName);
  return { name: 'first key', scopes, expiresMs: undefined };
}
