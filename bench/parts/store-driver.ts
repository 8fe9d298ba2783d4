// Drives a store like the engine, without the engine: callers that publish, and a dispatcher whose
// receivers answer at once. It measures the store alone. For benchmarks only.
import { strict as assert } from 'node:assert';
import { createHash } from 'node:crypto';
import { type Leased, leaseOf } from '../../src/core/domain/delivery.ts';
import { idMaker } from '../../src/core/base/id.ts';
import { limits } from '../../src/core/limits/limits.ts';
import { realWorld } from '../../src/core/base/world.ts';
import type { Offer, Settlement } from '../../src/store/port/delivery-verbs.ts';
import type { Store } from '../../src/store/port/store.ts';

export const world = realWorld();
export const newId = idMaker(world);
export const payload = Buffer.alloc(500, 'x');
export const callers = 256;

export const onFatal = (error: unknown): void => {
  throw error;
};

export type Driven = Pick<Store, 'edit' | 'settle' | 'work' | 'attach'>;

export interface Driver {
  /** Callers publish and wait for the answer, repeatedly; resolves when everything is delivered. */
  publish(count: number, way: 'fresh' | 'claimed'): Promise<void>;
  /** Claims and settles this many pending deliveries. */
  drain(count: number): Promise<void>;
  /**
   * The share of deliveries that were inserted already leased, of all since leases were first
   * offered.
   */
  freshShare(): number;
}

export interface DriverOptions {
  appNo: number;
  lanesInUse: number;
  /** Lanes that have no room on this node. */
  full?: readonly number[];
  /** The node number of the leases. */
  node?: number;
}

export function drive(store: Driven, options: DriverOptions): Driver {
  const { appNo, lanesInUse, full = [], node = 1 } = options;
  const fullLanes = new Map(full.map((lane) => [lane, 0]));
  let leases = 0;
  let inFlight = 0;
  let left = 0;
  let isFresh = false;
  const offered = { fresh: 0, claimed: 0 };
  let done = Promise.withResolvers<void>();
  const offer = (max: number): Offer | undefined => {
    if (inFlight >= max || left === 0) return undefined;
    leases += 1;
    const room = Math.min(max - inFlight, left - inFlight);
    return {
      lease: leaseOf(node, leases),
      room,
      free: fullLanes,
      inFlight: new Map(),
      laneRoom: 128,
    };
  };
  const finishAll = (all: readonly Leased[]): void => {
    inFlight += all.length;
    for (const leased of all) finish(leased).catch(onFatal);
  };
  const finish = async (leased: Leased): Promise<void> => {
    await store.settle(delivered(leased, node));
    inFlight -= 1;
    left -= 1;
    if (left === 0) done.resolve();
    else store.work();
  };
  store.attach({
    offer: () => (isFresh ? offer(limits.windowMax) : undefined),
    take: (fresh) => {
      offered.fresh += fresh.length;
      finishAll(fresh);
      if (left > 0) store.work();
    },
    claim: () => offer(limits.windowClaimedMax),
    fanOut: () => undefined,
    wake: () => undefined,
    refused: () => done.reject(new Error('Cannot measure: the store failed')),
    worked: ({ claimed, readyMs }) => {
      if (isFresh) offered.claimed += claimed.length;
      finishAll(claimed);
      // Lingering lanes are looked at again later; nothing here waits for that.
      if (inFlight === 0 && left > 0 && (readyMs ?? Infinity) <= world.nowMs()) store.work();
    },
  });
  const expect = async (count: number, way: 'fresh' | 'claimed'): Promise<void> => {
    isFresh = way === 'fresh';
    left = count;
    done = Promise.withResolvers();
    return done.promise;
  };
  return {
    publish: async (count, way) => {
      const ended = expect(count, way);
      let unpublished = count;
      await Promise.all(
        Array.from({ length: callers }, async () => {
          while (unpublished > 0) {
            unpublished -= 1;
            await store.edit('publish', {
              appNo,
              contract: 'Ringback',
              events: [{ id: newId(), name: nameOf(unpublished % lanesInUse), payload }],
              audience: { kind: 'everyone' },
              idempotency: undefined,
            });
          }
        }),
      );
      await ended;
    },
    drain: async (count) => {
      const ended = expect(count, 'claimed');
      store.work();
      await ended;
    },
    freshShare: () => offered.fresh / (offered.fresh + offered.claimed),
  };
}

/** The rate per second. */
export async function rateOf(count: number, run: () => Promise<void>): Promise<number> {
  const startMs = world.monotonicMs();
  await run();
  return (count * 1000) / (world.monotonicMs() - startMs);
}

export function delivered({ event, n, lease }: Leased, node: number): Settlement {
  return {
    event,
    n,
    lease,
    outcome: { kind: 'delivered' },
    attempt: {
      node,
      startedMs: world.nowMs(),
      tookMs: 1,
      status: 200,
      error: undefined,
      message: undefined,
      request: { method: 'post', url: 'https://receiver.example/callback' },
      response: { headers: [['server', 'x']], body: Buffer.from('ok'), cut: false },
      warning: undefined,
    },
  };
}

export function nameOf(i: number): string {
  return `order.item.created${i}`;
}

/** Creates an app with subscriptions for one event name each. Returns the app's number. */
export async function fill(store: Pick<Store, 'edit'>, subscriptions: number): Promise<number> {
  const id = newId();
  const hash = createHash('sha256').update(id).digest();
  const key = { id: id.slice(-8), hash, name: 'bench', scopes: ['publish' as const] };
  const input = { id, name: id, key: { ...key, expiresMs: undefined } };
  const made = await store.edit('createApp', input);
  assert(made.kind === 'created');
  const subscribe = async (i: number): Promise<void> => {
    const subscription = {
      id: newId(),
      appNo: made.app.no,
      contract: 'Ringback',
      operation: 'subscribe',
      callbacks: [
        {
          position: 0,
          label: 'myEvent',
          events: [nameOf(i)],
          definition: 'subscribe/myEvent/0',
          method: 'post',
          url: 'https://receiver.example/callback',
          inactive: undefined,
        },
      ],
      secrets: payload.subarray(0, 130),
    };
    await store.edit('subscribe', { subscription, idempotency: undefined });
  };
  for (let from = 0; from < subscriptions; from += callers) {
    const count = Math.min(callers, subscriptions - from);
    await Promise.all(Array.from({ length: count }, async (_, i) => subscribe(from + i)));
  }
  return made.app.no;
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
