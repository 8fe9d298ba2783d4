// The only wiring: settings and the outside world become a running service. Starting is undone in
// reverse order when something fails half way, and when the service is disposed of.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { guardServer } from './api/admission.ts';
import { readConsole } from './api/console/files.ts';
import { managementHandlers } from './api/handlers.ts';
import { closeServer, localUrl } from './api/listening.ts';
import { mount } from './api/mount.ts';
import { createServer } from './api/server.ts';
import type { Config } from './config.ts';
import { loadContracts, type Contracts } from './contract/contracts.ts';
import type { App } from './core/app.ts';
import { idMaker, withPrefix } from './core/id.ts';
import { limits } from './core/limits.ts';
import type { Tracer } from './core/trace.ts';
import type { World } from './core/world.ts';
import type { DialOptions } from './egress/connect.ts';
import { Deadlines } from './egress/deadlines.ts';
import { createGuard } from './egress/guard.ts';
import { systemResolver, type Resolver } from './egress/resolve.ts';
import { createSender } from './egress/send.ts';
import { createAdmission } from './engine/admission.ts';
import { ensureDefaultApp } from './engine/apps.ts';
import type { Context } from './engine/context.ts';
import { FigureWriter } from './engine/figure-writer.ts';
import { Feed } from './engine/feed.ts';
import { createIdentifier } from './engine/identify.ts';
import { inTime } from './engine/in-time.ts';
import { Intake } from './engine/intake.ts';
import { createJournal, type Journal } from './engine/journal.ts';
import { startLiveness, type Liveness } from './engine/liveness.ts';
import { createMeter, metered, type Meter } from './engine/meter.ts';
import { startMetrics } from './engine/metrics.ts';
import { createQuotas } from './engine/quotas.ts';
import {
  createReach,
  startDelivering,
  type Delivering,
  type Reach,
} from './engine/start-delivering.ts';
import { noTending, startTending } from './engine/start-tending.ts';
import { makeTicket } from './engine/sessions.ts';
import { StreamHub } from './engine/stream.ts';
import { openRing } from './engine/unlock.ts';
import { openStore } from './store/open.ts';

export interface Outside {
  world: World;
  log: Logger;
  resolver?: Resolver;
  /** How connections are made, where a test wants to see them. */
  network?: Pick<DialOptions, 'connector' | 'tls'>;
  /** Collects spans, where somebody wants them. */
  tracer?: Tracer | undefined;
  /** How the store is opened, where a test wants it to fail. */
  openStore?: typeof openStore;
  /** The store is in doubt (a failed fsync, a dead thread): the process must end. */
  onFatal: (error: Error) => void;
}

export interface Service extends AsyncDisposable {
  /** Where it listens, for people on this machine. */
  url: string;
  role: Config['role'];
  contracts: Contracts;
  defaultApp: App;
  /** The first key, if this start made it: there is no second chance to see it. */
  firstKey: string | undefined;
  isChosenKeyDead: boolean;
  /** Signs in to the console, once; undefined when no key may manage the app `default`. */
  signInLink: () => Promise<string | undefined>;
}

