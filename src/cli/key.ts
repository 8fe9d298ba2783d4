// `ringback key`: makes, lists, rotates and revokes keys right in the database, for the moment when no
// key is at hand. While the service runs on SQLite only the API can do the same.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { defaultAppName, type App } from '../core/app.ts';
import { limits } from '../core/limits.ts';
import { isLive, scopes as allScopes, type Key } from '../core/key.ts';
import { createKey, listKeys, revokeKey, rotateKey, type FreshKey } from '../engine/keys.ts';
import { Problem } from '../core/problem.ts';
import { CannotOpenStore } from '../store/cannot-open-store.ts';
import { openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import { CliFailure } from './failure.ts';
import { configOf, readFlags, type Flags } from './flags.ts';
import type { Terminal } from './terminal.ts';

export const keyUsage = `Usage:
  ringback key list   [--app NAME]
  ringback key create --name NAME --scopes ${allScopes.join(',')} [--app NAME]
  ringback key rotate rbk_XXXXXXXX [--app NAME]     the old key works for 24 more hours
  ringback key revoke rbk_XXXXXXXX [--app NAME]
`;

export async function key(args: readonly string[], terminal: Terminal): Promise<void> {
  const flags = readFlags(args, terminal.env, ['app', 'name', 'scopes']);
  const verb = readVerb(flags.positionals[0]);
  const config = configOf(flags.env, terminal.err);
  const { world } = terminal;
  const { database } = config;
  const place = 'url' in database ? 'the database' : `"${fileIn(database.dataDir)}"`;
  if ('dataDir' in database && !existsSync(fileIn(database.dataDir))) {
    throw new CliFailure(`Cannot find ${place}: start the service once, or check --data`);
  }
  const onFatal = (error: Error): void => terminal.err(`${error.message}\n`);
  const store = await openStore({ ...database, world, onFatal }).catch(explain);
  try {
    const app = await findApp(store, flags.own['app'] ?? defaultAppName, place);
    const defaultApp = await findApp(store, defaultAppName, place);
    terminal.out(await run({ verb, ...flags }, { world, store, defaultApp }, app));
  } catch (error) {
    if (error instanceof Problem) throw new CliFailure(error.message, { cause: error });
    throw error;
  } finally {
    await store.close();
  }
}

function fileIn(dataDir: string): string {
  return join(dataDir, 'ringback.db');
}

type Means = Parameters<typeof createKey>[0];

const verbs = ['list', 'create', 'rotate', 'revoke'] as const;
type Verb = (typeof verbs)[number];

function readVerb(name: string | undefined): Verb {
  const verb = verbs.find((known) => known === name);
  if (verb !== undefined) return verb;
  const found = name === undefined ? 'nothing' : `"${name}"`;
  const expected = 'list, create, rotate or revoke';
  throw new CliFailure(
    `Cannot run ringback key: found ${found}, expected ${expected}\n${keyUsage}`,
  );
}

async function run(
  { verb, positionals, own }: Flags & { verb: Verb },
  means: Means,
  app: App,
): Promise<string> {
  const [, id = ''] = positionals;
  switch (verb) {
    case 'list':
      return list(means, app);
    case 'create': {
      const wish = {
        name: own['name'] ?? '',
        scopes: readScopes(own['scopes']),
        expiresMs: undefined,
      };
      if (wish.name === '') throw new CliFailure(`Cannot make a key without --name\n${keyUsage}`);
      return once(await createKey(means, app, wish));
    }
    case 'rotate':
      return once(await rotateKey(means, app, { id, overlapMs: limits.rotationOverlapMs }));
    case 'revoke':
      return `Revoked rbk_${(await revokeKey(means, app, id)).id}.\n`;
  }
}

async function list(means: Means, app: App): Promise<string> {
  const nowMs = means.world.nowMs();
  const lines: string[] = [];
  let after: string | undefined;
  do {
    const page = await listKeys(means, app, { limit: limits.pageItemsMax, after });
    lines.push(...page.items.map((item) => row(item, nowMs)));
    after = page.next;
  } while (after !== undefined);
  return `${lines.join('\n')}\n`;
}

function row(item: Key, nowMs: number): string {
  const state = isLive(item, nowMs)
    ? 'active'
    : item.revokedMs === undefined
      ? 'expired'
      : 'revoked';
  const used =
    item.usedMs === undefined ? 'never used' : `used ${new Date(item.usedMs).toISOString()}`;
  return `rbk_${item.id}  ${state.padEnd(7)}  ${item.scopes.join(',')}  ${used}  ${item.name}`;
}

function once({ secret }: FreshKey): string {
  return `${secret}\nThe key is shown this once.\n`;
}

function readScopes(text: string | undefined): readonly (typeof allScopes)[number][] {
  const names = (text ?? '').split(',').map((name) => name.trim());
  const known = allScopes.filter((scope) => names.includes(scope));
  const stranger = names.find((name) => !allScopes.some((scope) => scope === name));
  if (stranger === undefined) return known;
  throw new CliFailure(`Cannot give scope "${stranger}": expected some of ${allScopes.join(', ')}`);
}

async function findApp(store: Store, name: string, place: string): Promise<App> {
  const app = await store.read('app', { name });
  if (app !== undefined) return app;
  throw new CliFailure(
    `Cannot find app "${name}" in ${place}: start the service once, or check --app`,
  );
}

function explain(error: unknown): never {
  if (!(error instanceof CannotOpenStore)) throw error;
  const hint =
    error.code === 'in_use' ? '\nWhile it runs, use the API: POST /keys (see /docs).' : '';
  throw new CliFailure(error.message + hint, { cause: error });
}
