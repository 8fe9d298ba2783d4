// The real engine and the real SQL, in one process, with a made-up world and a made-up network.
import { join } from 'node:path';
import { loadContract } from '../../src/contract/load.ts';
import { idMaker } from '../../src/core/id.ts';
import { createGuard } from '../../src/egress/guard.ts';
import { parseAllowTargets } from '../../src/egress/policy.ts';
import type { Sender } from '../../src/egress/send.ts';
import { ensureDefaultApp } from '../../src/engine/apps.ts';
import type { Context } from '../../src/engine/context.ts';
import { Keeper, type Retained } from '../../src/engine/keeper.ts';
import { publish } from '../../src/engine/publish.ts';
import { createReach, startDelivering } from '../../src/engine/start-delivering.ts';
import { subscribe } from '../../src/engine/subscribe.ts';
import { storeOver } from '../../src/store/open.ts';
import { openSqlite } from '../../src/store/sqlite/adapter.ts';
import { inProcess } from '../../src/store/sqlite/in-process.ts';
import type { VirtualWorld } from './virtual-world.ts';

const root = join(import.meta.dirname, '..', '..');
const contract = await loadContract(join(root, 'openapi.yaml'));

export const retentionMs = 30 * 24 * 60 * 60 * 1000;

export type FakeSend = Sender['send'];

export interface Engine extends AsyncDisposable {
  context: Context;
  /** Subscribes in the body variant and gives the subscriber id. */
  subscribe(callbackUrl?: string): Promise<string>;
  /** Publishes and gives the bare event id. */
  publish(name?: string): Promise<string>;
  /** What the engine reported as its own failures. */
  errors: unknown[];
  /** What the keeper said that it ended and deleted. */
  retained: Retained[];
}

/** A database that outlives engines. */
export function openDatabase(world: VirtualWorld): ReturnType<typeof openSqlite> {
  const migrationsDir = join(root, 'migrations', 'sqlite');
  return openSqlite({ path: ':memory:', migrationsDir, nowMs: world.nowMs() });
}

export async function startEngine(
  world: VirtualWorld,
  sqlite: ReturnType<typeof openSqlite>,
  send: FakeSend,
): Promise<Engine> {
  const errors: unknown[] = [];
  const retained: Retained[] = [];
  const transport = inProcess(sqlite, { onFatal: (error) => errors.push(error) });
  const store = storeOver({ ...transport, close: async () => undefined }, world);
  const newId = idMaker(world);
  const { app } = await ensureDefaultApp({ world, store, newId }, 'k'.repeat(40));
  const allow = parseAllowTargets('loopback');
  const guard = createGuard({
    policy: { allow: allow.kind === 'allow' ? allow.allow : [], requireHttps: false },
    resolver: { resolve: async () => ({ kind: 'missing' }) },
  });
  const keeper = new Keeper({
    store,
    world,
    retentionMs,
    onError: (error) => errors.push(error),
    onRetained: (counts) => retained.push(counts),
  });
  const reach = createReach(store, () => keeper.wake());
  const ring = [new Uint8Array(32)] as const;
  const { changed } = reach;
  const context: Context = { world, store, guard, newId, ring, defaultApp: app, changed };
  const delivering = await startDelivering(context, {
    contracts: [contract],
    sender: {
      send,
      close: async () => undefined,
      count: () => ({ sending: 0, origins: 0, open: 0, idle: 0 }),
    },
    reach,
    waitsMs: [5_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 36_000_000],
    timeoutMs: 15_000,
    onError: (error) => errors.push(error),
  });
  return {
    context,
    errors,
    retained,
    subscribe: async (callbackUrl = 'http://127.0.0.1:9000/') =>
      subscribeBody(context, callbackUrl),
    publish: async (name = 'order.created') => {
      const payload = Buffer.from('{"message":"hello"}');
      const event = { name, value: { message: 'hello' }, payload, at: 'body#' };
      const call = {
        app,
        contract,
        events: [event],
        subscriberId: undefined,
        idempotency: undefined,
      };
      const [accepted] = await publish(context, call);
      return accepted?.id ?? '';
    },
    [Symbol.asyncDispose]: async () => {
      await delivering[Symbol.asyncDispose]();
      await keeper[Symbol.asyncDispose]();
      await store.close();
    },
  };
}

async function subscribeBody(context: Context, callbackUrl: string): Promise<string> {
  const operation = contract.operations.find((one) => one.operationId === 'subscribeOperation');
  const variants = operation?.role.kind === 'subscribe' ? operation.role.variants : [];
  const variant = variants.find(({ name }) => name === 'body');
  if (operation === undefined || variant === undefined) throw new Error('no variant body');
  const request = { header: new Map(), query: new Map(), path: new Map(), body: { callbackUrl } };
  const answer = await subscribe(context, {
    app: context.defaultApp,
    contract: contract.title,
    operation,
    variant,
    request,
    url: 'http://127.0.0.1/subscribe',
    idempotency: undefined,
  });
  return String(answer.body?.['subscriberId']);
}
