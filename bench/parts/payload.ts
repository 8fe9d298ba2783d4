// What checking payloads against the contract costs a publisher: events per second over HTTP,
// through the real server and store, with and without the checks, in turns within one run. Prints
// medians and their ratio, by wall clock and by CPU of the serving thread, which is the bottleneck.
// Run: node bench/parts/payload.ts
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { pino } from 'pino';
import { eventHandlers } from '../../src/api/handlers/events.ts';
import { mount } from '../../src/api/server/mount.ts';
import { createServer } from '../../src/api/server/server.ts';
import { compileContract } from '../../src/contract/compile/compile.ts';
import type { Contract } from '../../src/contract/model/contract.ts';
import { loadContract } from '../../src/contract/compile/load.ts';
import { checkPayload, matchingCallbacks } from '../../src/contract/request/payload.ts';
import { idMaker } from '../../src/core/base/id.ts';
import { noQuotas } from '../../src/core/load/quotas.ts';
import { realWorld } from '../../src/core/base/world.ts';
import { createGuard } from '../../src/egress/guard/guard.ts';
import { ensureDefaultApp } from '../../src/engine/access/apps.ts';
import { noChanges } from '../../src/engine/live/changes.ts';
import type { Context } from '../../src/engine/context.ts';
import { createIdentifier } from '../../src/engine/access/identify.ts';
import { createQuotas } from '../../src/engine/admission/quotas.ts';
import { openEmbedded } from '../../src/store/open/open.ts';
import { makeOrder, orderSchemas } from './sample-order.ts';
import type { Order } from './payload-client.ts';

const rounds = 31;
const eventsPerRound = 1_000;
const callers = 64;
const key = 'k'.repeat(40);

const world = realWorld();
const newId = idMaker(world);
const dataDir = await mkdtemp(join(tmpdir(), 'ringback-bench-'));
const store = await openEmbedded({
  dataDir,
  world,
  onFatal: (error) => {
    throw error;
  },
});
const { app } = await ensureDefaultApp({ world, store, newId }, key);
const guard = createGuard({
  policy: { allow: [], requireHttps: false },
  resolver: { resolve: async () => ({ kind: 'missing' }) },
});
const ring = [world.randomBytes(32)] as const;
const changed = (): void => undefined;
const told = { changed, changes: noChanges, expires: () => undefined, replayWaits: changed };
const quotas = createQuotas({ world, store, fallback: noQuotas });
const deps = { world, store, newId, guard, quotas, ring };
const context: Context = { ...deps, defaultApp: app, ...told };
const own = await loadContract(join(import.meta.dirname, '..', '..', 'openapi.yaml'));

const checking = compileContract({ path: 'bench.json', root: makeDocument() });
const value = makeOrder();
const names = Array.from({ length: 40 }, (_, at) => `order.kind${at}.created`);
const bodies = names.map((event) => JSON.stringify({ event, payload: value }));
const compared = compileWithAjv();
const { faults } = checkPayload(checking, 'order.kind3.created', value);
if (faults.length > 0) throw new Error(`The payload does not fit: ${JSON.stringify(faults)}`);

const servers = {
  checked: await serve(checking),
  unchecked: await serve({ ...checking, operations: [] }),
};
const client = new Worker(new URL('payload-client.ts', import.meta.url));
for (const warmUp of [servers.checked, servers.unchecked]) await measure(warmUp.url);
const all = { checked: new Array<Rate>(), unchecked: new Array<Rate>() };
for (let round = 0; round < rounds; round += 1) {
  // The second one finds a larger database, so they alternate.
  if (round % 2 === 0) all.checked.push(await measure(servers.checked.url));
  all.unchecked.push(await measure(servers.unchecked.url));
  if (round % 2 === 1) all.checked.push(await measure(servers.checked.url));
}
console.log(`${JSON.stringify(value).length} bytes, 50 callbacks, ${callers} callers`);
for (const [name, rates] of Object.entries(all)) {
  const perSecond = median(rates.map((rate) => rate.perSecond)).toFixed(0);
  const cpu = (1e6 / median(rates.map((rate) => rate.perCpuSecond))).toFixed(1);
  console.log(`${name}: ${perSecond} events/s, ${cpu} µs of CPU each`);
}
const checkUs = cpuUs((at) => checkPayload(checking, names[at % names.length] ?? '', value));
const ajvUs = cpuUs(() => compared(value));
console.log(`one check: ${checkUs.toFixed(2)} µs, by ajv ${ajvUs.toFixed(2)} µs`);
console.log(`ratio: ${ratioOf('perSecond')}`);
console.log(`ratio by CPU: ${ratioOf('perCpuSecond')}`);
await client.terminate();
for (const { close } of Object.values(servers)) await close();
await store.close();
await rm(dataDir, { recursive: true });

