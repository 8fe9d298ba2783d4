// The only wiring: settings and the external world become a running service. What was started is
// stopped in reverse order when a start fails half way, and when the service is disposed of.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { admitRequests, type RequestAdmission } from './api/server/refuse-overload.ts';
import { serveDirectly } from './api/direct/serve.ts';
import { createGateway, type GatewayDeps } from './api/gateway/gateway.ts';
import { openUpstream, type Upstream } from './api/gateway/relay.ts';
import { readConsole, readLogo } from './api/console/files.ts';
import { managementHandlers } from './api/handlers/handlers.ts';
import type { PortalSettings } from './api/handlers/portal.ts';
import { closeServer, createServer, localUrl, type Server } from './api/server/server.ts';
import { mount } from './api/server/mount.ts';
import type { Config } from './config.ts';
import { createPages } from './api/pages/pages.ts';
import {
  acceptedContracts,
  checkContracts,
  type CheckedContracts,
} from './contract/report/check-contracts.ts';
import { withoutPrefix, withPrefix } from './core/base/id.ts';
import type { App } from './core/domain/app.ts';
import { Problem } from './core/errors/problem.ts';
import { limits } from './core/limits/limits.ts';
import { packageFolder } from './core/base/package.ts';
import { Deadlines } from './egress/http/deadlines.ts';
import { createSender } from './egress/http/send.ts';
import { createAdmission, type Admission } from './engine/admission/admission.ts';
import { Feed } from './engine/live/feed.ts';
import { createIdentifier } from './engine/access/identify.ts';
import { withStoreTimeout } from './engine/store-timeout.ts';
import { createEventTypes, type EventTypes } from './engine/publish/event-types.ts';
import { SqlInbox } from './engine/publish/sql-inbox.ts';
import { startLiveness, type Liveness } from './engine/cluster/liveness.ts';
import { startMetrics, type Metrics } from './engine/telemetry/metrics.ts';
import { createQuotas } from './engine/admission/quotas.ts';
import { startDelivering, type Delivering } from './engine/deliver/start-delivering.ts';
import { makeTicket } from './engine/access/sessions.ts';
import { StreamHub } from './engine/live/stream.ts';
import { contractFiles } from './service/contract-files.ts';
import { openContext, type Opened } from './service/open-context.ts';
import type { ExternalDeps } from './service/external-deps.ts';

type First = Pick<Opened, 'defaultApp' | 'firstKey' | 'isChosenKeyDead'>;

export interface Service extends AsyncDisposable, First {
  /** The URL for people on this machine. */
  url: string;
  /** The same, with the prefix of the management API. */
  manageUrl: string;
  role: Config['role'];
  contracts: CheckedContracts;
  /** A one-time sign-in link to the console; undefined when no key may manage the app `default`. */
  signInLink: () => Promise<string | undefined>;
}

export async function startService(config: Config, external: ExternalDeps): Promise<Service> {
  await using cleanup = new AsyncDisposableStack();
  const { log } = external;
  // Before the store: the first key is shown only once, so a first start must not fail because of a
  // document after creating it.
  const contracts = acceptedContracts(await checkContracts(contractFiles(config)));
  const opened = await openContext({ config, contracts }, external, cleanup);
  const { context, defaultApp, firstKey, isChosenKeyDead } = opened;
  for (const { title, warnings } of contracts.executed) {
    for (const warning of warnings) log.warn({ contract: title, ...warning }, 'contract');
  }
  for (const { file, cannotRun } of contracts.verdicts.filter((one) => one.kind === 'loaded')) {
    for (const reason of cannotRun) log.warn({ file, reason }, 'operation cannot run');
  }
  const self = await startLiveness({
    world: external.world,
    store: context.store,
    name: config.nodeName,
    role: config.role,
    onRescued: () => context.changes.missed(),
    onError: (err) => log.error({ err }, 'heartbeat failed'),
  });
  cleanup.use(self);
  const deadlines = new Deadlines(external.world);
  cleanup.defer(() => deadlines.close());
  const feed = new Feed({
    world: external.world,
    store: withStoreTimeout(context.store, { deadlines, answerMs: config.storeTimeout }),
    journal: opened.journal,
    self,
    onError: (err) => log.warn({ err }, 'change feed not written, will retry'),
  });
  cleanup.use(feed);
  const { builtIn: contract } = contracts;
  const types =
    contract &&
    createEventTypes({
      world: external.world,
      store: withStoreTimeout(context.store, { deadlines, answerMs: config.storeTimeout }),
      contract,
      contracts: contracts.executed,
    });
  const parts = { ...opened, config, external, contracts, types, self, feed, deadlines };
  const working = config.role === 'api' ? undefined : startWork(parts, cleanup);
  const inFlight = (): number => working?.inFlight() ?? 0;
  const url = await startServing({ ...parts, inFlight }, cleanup);
  const running = cleanup.move();
  return {
    url,
    manageUrl: url + config.managePrefix,
    role: config.role,
    contracts,
    defaultApp,
    firstKey,
    isChosenKeyDead,
    signInLink: async () => {
      const ticket = await makeTicket(context, defaultApp);
      return ticket && `${config.publicUrl ?? url}${config.managePrefix}/console#ticket=${ticket}`;
    },
    [Symbol.asyncDispose]: async () => running.disposeAsync(),
  };
}

