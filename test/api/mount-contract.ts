// Serves any document on a real socket: compiled and mounted like our own, over a store in memory.
// Operations that are neither subscribe nor unsubscribe answer with the app and key of the caller.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import type { Handlers } from '../../src/api/request/call.ts';
import { mount } from '../../src/api/server/mount.ts';
import { createServer } from '../../src/api/server/server.ts';
import type { Contract } from '../../src/contract/model/contract.ts';
import { loadContract, type LoadOptions } from '../../src/contract/compile/load.ts';
import { idMaker } from '../../src/core/base/id.ts';
import type { Scope } from '../../src/core/domain/key.ts';
import { noQuotas } from '../../src/core/load/quotas.ts';
import { realWorld, type World } from '../../src/core/base/world.ts';
import { createGuard } from '../../src/egress/guard/guard.ts';
import { parseAllowTargets } from '../../src/egress/guard/allow-list.ts';
import { createApp, ensureDefaultApp } from '../../src/engine/access/apps.ts';
import { noChanges } from '../../src/engine/live/changes.ts';
import type { Context } from '../../src/engine/context.ts';
import { createIdentifier } from '../../src/engine/access/identify.ts';
import { createKey } from '../../src/engine/access/keys.ts';
import { createQuotas } from '../../src/engine/admission/quotas.ts';
import type { NodeRole } from '../../src/store/port/node-verbs.ts';
import { memoryStore } from '../store/migrated-memory.ts';
import { fakeResolver } from './harness.ts';

export interface Mounted extends AsyncDisposable {
  url: string;
  contract: Contract;
  context: Context;
  /** The first key of the app `default`, with every scope. */
  key: string;
  appId: string;
  /** A key of the app `default` with these scopes only. */
  keyWith: (...scopes: Scope[]) => Promise<string>;
  newApp: (name: string) => Promise<{ appId: string; key: string }>;
  logged: () => string;
}

export interface MountOptions extends LoadOptions {
  world?: World;
  /** The public URL; by default the address on which the server listens. */
  publicUrl?: string;
  /** Replaces the handlers that answer with the caller. */
  handlers?: Handlers;
  role?: NodeRole;
}

export async function mountContract(
  document: Record<string, unknown>,
  options: MountOptions = {},
): Promise<Mounted> {
  await using cleanup = new AsyncDisposableStack();
  const world = options.world ?? realWorld();
  const contract = await loadDocument(document, options);
  const { context, key } = await openContext(world);
  cleanup.defer(async () => context.store.close());
  const lines: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
  const { server } = createServer({
    log,
    world,
    newId: context.newId,
    trustProxy: false,
    tls: undefined,
  });
  cleanup.defer(async () => server.close());
  const onTouchError = (error: unknown): void => void lines.push(String(error));
  const identifier = createIdentifier({ world, store: context.store, onTouchError });
  let url = '';
  const handlers = options.handlers ?? whoCalls(contract);
  mount(server, {
    context,
    identifier,
    role: options.role ?? 'all',
    contracts: {
      prefix: '',
      management: contract,
      executed: [contract],
      builtIn: contract,
      known: [contract],
    },
    handlers,
    publicUrl: () => options.publicUrl ?? url,
  });
  url = await server.listen({ host: '127.0.0.1', port: 0 });
  const running = cleanup.move();
  return {
    url,
    contract,
    context,
    key,
    appId: `app_${context.defaultApp.id}`,
    keyWith: async (...scopes) => {
      const input = { name: scopes.join(), scopes, expiresMs: undefined };
      return (await createKey(context, context.defaultApp, input)).secret;
    },
    newApp: async (name) => {
      const { app, secret } = await createApp(context, name);
      return { appId: `app_${app.id}`, key: secret };
    },
    logged: () => lines.join(''),
    [Symbol.asyncDispose]: async () => running.disposeAsync(),
  };
}

/** Loads the document from a file, as an operator would. */
export async function loadDocument(
  document: Record<string, unknown>,
  options: LoadOptions = {},
): Promise<Contract> {
  const folder = await mkdtemp(join(tmpdir(), 'ringback-contract-'));
  try {
    const path = join(folder, 'api.json');
    await writeFile(path, JSON.stringify(document));
    return await loadContract(path, options);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function openContext(world: World): Promise<{ context: Context; key: string }> {
  const onFatal = (error: Error): never => {
    throw error;
  };
  const store = memoryStore({ world, onFatal });
  const newId = idMaker(world);
  const { app, secret = '' } = await ensureDefaultApp({ world, store, newId }, undefined);
  const allow = parseAllowTargets('loopback');
  const policy = { allow: allow.kind === 'allow' ? allow.allow : [], requireHttps: false };
  const guard = createGuard({ policy, resolver: fakeResolver({}) });
  const ring = [world.randomBytes(32)] as const;
  const nothing = (): undefined => undefined;
  const told = { changed: nothing, expires: nothing, changes: noChanges, replayWaits: nothing };
  const quotas = createQuotas({ world, store, fallback: noQuotas });
  const deps = { world, store, newId, guard, quotas, ring };
  return { context: { ...deps, defaultApp: app, ...told }, key: secret };
}

function whoCalls({ operations }: Contract): Handlers {
  return Object.fromEntries(
    operations.map(({ operationId }) => [
      operationId,
      async ({ app, key }) => ({
        status: 200,
        body: { app: `app_${app.id}`, key: key === undefined ? null : `rbk_${key.id}` },
      }),
    ]),
  );
}
