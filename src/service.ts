// The only wiring: settings and the outside world become a running service. Starting is undone in
// reverse order when something fails half way, and when the service is disposed of.
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { managementHandlers } from './api/handlers.ts';
import { mount } from './api/mount.ts';
import { createServer } from './api/server.ts';
import type { Config } from './config.ts';
import { loadContract } from './contract/load.ts';
import type { App } from './core/app.ts';
import { idMaker } from './core/id.ts';
import { limits } from './core/limits.ts';
import type { World } from './core/world.ts';
import type { DialOptions } from './egress/connect.ts';
import { createGuard } from './egress/guard.ts';
import { systemResolver, type Resolver } from './egress/resolve.ts';
import { createSender } from './egress/send.ts';
import { ensureDefaultApp } from './engine/apps.ts';
import type { Context } from './engine/context.ts';
import { createIdentifier } from './engine/identify.ts';
import { Keeper } from './engine/keeper.ts';
import { createReach, startDelivering, type Reach } from './engine/start-delivering.ts';
import { fitsStore } from './engine/unlock.ts';
import { CannotOpenStore } from './store/cannot-open-store.ts';
import { encryptionKeyBytes, readOrMakeKeyFile } from './store/key-file.ts';
import { openStore } from './store/open.ts';

export interface Outside {
  world: World;
  log: Logger;
  resolver?: Resolver;
  /** How connections are made, where a test wants to see them. */
  network?: Pick<DialOptions, 'connector' | 'tls'>;
  /** The store is in doubt (a failed fsync, a dead thread): the process must end. */
  onFatal: (error: Error) => void;
}

export interface Service extends AsyncDisposable {
  /** Where it listens, for people on this machine. */
  url: string;
  defaultApp: App;
  /** The first key, if this start made it: there is no second chance to see it. */
  firstKey: string | undefined;
  isChosenKeyDead: boolean;
}

export async function startService(config: Config, outside: Outside): Promise<Service> {
  await using cleanup = new AsyncDisposableStack();
  const { world, log } = outside;
  const { context, reach, ...first } = await openContext(config, outside, cleanup);
  const contract = await loadContract(contractPath, { requireAppId: config.requireAppId });
  for (const warning of contract.warnings) log.warn(warning, 'contract');
  const sender = createSender({ guard: context.guard, world, ...outside.network });
  cleanup.defer(async () => sender.close());
  const delivering = await startDelivering(context, {
    contracts: [contract],
    sender,
    reach,
    waitsMs: config.retry,
    timeoutMs: config.timeout,
    onError: (err) => log.error({ err }, 'delivery put off'),
  });
  cleanup.use(delivering);
  const onTouchError = (err: unknown): void => log.warn({ err }, 'last use of a key not noted');
  const identifier = createIdentifier({ world, store: context.store, onTouchError });
  const server = createServer({
    world,
    log,
    newId: context.newId,
    trustProxy: config.trustProxy,
    tls: readTls(config),
  });
  cleanup.defer(async () => close(server, world));
  let url = '';
  mount(server, {
    context,
    identifier,
    contracts: [contract],
    handlers: managementHandlers({ context, identifier, contract }),
    publicUrl: () => config.publicUrl ?? url,
  });
  await server.listen({ host: config.host, port: config.port });
  url = localUrl(server, config);
  const running = cleanup.move();
  return { url, ...first, [Symbol.asyncDispose]: async () => running.disposeAsync() };
}

/** Requests under way are finished, but nobody can hold up a stop for ever. */
async function close(server: FastifyInstance, world: World): Promise<void> {
  const closed = new AbortController();
  const giveUp = world.sleep(limits.stopTimeoutMs, closed.signal).then(
    () => server.server.closeAllConnections(),
    () => undefined, // Aborted: all were finished in time.
  );
  await server.close();
  closed.abort();
  await giveUp;
}

const contractPath = join(import.meta.dirname, '..', 'openapi.yaml');

type First = Pick<Service, 'defaultApp' | 'firstKey' | 'isChosenKeyDead'>;

async function openContext(
  config: Config,
  { world, log, onFatal, resolver }: Outside,
  cleanup: AsyncDisposableStack,
): Promise<{ context: Context; reach: Reach } & First> {
  const store = await openStore({ dataDir: config.data, world, onFatal });
  cleanup.defer(async () => store.close());
  // Behind the store's lock, so that no two processes make a key, and one that is refused makes none.
  const needsFile = config.encryptionKey === undefined && config.data !== ':memory:';
  const keyFile = needsFile ? readOrMakeKeyFile(config.data, world) : undefined;
  const ring = config.encryptionKey ?? [keyFile?.key ?? world.randomBytes(encryptionKeyBytes)];
  if (!(await fitsStore({ store, ring, world }))) {
    if (keyFile?.isNew === true) rmSync(keyFile.path);
    throw new CannotOpenStore(
      'failed',
      `Cannot open the secrets in "${config.data}": the encryption key is another one than this ` +
        'database was made with, expected the former RINGBACK_ENCRYPTION_KEY or encryption.key',
    );
  }
  const newId = idMaker(world);
  const { app, secret, isChosenKeyDead } = await ensureDefaultApp(
    { world, store, newId },
    config.apiKey,
  );
  const guard = createGuard({ policy: config.policy, resolver: resolver ?? systemResolver() });
  const keeper = new Keeper({
    store,
    world,
    retentionMs: config.retention,
    onError: (err) => log.warn({ err }, 'keeper'),
    onRetained: (retained) => log.info(retained, 'retention'),
  });
  cleanup.use(keeper);
  const reach = createReach(store, () => keeper.wake());
  const { changed } = reach;
  const context: Context = { world, store, guard, newId, ring, defaultApp: app, changed };
  return { context, reach, defaultApp: app, firstKey: secret, isChosenKeyDead };
}

function readTls({ tlsCert, tlsKey }: Config): { cert: string; key: string } | undefined {
  if (tlsCert === undefined || tlsKey === undefined) return undefined;
  return { cert: readFileSync(tlsCert, 'utf8'), key: readFileSync(tlsKey, 'utf8') };
}

function localUrl(server: FastifyInstance, { host, tlsCert }: Config): string {
  const scheme = tlsCert === undefined ? 'http' : 'https';
  const [address] = server.addresses();
  const isAny = host === '0.0.0.0' || host === '::';
  const name = isAny ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  const port = typeof address === 'object' ? address.port : 0;
  return `${scheme}://${name}:${port}`;
}
