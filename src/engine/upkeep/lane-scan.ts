// The lane scan counts lanes and subscriptions for the metrics. It walks through all of them in
// bounded steps, so that no statement takes long, then rests for a multiple of the time it took. It
// runs only while metrics are scraped.
import type { World } from '../../core/base/world.ts';
import { limits } from '../../core/limits/limits.ts';
import type {
  LaneCensus,
  LaneSums,
  SubscriptionCensus,
  SubscriptionSums,
} from '../../store/port/statistics-verbs.ts';
import type { Store } from '../../store/port/store.ts';

export interface LaneScan {
  lanes: LaneSums;
  subscriptions: SubscriptionSums;
}

export interface LaneScanner {
  /** The last complete scan. Does not wait for one in progress. */
  last(): LaneScan | undefined;
  /** The running scan, or the last one while the rest lasts, or else a new one. */
  take(): Promise<LaneScan>;
}

export function createLaneScanner(deps: {
  world: Pick<World, 'monotonicMs'>;
  store: Pick<Store, 'read' | 'nowMs'>;
}): LaneScanner {
  const { world, store } = deps;
  let last: LaneScan | undefined;
  let again = 0;
  let inFlight: Promise<LaneScan> | undefined;

  const begin = async (): Promise<LaneScan> => {
    const beganMs = world.monotonicMs();
    try {
      last = { lanes: await countLanes(store), subscriptions: await countSubscriptions(store) };
      return last;
    } finally {
      inFlight = undefined;
      const endedMs = world.monotonicMs();
      again = endedMs + (endedMs - beganMs) * limits.laneScanRestTimes;
    }
  };

  return {
    last: () => last,
    take: async () => {
      if (inFlight !== undefined) return inFlight;
      if (last !== undefined && world.monotonicMs() < again) return last;
      inFlight = begin();
      return inFlight;
    },
  };
}

type Reader = Pick<Store, 'read' | 'nowMs'>;

async function countLanes(store: Reader): Promise<LaneSums> {
  const sums: LaneSums = {
    open: 0,
    held: 0,
    ordered: 0,
    limited: 0,
    broken: 0,
    probing: 0,
    due: 0,
    oldestDueMs: undefined,
    oldestReadyMs: undefined,
  };
  for (let after: number | undefined = 0; after !== undefined;) {
    const dueMost = limits.dueCountedMax - sums.due;
    const asked = { after, nowMs: store.nowMs(), dueMost };
    const piece: LaneCensus = await store.read('laneCensus', asked);
    for (const name of laneCounts) sums[name] += piece[name];
    sums.oldestDueMs = earlier(sums.oldestDueMs, piece.oldestDueMs);
    sums.oldestReadyMs = earlier(sums.oldestReadyMs, piece.oldestReadyMs);
    after = piece.last;
  }
  return sums;
}

const laneCounts = ['open', 'held', 'ordered', 'limited', 'broken', 'probing', 'due'] as const;

async function countSubscriptions(store: Reader): Promise<SubscriptionSums> {
  const sums = { unconfirmed: 0, active: 0, paused: 0, disabled: 0 };
  for (let after: number | undefined = 0; after !== undefined;) {
    const piece: SubscriptionCensus = await store.read('subscriptionCensus', { after });
    for (const name of subscriptionCounts) sums[name] += piece[name];
    after = piece.last;
  }
  return sums;
}

const subscriptionCounts = ['unconfirmed', 'active', 'paused', 'disabled'] as const;

function earlier(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Math.min(one, other);
}