const consoleFolder = join(packageFolder, 'console', 'dist');

interface Parts extends Opened {
  config: Config;
  external: ExternalDeps;
  contracts: CheckedContracts;
  /** Undefined if apps cannot declare any. */
  types: EventTypes | undefined;
  self: Liveness;
  feed: Feed;
  deadlines: Deadlines;
}

/** The work of a worker: deliver, and take in events published by SQL. */
function startWork(parts: Parts, cleanup: AsyncDisposableStack): Delivering {
  const { config, external, context, invalidation, contracts, self, meter } = parts;
  const { world, log, network } = external;
  const sender = createSender({ guard: context.guard, world, ...network });
  cleanup.defer(async () => sender.close());
  const delivering = startDelivering(context, {
    self,
    contracts: contracts.known,
    sender,
    invalidation,
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
    onError: (err) => log.error({ err }, 'deliveries postponed'),
  });
  cleanup.use(delivering);
  if (!context.store.isShared) return delivering;
  const onError = (err: unknown): void => log.error({ err }, 'intake postponed');
  const rules = { contracts: contracts.executed, isLenient: config.lenient, types: parts.types };
  cleanup.use(new SqlInbox({ ...context, world, rules, onError }));
  return delivering;
}

interface ServingParts extends Parts {
  /** Deliveries in flight on this node. */
  inFlight: () => number;
}

/** Of the time that a request may wait for the store, the lookup of its key gets a share. */
function keyTimeout({ storeTimeout }: Config): number {
  return Math.round(storeTimeout * limits.keyTimeoutShare);
}

/**
 * Listens and returns the URL for people on this machine. Store calls of requests have a timeout.
 */
async function startServing(parts: ServingParts, cleanup: AsyncDisposableStack): Promise<string> {
  const { config, external, contracts, self, deadlines } = parts;
  const { world, log } = external;
  const { store } = parts.context;
  const upstream = await openUpstreamOf(config);
  const app = await upstreamAppOf(parts);
  cleanup.use(upstream); // Closed after the server, which still answers what is in progress.
  const { server, connections, admission, requestAdmission } = createAdmittingServer(parts);
  cleanup.defer(async () => closeServer({ server, connections }, world));
  const answering = withStoreTimeout(store, {
    deadlines,
    answerMs: config.storeTimeout,
    onChanged: { monotonicMs: () => world.monotonicMs(), changed: (ms) => admission.changed(ms) },
  });
  const quotas = createQuotas({ world, store: answering, fallback: config.quotas });
  const context = { ...parts.context, store: answering, quotas };
  const onTouchError = (err: unknown): void => log.warn({ err }, 'last use of a key not recorded');
  const keys = withStoreTimeout(store, { deadlines, answerMs: keyTimeout(config) });
  const identifier = createIdentifier({ world, store: keys, onTouchError });
  const probed = withStoreTimeout(store, { deadlines, answerMs: limits.readyAnswerMs });
  const hub = new StreamHub({
    world,
    store: context.store,
    feed: parts.feed,
    onError: (err) => log.warn({ err }, 'live view postponed'),
  });
  cleanup.use(hub);
  const metrics = startMeasuring(parts, { admission, hub });
  cleanup.use(metrics);
  const pages = cleanup.use(createPages(contracts));
  let url = '';
  const publicUrl = (): string => config.publicUrl ?? url;
  const served = mount(server, {
    context,
    identifier,
    role: config.role,
    contracts,
    handlers: managementHandlers({
      context,
      identifier,
      contracts,
      pages,
      isLenient: config.lenient,
      types: parts.types,
      self,
      probed,
      failures: parts.failures,
      publicUrl,
      consoleFiles: readConsole(consoleFolder, config.managePrefix),
      portal: portalSettings(config),
      hub,
      metrics: metrics.read,
    }),
    publicUrl,
  });
  const own = { context, identifier, publicUrl, app };
  passOn(parts, { ...own, server, requestAdmission, upstream });
  if (config.fastPath && config.tlsCert === undefined) {
    const { newId } = context;
    const { logFact, tracer } = external;
    const { answered: onAnswered } = parts.meter;
    const logging = { world, log, logFact, tracer, onAnswered };
    serveDirectly(server, { ...logging, newId, requestAdmission, connections, served });
  }
  // Otherwise the server would listen on every address of that name, with limits on only one.
  const host = config.host === 'localhost' ? '127.0.0.1' : config.host;
  await server.listen({ host, port: config.port });
  url = localUrl(server, { host: config.host, isTls: config.tlsCert !== undefined });
  return url;
}

