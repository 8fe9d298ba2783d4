// A node that claims everything it can and settles it at once, as the test says. It works when it is notified and, if
// configured, polls; it counts the reasons.
import type { Leased } from '../../src/core/domain/delivery.ts';
import { limits } from '../../src/core/limits/limits.ts';
import { realWorld } from '../../src/core/base/world.ts';
import type { Offer, Settled, Settlement } from '../../src/store/port/delivery-verbs.ts';
import type { Store } from '../../src/store/port/store.ts';
import { settlementOf } from './settlement.ts';

const world = realWorld();

export interface NodeOptions {
  /** The outcome of a delivery; undefined keeps it leased. By default all are delivered. */
  outcome?: (leased: Leased) => Settlement | undefined;
  /** Fresh deliveries are inserted leased to this node. */
  takesFresh?: boolean;
  /** Claims in each cycle of work. Default: yes. */
  claims?: boolean;
  /** Works when it is notified; otherwise only when the test says so. Default: yes. */
  hears?: boolean;
  /** The polling interval. */
  pollMs?: number;
  room?: number;
}

export interface TestNode extends AsyncDisposable {
  readonly no: number;
  readonly store: Store;
  /** All deliveries that it ever got. */
  readonly taken: Leased[];
  readonly counts: { notified: number; refused: number; settled: number; stale: number };
  /** One cycle of work. */
  work(): Promise<void>;
  /** Resolves when it has got that many in total. */
  until(count: number): Promise<void>;
}

export async function startTestNode(store: Store, options: NodeOptions = {}): Promise<TestNode> {
  const { outcome = delivered, takesFresh = false, claims = true, hears = true } = options;
  const { pollMs, room = 64 } = options;
  const started = { name: 'test', role: 'all', version: '0', aloneHere: false } as const;
  const { node: no } = await store.edit('startNode', started);
  let leases = 0;
  let onWorked = (): void => undefined;
  const offer = (): Offer => {
    leases += 1;
    return {
      lease: no * 2 ** 32 + leases,
      room,
      free: new Map(),
      inFlight: new Map(),
      laneRoom: room,
    };
  };
  const taken: Leased[] = [];
  const counts = { notified: 0, refused: 0, settled: 0, stale: 0 };
  const stop = new AbortController();
  const settling = new Set<Promise<void>>();
  const waiting = new Set<() => void>();
  const settle = async (settlement: Settlement): Promise<void> => {
    for (; !stop.signal.aborted; counts.refused += 1) {
      const answer: Settled | undefined = await store.settle(settlement).catch(() => undefined);
      if (answer !== undefined) {
        counts[answer.kind === 'stale' ? 'stale' : 'settled'] += 1;
        return;
      }
      await world.sleep(limits.commitAskMs, stop.signal).catch(() => undefined);
    }
  };
  const take = (deliveries: readonly Leased[]): void => {
    for (const leased of deliveries) {
      taken.push(leased);
      const settlement = outcome(leased);
      if (settlement === undefined) continue;
      const one = settle(settlement).finally(() => settling.delete(one));
      settling.add(one);
    }
    for (const check of waiting) check();
  };
  // For a lingering lane, or one that another node's clock considers ready slightly earlier.
  const workAt = (ms: number): void => {
    const waitMs = Math.max(ms - world.nowMs(), 1);
    world.sleep(waitMs, stop.signal).then(
      () => store.work(),
      () => undefined,
    );
  };
  store.attach({
    offer: () => (takesFresh ? offer() : undefined),
    take,
    claim: () => (claims ? offer() : undefined),
    fanOut: () => undefined,
    wake: () => {
      counts.notified += 1;
      if (hears) store.work();
    },
    refused: () => onWorked(),
    worked: ({ claimed, readyMs }, asked) => {
      take(claimed);
      if (hears && asked.claim && readyMs !== undefined) workAt(readyMs);
      onWorked();
    },
  });
  const polling = pollMs === undefined ? undefined : poll(store, pollMs, stop.signal);
  return {
    no,
    store,
    taken,
    counts,
    work: async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      onWorked = resolve;
      store.work();
      return promise;
    },
    until: async (count) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const check = (): void => {
        if (taken.length >= count) resolve();
      };
      waiting.add(check);
      check();
      await promise;
      waiting.delete(check);
    },
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await polling;
      await Promise.all(settling);
    },
  };
}

async function poll(store: Store, pollMs: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    store.work();
    await world.sleep(pollMs, signal).catch(() => undefined);
  }
}

function delivered(leased: Leased): Settlement {
  return settlementOf(leased, 'delivered', 0);
}