/** Our own operations; events are checked against the given contract. */
async function serve(contract: Contract): Promise<{ url: string; close: () => Promise<void> }> {
  const log = pino({ level: 'silent' });
  const { server } = createServer({ world, log, newId, trustProxy: false, tls: undefined });
  const identifier = createIdentifier({ world, store, onTouchError: () => undefined });
  const handlers = eventHandlers(context, { contracts: [contract], isLenient: false });
  const contracts = { prefix: '', management: own, executed: [own], builtIn: own, known: [own] };
  const publicUrl = (): string => 'http://localhost';
  mount(server, { context, identifier, role: 'all', contracts, handlers, publicUrl });
  const url = await server.listen({ host: '127.0.0.1', port: 0 });
  return { url, close: async () => server.close() };
}

interface Rate {
  perSecond: number;
  /** Of the serving thread, which is this one. */
  perCpuSecond: number;
}

async function measure(url: string): Promise<Rate> {
  const order: Order = { url, key, bodies, count: eventsPerRound, callers };
  const startMs = world.monotonicMs();
  const startCpu = process.threadCpuUsage();
  client.postMessage(order);
  const [said] = await once(client, 'message');
  if (said !== 'done') throw new Error(String(said));
  const { user, system } = process.threadCpuUsage(startCpu);
  return {
    perSecond: (eventsPerRound * 1000) / (world.monotonicMs() - startMs),
    perCpuSecond: (eventsPerRound * 1e6) / (user + system),
  };
}

function ratioOf(kind: keyof Rate): string {
  return median(all.checked.map((one, at) => one[kind] / (all.unchecked[at]?.[kind] ?? 1))).toFixed(
    3,
  );
}

/** CPU time of one check, in microseconds. */
function cpuUs(check: (at: number) => unknown): number {
  const count = 50_000;
  const start = process.threadCpuUsage();
  for (let at = 0; at < count; at += 1) check(at);
  const { user, system } = process.threadCpuUsage(start);
  return (user + system) / count;
}

/** The schemas of one event as ajv compiles them: that of the order, and that of each broad pattern. */
function compileWithAjv(): (one: unknown) => boolean {
  const ajv = new Ajv2020({ strict: false, ownProperties: true });
  addFormats.default(ajv);
  const seen = new Set<string>();
  const validate = matchingCallbacks(checking, names[3] ?? '').flatMap(({ payload }) => {
    if (payload === undefined || seen.has(payload.place)) return [];
    seen.add(payload.place);
    return [ajv.compile(payload.schema())];
  });
  return (one) => validate.every((fits) => fits(one));
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}

/** 40 callbacks by name, 5 by prefix, 3 for everything and 2 named by the subscriber. */
function makeDocument(): unknown {
  const events = [
    ...Array.from({ length: 40 }, (_, at) => `order.kind${at}.created`),
    ...Array.from({ length: 5 }, (_, at) => `order.kind${at}.*`),
    ...Array.from({ length: 3 }, () => '*'),
    '{$request.query.event}',
    'order.{$request.query.event}',
  ];
  const callbacks = Object.fromEntries(
    events.map((event, at) => [
      `c${at}`,
      {
        '{$request.query.url}': {
          'x-ringback-event': event,
          post: {
            requestBody: { content: { 'application/json': { schema: schemaFor(at) } } },
            responses: { 200: { description: 'ok' } },
          },
        },
      },
    ]),
  );
  const parameters = ['url', 'event'].map((name) => ({
    name,
    in: 'query',
    schema: { type: 'string' },
  }));
  return {
    openapi: '3.1.0',
    info: { title: 'bench', version: '1' },
    paths: {
      '/hook': { post: { parameters, callbacks, responses: { 201: { description: 'made' } } } },
    },
    components: { schemas: orderSchemas },
  };
}

/** Callbacks by name use the order schema; the others require only what every event has. */
function schemaFor(at: number): unknown {
  if (at < 40) return { $ref: '#/components/schemas/Order' };
  return { type: 'object', required: ['message'], properties: { message: { type: 'string' } } };
}