function portalSettings(config: Config): PortalSettings {
  const { portalName: name, portalAccent: accent, portalLogo, portalOrigins: origins } = config;
  return {
    name,
    accent,
    logo: portalLogo === undefined ? undefined : readLogo(portalLogo),
    origins,
  };
}

/** With an upstream, requests that are not for Ringback itself go there. */
async function openUpstreamOf(config: Config): Promise<Upstream | undefined> {
  const { upstream } = config;
  return upstream !== undefined && isGateway(config) ? openUpstream(upstream) : undefined;
}

/** Whose subscriptions are made by requests for the API that carry no key. */
async function upstreamAppOf({ config, context, defaultApp }: ServingParts): Promise<App> {
  const { upstream, upstreamApp } = config;
  if (upstream === undefined || upstreamApp === undefined) return defaultApp;
  const id = withoutPrefix('app', upstreamApp) ?? '';
  const app = await context.store.read('app', { id });
  if (app !== undefined) return app;
  const name = JSON.stringify(upstreamApp);
  throw new Problem('not_found', `Cannot use RINGBACK_UPSTREAM_APP ${name}: there is no such app`);
}

interface PassingOn extends Pick<GatewayDeps, 'app' | 'context' | 'identifier' | 'publicUrl'> {
  server: Server['server'];
  requestAdmission: RequestAdmission;
  upstream: Upstream | undefined;
}

function passOn(
  { config, external, contracts, deadlines, meter }: ServingParts,
  { server, requestAdmission, upstream, ...own }: PassingOn,
): void {
  if (upstream === undefined) return;
  const { world, log, logFact, tracer } = external;
  const { trustProxy, upstreamTimeout: timeoutMs, storeTimeout: storeTimeoutMs } = config;
  const { upstreamAuth: auth, upstreamValidate: validate, upstreamWhenDown: whenDown } = config;
  const gateway = createGateway(server, {
    ...own,
    world,
    log,
    logFact,
    tracer,
    onAnswered: meter.answered,
    upstream,
    auth,
    validate,
    whenDown,
    meter,
    timeoutMs,
    storeTimeoutMs,
    deadlines,
    repeated: { count: 0 },
    contracts,
    trustProxy,
  });
  requestAdmission.passOn(gateway);
}

function isGateway({ upstream, role }: Config): boolean {
  return upstream !== undefined && role !== 'worker';
}

/** Creates the server, which refuses requests when it is overloaded. */
function createAdmittingServer({ config, external, context, contracts, meter }: Parts): Server & {
  admission: Admission;
  requestAdmission: RequestAdmission;
} {
  const { world, log, logFact, tracer } = external;
  const { newId } = context;
  const { trustProxy } = config;
  const { answered: onAnswered } = meter;
  const tls = readTls(config);
  const logging = { world, log, logFact, tracer, onAnswered };
  const options = { ...logging, newId, trustProxy, tls, isGateway: isGateway(config) };
  const { server, connections } = createServer(options);
  const admission = createAdmission(world);
  const requestAdmission = admitRequests(server, {
    admission,
    contracts,
    world,
    newId,
    log,
    onAnswered,
  });
  return { server, connections, admission, requestAdmission };
}

/** Starts the metrics that an operator can scrape. */
function startMeasuring(
  { config, external, context, deadlines, meter, self, inFlight }: ServingParts,
  { admission, hub }: { admission: Admission; hub: StreamHub },
): Metrics {
  const { world, log } = external;
  return startMetrics({
    world,
    store: context.store,
    deadlines,
    database: config.database,
    meter,
    self,
    inFlight,
    streams: () => hub.size,
    admission: () => admission.statistics(),
    onError: (err) => log.warn({ err }, 'store metrics not read'),
  });
}

function readTls({ tlsCert, tlsKey }: Config): { cert: string; key: string } | undefined {
  if (tlsCert === undefined || tlsKey === undefined) return undefined;
  return { cert: readFileSync(tlsCert, 'utf8'), key: readFileSync(tlsKey, 'utf8') };
}
