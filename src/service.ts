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
import type { World } from './core/world.ts';
import { createGuard } from './egress/guard.ts';
import { systemResolver, type Resolver } from './egress/resolve.ts';
import { ensureDefaultApp } from './engine/apps.ts';
import type { Context } from './engine/context.ts';
import { createIdentifier } from './engine/identify.ts';
import { Keeper } from './engine/keeper.ts';
import { fitsStore } from './engine/unlock.ts';
import { readOrMakeKeyFile } from './store/key-file.ts';
import { openStore } from './store/open.ts';

export interface Outside {
  world: World;
  log: Logger;
  resolver?: Resolver;
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
  const { context, ...first } = await openContext(config, outside, cleanup);
  const contract = await loadContract(contractPath, { requireAppId: config.requireAppId });
  for (const warning of contract.warnings) log.warn(warning, 'contract');
  const onTouchError = (err: unknown): void => log.warn({ err }, 'last use of a key not noted');
  const identifier = createIdentifier({ world, store: context.store, onTouchError });
  const server = createServer({
    world,
    log,
    newId: context.newId,
    trustProxy: config.trustProxy,
    tls: readTls(config),
  });
  cleanup.defer(async () => server.close());
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
  cleanup.use(new Keeper({ ...context, onError: (err) => log.warn({ err }, 'keeper') }));
  const running = cleanup.move();
  return { url, ...first, [Symbol.asyncDispose]: async () => running.disposeAsync() };
}

const contractPath = join(import.meta.dirname, '..', 'openapi.yaml');

type First = Pick<Service, 'defaultApp' | 'firstKey' | 'isChosenKeyDead'>;

async function openContext(
  config: Config,
  { world, onFatal, resolver }: Outside,
  cleanup: AsyncDisposableStack,
): Promise<{ context: Context } & First> {
  const keyFile =
    config.encryptionKey === undefined ? readOrMakeKeyFile(config.data, world) : undefined;
  const ring = config.encryptionKey ?? [keyFile?.key ?? new Uint8Array()];
  const store = await openStore({ dataDir: config.data, world, onFatal });
  cleanup.defer(async () => store.close());
  if (!(await fitsStore({ store, ring, world }))) {
    if (keyFile?.isNew === true) rmSync(keyFile.path);
    throw new Error(
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
  const context: Context = { world, store, guard, newId, ring, defaultApp: app };
  return { context, defaultApp: app, firstKey: secret, isChosenKeyDead };
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
