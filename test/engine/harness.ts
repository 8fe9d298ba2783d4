// The real engine and the real SQL in one process, with a simulated world and network.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { withPrefix } from '../../src/core/base/id.ts';
import { loadContract } from '../../src/contract/compile/load.ts';
import { idMaker } from '../../src/core/base/id.ts';
import { sendEachTurn, sendWhenQuiet } from '../../src/core/load/batch-pacer.ts';
import { noQuotas } from '../../src/core/load/quotas.ts';
import { createGuard } from '../../src/egress/guard/guard.ts';
import { parseAllowTargets } from '../../src/egress/guard/allow-list.ts';
import type { Sender } from '../../src/egress/http/send.ts';
import { ensureDefaultApp } from '../../src/engine/access/apps.ts';
import { noChanges } from '../../src/engine/live/changes.ts';
import type { Context } from '../../src/engine/context.ts';
import { Feed } from '../../src/engine/live/feed.ts';
import { createJournal } from '../../src/engine/live/journal.ts';
import { startLiveness, type Liveness } from '../../src/engine/cluster/liveness.ts';
import type { RetentionCounts } from '../../src/engine/upkeep/retention.ts';
import { createQuotas } from '../../src/engine/admission/quotas.ts';
import { publish } from '../../src/engine/publish/publish.ts';
import { createInvalidation, startDelivering } from '../../src/engine/deliver/start-delivering.ts';
import { finalCallbacks } from '../../src/engine/targets/prepared-target.ts';
import { startUpkeep } from '../../src/engine/upkeep/start-upkeep.ts';
import { subscribe } from '../../src/engine/subscribe/subscribe.ts';
import { storeOver } from '../../src/store/open/open.ts';
import { adapterOn, inProcess } from '../../src/store/sqlite/batch/adapter.ts';
import { migratedMemory } from '../store/migrated-memory.ts';
import type { VirtualWorld } from './virtual-world.ts';

const root = join(import.meta.dirname, '..', '..');
const contract = await loadContract(join(root, 'openapi.yaml'));

export const retentionMs = 30 * 24 * 60 * 60 * 1000;

export type FakeSend = Sender['send'];

export interface Engine extends AsyncDisposable {
  context: Context;
  self: Liveness;
  feed: Feed;
  /** Subscribes in the body variant and returns the subscriber id. */
  subscribe(callbackUrl?: string): Promise<string>;
  /** Publishes and returns the bare event id. */
  publish(name?: string): Promise<string>;
  /** What the engine reported as its own failures. */
  errors: unknown[];
  /** What retention reported as ended and deleted. */
  retained: RetentionCounts[];
  /** Subscriptions that were disabled, by their bare ids. */
  disabled: string[];
}

export type Sqlite = ReturnType<typeof adapterOn>;

/** A database that outlives engines. */
export function openDatabase(): Sqlite {
  return adapterOn(migratedMemory());
}

export interface EngineOptions {
  /** Engines then act as nodes of a cluster over one database. */
  isShared?: boolean;
  node?: string;
  /** How far the machine's clock is ahead of the store's, which the nodes share. */
  aheadMs?: () => number;
}

/** How often nodes of a cluster poll for work. */
export const clusterPollMs = 250;

