// `ringback key`: creates, lists, rotates and revokes keys directly in the database, for when no
// admin key is at hand. While the service runs on SQLite, only the API can do this.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { defaultAppName, type App } from '../../core/domain/app.ts';
import { customerFault, isCustomer } from '../../core/domain/pattern.ts';
import { scopes as allScopes, isLive, type Key, type Scope } from '../../core/domain/key.ts';
import { guess } from '../../core/errors/did-you-mean.ts';
import { Problem } from '../../core/errors/problem.ts';
import { limits } from '../../core/limits/limits.ts';
import {
  createKey,
  listKeys,
  revokeKey,
  rotateKey,
  type FreshKey,
} from '../../engine/access/keys.ts';
import type { Recorded } from '../../engine/audit.ts';
import { openStore } from '../../store/open/open.ts';
import { CannotOpenStore, type Store } from '../../store/port/store.ts';
import type { Invocation } from '../declare/command.ts';
import { configOf } from '../declare/flags.ts';
import { json, paintState, viewOf } from '../service/view.ts';
import { calledWrongly, CliFailure } from '../terminal/failure.ts';
import type { Terminal } from '../terminal/terminal.ts';

export async function key(call: Invocation, terminal: Terminal): Promise<void> {
  const subcommand = readSubcommand(call);
  const config = configOf(call, terminal.err);
  const { world } = terminal;
  const { database } = config;
  const place = 'url' in database ? 'the database' : `"${fileIn(database.dataDir)}"`;
  if ('dataDir' in database && !existsSync(fileIn(database.dataDir))) {
    throw new CliFailure(
      `Cannot find ${place}: no database there. Start the service once to create it, or ` +
        'check --data',
    );
  }
  const onFatal = (error: Error): void => terminal.err(`${error.message}\n`);
  const store = await openStore({ ...database, world, onFatal }).catch(explain);
  try {
    const app = await findApp(store, call.text('app') ?? defaultAppName, place);
    const defaultApp = await findApp(store, defaultAppName, place);
    const done = await run(
      subcommand,
      { world, store, defaultApp },
      { ...app, by: { kind: 'cli' } },
    );
    terminal.out(call.isJson ? json(forPrograms(done)) : forPeople(done, terminal));
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

type Deps = Parameters<typeof createKey>[0];

type Subcommand =
  | { verb: 'list' }
  | { verb: 'create'; name: string; scopes: readonly Scope[]; customer: string | undefined }
  | { verb: 'rotate' | 'revoke'; id: string };

const verbs = ['list', 'create', 'rotate', 'revoke'] as const;

function readSubcommand({ positionals, text }: Invocation): Subcommand {
  const [word = '', id = '', ...more] = positionals;
  const verb = verbs.find((known) => known === word);
  if (verb === undefined) {
    const found = word === '' ? 'nothing' : `"${word}"`;
    throw calledWrongly(`Cannot run ringback key: found ${found}, ${guess(word, verbs)}`);
  }
  const isNamed = verb === 'rotate' || verb === 'revoke';
  const strange = isNamed ? more : positionals.slice(1);
  if (strange.length > 0) {
    throw calledWrongly(`Cannot ${verb} "${strange.join(' ')}": expected one argument at a time`);
  }
  if (isNamed) {
    if (id === '') throw calledWrongly(`Cannot ${verb}: no key given, expected its id, rbk_…`);
    return { verb, id };
  }
  if (verb === 'list') return { verb };
  const name = text('name') ?? '';
  if (name === '') throw calledWrongly('Cannot create a key: --name is missing');
  return {
    verb,
    name,
    scopes: readScopes(text('scopes')),
    customer: readCustomer(text('customer')),
  };
}

function readCustomer(text: string | undefined): string | undefined {
  if (text === undefined || isCustomer(text)) return text;
  throw calledWrongly(`Cannot create a key: --customer ${JSON.stringify(text)} ${customerFault}`);
}

function readScopes(text: string | undefined): readonly Scope[] {
  if (text === undefined) throw calledWrongly('Cannot create a key: --scopes is missing');
  const names = text.split(',').map((name) => name.trim());
  const stranger = names.find((name) => !allScopes.some((scope) => scope === name));
  if (stranger !== undefined) {
    throw calledWrongly(`Cannot grant scope "${stranger}": ${guess(stranger, allScopes)}`);
  }
  return allScopes.filter((scope) => names.includes(scope));
}

async function run(subcommand: Subcommand, deps: Deps, app: App & Recorded): Promise<Done> {
  const nowMs = deps.world.nowMs();
  const overlapMs = limits.rotationOverlapMs;
  switch (subcommand.verb) {
    case 'list':
      return { kind: 'list', keys: await listAll(deps, app), nowMs };
    case 'create': {
      const fresh = await createKey(deps, app, { ...subcommand, expiresMs: undefined });
      return { kind: 'fresh', fresh, nowMs };
    }
    case 'rotate':
      return {
        kind: 'fresh',
        fresh: await rotateKey(deps, app, { ...subcommand, overlapMs }),
        nowMs,
      };
    case 'revoke':
      return { kind: 'revoked', key: await revokeKey(deps, app, subcommand.id), nowMs };
  }
}

async function listAll(deps: Deps, app: App): Promise<Key[]> {
  const keys: Key[] = [];
  let after: string | undefined;
  do {
    const page = await listKeys(deps, app, { limit: limits.pageItemsMax, after });
    keys.push(...page.items);
    after = page.next;
  } while (after !== undefined);
  return keys;
}

async function findApp(store: Store, name: string, place: string): Promise<App> {
  const app = await store.read('app', { name });
  if (app !== undefined) return app;
  throw new CliFailure(
    `Cannot find app "${name}" in ${place}: check --app, or start the service once to ` +
      'create the default app',
  );
}

function explain(error: unknown): never {
  if (!(error instanceof CannotOpenStore)) throw error;
  const hint =
    error.code === 'in_use'
      ? '\nWhile the service runs, use its API instead: POST /keys (see /docs).'
      : '';
  throw new CliFailure(error.message + hint, { cause: error });
}

// Shows keys to people and programs. A secret is shown only by the call that created it.

type Done =
  | { kind: 'list'; keys: readonly Key[]; nowMs: number }
  | { kind: 'fresh'; fresh: FreshKey; nowMs: number }
  | { kind: 'revoked'; key: Key; nowMs: number };

function forPrograms(done: Done): unknown {
  switch (done.kind) {
    case 'list':
      return done.keys.map((one) => factsOf(one, done.nowMs));
    case 'fresh':
      return { ...factsOf(done.fresh.key, done.nowMs), key: done.fresh.secret };
    case 'revoked':
      return factsOf(done.key, done.nowMs);
  }
}

function forPeople(done: Done, terminal: Terminal): string {
  switch (done.kind) {
    case 'list':
      return done.keys.length === 0
        ? 'No keys. Create one: ringback key create --name NAME --scopes SCOPES\n'
        : keyTable(done.keys, done.nowMs, terminal);
    case 'fresh':
      return `${done.fresh.secret}\nStore this key now: it is shown only once.\n`;
    case 'revoked':
      return `Revoked rbk_${done.key.id}.\n`;
  }
}

/** As in the API, with null for absent members. */
function factsOf(item: Key, nowMs: number): Record<string, unknown> {
  const { id, name, scopes, customer, createdMs, expiresMs, revokedMs, usedMs, oldUntilMs } = item;
  return {
    id: `rbk_${id}`,
    name,
    scopes,
    customer: customer ?? null,
    state: stateOf(item, nowMs),
    createdAt: time(createdMs),
    expiresAt: time(expiresMs),
    revokedAt: time(revokedMs),
    lastUsedAt: time(usedMs),
    oldValidUntil: time(oldUntilMs !== undefined && nowMs < oldUntilMs ? oldUntilMs : undefined),
  };
}

function keyTable(keys: readonly Key[], nowMs: number, terminal: Terminal): string {
  const { paint, table, when } = viewOf(terminal);
  return table<Key>(
    [
      { title: 'ID', show: ({ id }) => `rbk_${id}` },
      {
        title: 'STATE',
        show: (item) => stateOf(item, nowMs),
        paint: (item, text) => paintState(paint, stateOf(item, nowMs), text),
        rank: 9,
      },
      { title: 'SCOPES', show: ({ scopes }) => scopes.join(','), rank: 8, shrinksTo: 14 },
      { title: 'CUSTOMER', show: ({ customer }) => customer ?? '', rank: 9, shrinksTo: 12 },
      { title: 'USED', show: ({ usedMs }) => when(time(usedMs)) || 'never', rank: 6 },
      { title: 'NAME', show: ({ name }) => name, rank: 7, shrinksTo: 10 },
    ],
    keys,
  );
}

function stateOf(item: Key, nowMs: number): 'active' | 'expired' | 'revoked' {
  if (isLive(item, nowMs)) return 'active';
  return item.revokedMs === undefined ? 'expired' : 'revoked';
}

function time(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}
