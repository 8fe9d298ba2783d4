// Apps, the tenants: made with a first key, listed, and the one that the first start makes.
import { defaultAppName, type App } from '../core/app.ts';
import { withoutPrefix } from '../core/id.ts';
import { admits, hashKey, keyIdOf, scopes as allScopes, type Scope } from '../core/key.ts';
import { Problem } from '../core/problem.ts';
import type { NewKey, Page, PageInput } from '../store/store.ts';
import type { Context } from './context.ts';
import { drawKey, drawsMax, type FreshKey } from './keys.ts';

type Means = Pick<Context, 'world' | 'store' | 'newId'>;

export async function createApp(context: Means, name: string): Promise<{ app: App } & FreshKey> {
  for (let draws = 0; draws < drawsMax; draws += 1) {
    const { fresh, secret } = drawKey(context, firstKey(name));
    const result = await context.store.edit('createApp', { id: context.newId(), name, key: fresh });
    if (result.kind === 'created') return { app: result.app, key: result.key, secret };
    if (result.kind === 'name_taken') {
      const message = `Cannot make app ${JSON.stringify(name)}: the name is taken`;
      throw new Problem('conflict', message, { faults: [{ field: 'body#/name', message }] });
    }
  }
  throw new Problem('internal', 'Cannot draw a free key id');
}

export async function getApp({ store }: Context, id: string): Promise<App> {
  const bare = withoutPrefix('app', id);
  const app = bare === undefined ? undefined : await store.read('app', { id: bare });
  if (app === undefined) throw new Problem('not_found', `There is no app ${JSON.stringify(id)}`);
  return app;
}

export async function listApps({ store }: Context, page: PageInput): Promise<Page<App>> {
  return store.read('apps', { page });
}

/** What a start found or made. `secret` is known only if the key was made just now. */
export interface DefaultApp {
  app: App;
  secret: string | undefined;
  /** The key of RINGBACK_API_KEY is there but opens nothing. */
  isChosenKeyDead: boolean;
}

/** Finds the app `default`, or makes it with its first key: the chosen one, else a fresh one. */
export async function ensureDefaultApp(
  context: Means,
  chosenKey: string | undefined,
): Promise<DefaultApp> {
  const app = await context.store.read('app', { name: defaultAppName });
  if (chosenKey === undefined) {
    if (app !== undefined) return { app, secret: undefined, isChosenKeyDead: false };
    const made = await createApp(context, defaultAppName);
    return { app: made.app, secret: made.secret, isChosenKeyDead: false };
  }
  const key = newChosenKey(chosenKey);
  if (app === undefined) {
    const id = context.newId();
    const made = await context.store.edit('createApp', { id, name: defaultAppName, key });
    if (made.kind === 'created')
      return { app: made.app, secret: undefined, isChosenKeyDead: false };
    return ensureDefaultApp(context, chosenKey); // Another node was faster.
  }
  await context.store.edit('createKey', { appNo: app.no, key });
  const known = await context.store.read('key', { id: key.id });
  const isAlive = known !== undefined && admits(known, key.hash, context.world.nowMs());
  return { app, secret: undefined, isChosenKeyDead: !isAlive };
}

function newChosenKey(chosen: string): NewKey {
  const id = keyIdOf(chosen);
  if (id === undefined) throw new TypeError('Cannot use RINGBACK_API_KEY: its checksum is wrong');
  return { ...firstKey(defaultAppName), id, hash: hashKey(chosen), name: 'RINGBACK_API_KEY' };
}

/** The first key of an app can do all that a key of this app can do. */
function firstKey(appName: string): Omit<NewKey, 'id' | 'hash'> {
  const scopes: Scope[] = allScopes.filter((it) => it !== 'operator' || appName === defaultAppName);
  return { name: 'first key', scopes, expiresMs: undefined };
}