export async function startEngine(
  steady: VirtualWorld,
  sqlite: Sqlite,
  send: FakeSend,
  { isShared = false, node = 'node', aheadMs = () => 0 }: EngineOptions = {},
): Promise<Engine> {
  const world = { ...steady, nowMs: () => steady.nowMs() + aheadMs() };
  const errors: unknown[] = [];
  const retained: RetentionCounts[] = [];
  const disabled: string[] = [];
  const transport = inProcess(sqlite, { onFatal: (error) => errors.push(error) });
  const lasting = { ...transport, close: async () => undefined };
  const alone = storeOver(lasting, steady, { pacer: isShared ? sendWhenQuiet() : sendEachTurn() });
  const store = isShared ? { ...alone, isShared, pollMs: clusterPollMs } : alone;
  const newId = idMaker(steady);
  const { app } = await ensureDefaultApp({ world, store, newId }, 'k'.repeat(40));
  const allow = parseAllowTargets('loopback');
  const guard = createGuard({
    policy: { allow: allow.kind === 'allow' ? allow.allow : [], requireHttps: false },
    resolver: { resolve: async () => ({ kind: 'missing' }) },
  });
  const journal = createJournal();
  const { changes } = journal;
  const onError = (error: unknown): void => void errors.push(error);
  const ended = ({ appNo, id }: { appNo: number; id: string }): void => {
    changed(id, 'ended');
    changes.subscription(appNo, id);
  };
  const upkeep = startUpkeep({
    store,
    world,
    newId,
    changes,
    retentionMs,
    auditRetentionMs: retentionMs,
    finals: finalCallbacks([contract]),
    onError,
    onRetained: (counts) => retained.push(counts),
    onFinal: ended,
    onExpired: ended,
    onReplayed: () => undefined,
  });
  const invalidation = createInvalidation({ store, world }, () => upkeep.ended());
  const ring = [new Uint8Array(32)] as const;
  const { changed } = invalidation;
  const told = {
    changed,
    changes,
    expires: (atMs: number) => upkeep.expires(atMs),
    replayWaits: () => upkeep.replayWaits(),
  };
  const quotas = createQuotas({ world, store, fallback: noQuotas });
  const context = { world, store, guard, newId, quotas, ring, defaultApp: app, ...told };
  const self = await startLiveness({
    world,
    store,
    name: node,
    role: 'all',
    onRescued: () => changes.missed(),
    onError,
  });
  const feed = new Feed({ world, store, journal, self, onError });
  const delivering = startDelivering(context, {
    self,
    contracts: [contract],
    sender: {
      send,
      close: async () => undefined,
      count: () => ({ sending: 0, origins: 0, open: 0, idle: 0 }),
    },
    invalidation,
    waitsMs: [5_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 36_000_000],
    timeoutMs: 15_000,
    onSettled: () => undefined,
    onDisabled: (id) => disabled.push(id),
    onNoticed: () => upkeep.noticed(),
    onError,
  });
  return {
    context,
    self,
    feed,
    errors,
    retained,
    disabled,
    subscribe: async (callbackUrl = 'http://127.0.0.1:9000/') =>
      subscribeBody(context, callbackUrl),
    publish: async (name) => publishOne(context, name),
    [Symbol.asyncDispose]: async () => {
      await delivering[Symbol.asyncDispose]();
      await feed[Symbol.asyncDispose]();
      await self[Symbol.asyncDispose]();
      await upkeep[Symbol.asyncDispose]();
      await store.close();
    },
  };
}

/** Publishes and returns the bare event id. */
export async function publishOne(context: Context, name = 'order.created'): Promise<string> {
  const payload = Buffer.from('{"message":"hello"}');
  const event = { name, value: { message: 'hello' }, payload, at: 'body#' };
  const app = context.defaultApp;
  const whom = { subscriberId: undefined, idempotency: undefined };
  const rules = { contracts: [contract], isLenient: false };
  const call = { app, contract: undefined, events: [event], hops: 0, ...whom };
  const { events } = await publish(context, rules, call);
  return events[0]?.id ?? '';
}

/** The context of a node without a dispatcher: its deliveries are inserted as pending. */
export function apiContext({ context }: Engine, sqlite: Sqlite): Context {
  const transport = inProcess(sqlite, { onFatal: (error) => assert.fail(error) });
  const changed = (): void => undefined; // This node caches nothing of subscriptions.
  const told = { changed, expires: changed, changes: noChanges, replayWaits: changed };
  return { ...context, ...told, store: storeOver(transport, context.world) };
}

async function subscribeBody(context: Context, callbackUrl: string): Promise<string> {
  const operation = contract.operations.find((one) => one.operationId === 'subscribeOperation');
  const variants = operation?.role.kind === 'subscribe' ? operation.role.variants : [];
  const variant = variants.find(({ name }) => name === 'body');
  if (operation === undefined || variant === undefined) throw new Error('no variant body');
  const request = { header: new Map(), query: new Map(), path: new Map(), body: { callbackUrl } };
  const { id } = await subscribe(context, {
    app: context.defaultApp,
    contract: contract.title,
    operation,
    variant,
    request,
    url: 'http://127.0.0.1/subscribe',
    resource: undefined,
    idempotency: undefined,
  });
  assert(id !== undefined, 'the request has a callback URL');
  return withPrefix('sub', id);
}