export async function startService(config: Config, outside: Outside): Promise<Service> {
  await using cleanup = new AsyncDisposableStack();
  const { log } = outside;
  // Before the store: a first start that fails for a document must not use up the one chance to see
  // the first key.
  const contracts = await loadContracts({
    own: ownContract,
    foreign: config.contract,
    requireAppId: config.requireAppId,
    open: config.metrics === 'open' ? ['getMetrics'] : [],
  });
  const opened = await openContext(config, outside, cleanup);
  const { context, defaultApp, firstKey, isChosenKeyDead } = opened;
  for (const { title, warnings } of contracts.executed) {
    for (const warning of warnings) log.warn({ contract: title, ...warning }, 'contract');
  }
  const self = await startLiveness({
    world: outside.world,
    store: context.store,
    name: config.nodeName,
    role: config.role,
    onRescued: () => context.changes.missed(),
    onError: (err) => log.error({ err }, 'heartbeat failed'),
  });
  cleanup.use(self);
  const deadlines = new Deadlines(outside.world);
  cleanup.defer(() => deadlines.close());
  const feed = new Feed({
    world: outside.world,
    store: inTime(context.store, { deadlines, answerMs: limits.storeAnswerMs }),
    journal: opened.journal,
    self,
    onError: (err) => log.warn({ err }, 'changes not told yet'),
  });
  cleanup.use(feed);
  const parts = { ...opened, config, outside, contracts, self, feed, deadlines };
  const working = config.role === 'api' ? undefined : startWork(parts, cleanup);
  const underWay = (): number => working?.underWay() ?? 0;
  const url = await startServing({ ...parts, underWay }, cleanup);
  const running = cleanup.move();
  return {
    url,
    role: config.role,
    contracts,
    defaultApp,
    firstKey,
    isChosenKeyDead,
    signInLink: async () => {
      const ticket = await makeTicket(context, defaultApp);
      return ticket && `${config.publicUrl ?? url}/console#ticket=${ticket}`;
    },
    [Symbol.asyncDispose]: async () => running.disposeAsync(),
  };
}

export const ownContract = join(import.meta.dirname, '..', 'openapi.yaml');
const consoleFolder = join(import.meta.dirname, '..', 'console', 'dist');

interface Parts {
  config: Config;
  outside: Outside;
  context: Context;
  reach: Reach;
  /** Told when something was noticed that is to be published. */
  noticed: () => void;
  contracts: Contracts;
  self: Liveness;
  feed: Feed;
  deadlines: Deadlines;
  meter: Meter;
}

/** What a worker does: deliver, and take in what was published by SQL. */
function startWork(parts: Parts, cleanup: AsyncDisposableStack): Delivering {
  const { config, outside, context, reach, contracts, self, meter } = parts;
  const { world, log, network } = outside;
  const sender = createSender({ guard: context.guard, world, ...network });
  cleanup.defer(async () => sender.close());
  const delivering = startDelivering(context, {
    self,
    contracts: contracts.known,
    sender,
    reach,
    waitsMs: config.retry,
    timeoutMs: config.timeout,
    log,
    onSettled: (settlement) => meter.settled(settlement, context.store.nowMs()),
    onDisabled: (id) =>
      log.warn(
        { subscription: withPrefix('sub', id) },
        'subscription disabled: its receiver fails',
      ),
    onNoticed: parts.noticed,
    onError: (err) => log.error({ err }, 'delivery put off'),
  });
  cleanup.use(delivering);
  if (!context.store.isShared) return delivering;
  const onError = (err: unknown): void => log.error({ err }, 'intake put off');
  const rules = { contracts: contracts.executed, isLenient: config.lenient };
  const { store, quotas, changes } = context;
  cleanup.use(new Intake({ world, store, quotas, rules, changes, onError }));
  return delivering;
}

/** Listens; gives the URL for people on this machine. Whoever asks here never waits for ever. */
async function startServing(
  parts: Parts & { underWay: () => number },
  cleanup: AsyncDisposableStack,
): Promise<string> {
  const { config, outside, contracts, self, deadlines, meter, underWay } = parts;
  const { world, log } = outside;
  const { store, newId } = parts.context;
  const answering = inTime(store, { deadlines, answerMs: limits.storeAnswerMs });
  const quotas = createQuotas({ world, store: answering, fallback: config.quotas });
  const context = { ...parts.context, store: answering, quotas };
  const onTouchError = (err: unknown): void => log.warn({ err }, 'last use of a key not noted');
  const keys = inTime(store, { deadlines, answerMs: limits.keyAnswerMs });
  const identifier = createIdentifier({ world, store: keys, onTouchError });
  const probed = inTime(store, { deadlines, answerMs: limits.readyAnswerMs });
  const { trustProxy } = config;
  const { tracer } = outside;
  const server = createServer({
    world,
    log,
    tracer,
    newId,
    trustProxy,
    tls: readTls(config),
    onAnswered: meter.answered,
  });
  const admission = createAdmission(world);
  guardServer(server, { admission, contracts, world, newId, log });
  cleanup.defer(async () => closeServer(server, world));
  const hub = new StreamHub({
    world,
    store: context.store,
    feed: parts.feed,
    onError: (err) => log.warn({ err }, 'live view put off'),
  });
  cleanup.use(hub);
  const metrics = startMetrics({
    world,
    store,
    deadlines,
    database: config.database,
    meter,
    self,
    underWay,
    admission,
    streams: () => hub.size,
    onError: (err) => log.warn({ err }, 'metrics of the store not read'),
  });
  cleanup.use(metrics);
  let url = '';
  const publicUrl = (): string => config.publicUrl ?? url;
  mount(server, {
    context,
    identifier,
    role: config.role,
    contracts,
    handlers: managementHandlers({
      context,
      identifier,
      contracts,
      isLenient: config.lenient,
      self,
      probed,
      publicUrl,
      consoleFiles: readConsole(consoleFolder),
      hub,
      metrics: metrics.read,
    }),
    publicUrl,
  });
  await server.listen({ host: config.host, port: config.port });
  url = localUrl(server, { host: config.host, isTls: config.tlsCert !== undefined });
  return url;
}

