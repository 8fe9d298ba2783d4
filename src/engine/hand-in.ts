// Hands in what became of a delivery, until it is written or nobody waits any more.
import { limits } from '../core/limits.ts';
import type { World } from '../core/world.ts';
import type { Settled, Settlement } from '../store/delivery-verbs.ts';
import { StoreUnavailable, type Store } from '../store/store.ts';

interface Means {
  world: Pick<World, 'nowMs' | 'sleep'>;
  store: Pick<Store, 'settle'>;
  onError: (error: unknown) => void;
}

/** A store that is away for a while loses no outcome; one that is closed leaves it to the next start. */
export async function handIn(
  means: Means,
  settlement: Settlement,
  signal: AbortSignal,
): Promise<Settled | undefined> {
  for (;;) {
    try {
      return await means.store.settle(settlement);
    } catch (error) {
      means.onError(error);
      if (!(error instanceof StoreUnavailable)) return giveBack(means, settlement, signal);
      if (signal.aborted) return undefined;
      await means.world.sleep(limits.settleAgainMs, signal).catch(() => undefined);
    }
  }
}

/** An outcome that cannot be written must not hold the delivery: it is tried again. */
async function giveBack(
  means: Means,
  { event, n, lease, outcome }: Settlement,
  signal: AbortSignal,
): Promise<Settled | undefined> {
  if (outcome.kind === 'released') return undefined;
  const dueMs = means.world.nowMs() + limits.ownFailureWaitMs;
  const released = { kind: 'released', dueMs } as const;
  return handIn(means, { event, n, lease, outcome: released, attempt: undefined }, signal);
}