type First = Pick<Service, 'defaultApp' | 'firstKey' | 'isChosenKeyDead'>;

interface Opened extends Pick<Parts, 'context' | 'reach' | 'noticed'> {
  journal: Journal;
  meter: Meter;
}

async function openContext(
  config: Config,
  outside: Outside,
  cleanup: AsyncDisposableStack,
): Promise<Opened & First> {
  const { world, log, onFatal, resolver } = outside;
  const { database, encryptionKey } = config;
  const open = outside.openStore ?? openStore;
  const meter = createMeter();
  const store = await open({ ...database, world, onFatal, onBatch: meter.batch });
  cleanup.defer(async () => store.close());
  const ring = await openRing({ database, encryptionKey }, store, world);
  // By the store's clock: retention judges an event by its id.
  const newId = idMaker({
    nowMs: () => store.nowMs(),
    randomBytes: (count) => world.randomBytes(count),
  });
  const { app, secret, isChosenKeyDead } = await ensureDefaultApp(
    { world, store, newId },
    config.apiKey,
  );
  const guard = createGuard({ policy: config.policy, resolver: resolver ?? systemResolver() });
  const journal = createJournal();
  const changes = metered(journal.changes, meter);
  // Also where only requests are served: whoever publishes makes deliveries.
  const onFigureError = (err: unknown): void => log.warn({ err }, 'figures not written yet');
  cleanup.use(new FigureWriter({ store, world, onError: onFigureError }));
  const tending =
    config.role === 'api'
      ? noTending
      : startTending({
          store,
          world,
          newId,
          changes,
          retentionMs: config.retention,
          onRetained: (retained) => log.info(retained, 'retention'),
          onExpired: ({ appNo, id }) => {
            changed(id, 'ended');
            changes.subscription(appNo, id);
          },
          onReplayed: (done) => log.info(done, 'replay done'),
          onError: (err, what) => log.warn({ err }, what),
        });
  cleanup.use(tending);
  const reach = createReach({ store, world }, () => tending.ended());
  const { changed } = reach;
  const told = {
    changed,
    changes,
    expires: (atMs: number) => tending.expires(atMs),
    replayWaits: () => tending.replayWaits(),
  };
  const { tracer } = outside;
  const quotas = createQuotas({ world, store, fallback: config.quotas });
  const context = { world, store, guard, newId, quotas, ring, tracer, defaultApp: app, ...told };
  const first = { defaultApp: app, firstKey: secret, isChosenKeyDead };
  return { context, reach, noticed: () => tending.noticed(), journal, meter, ...first };
}

function readTls({ tlsCert, tlsKey }: Config): { cert: string; key: string } | undefined {
  if (tlsCert === undefined || tlsKey === undefined) return undefined;
  return { cert: readFileSync(tlsCert, 'utf8'), key: readFileSync(tlsKey, 'utf8') };
}
