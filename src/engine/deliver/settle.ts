// Hands the outcome of a delivery to the store and retries until it is written or the node stops.
import { limits } from '../../core/limits/limits.ts';
import type { World } from '../../core/base/world.ts';
import type { Settled, Settlement } from '../../store/port/delivery-verbs.ts';
import { StoreUnavailable, type Store } from '../../store/port/store.ts';

interface Deps {
  world: Pick<World, 'nowMs' | 'sleep'>;
  store: Pick<Store, 'settle'>;
  onError: (error: unknown) => void;
}

/**
 * No outcome is lost while the store is unavailable; after an abort the next start finds the
 * delivery still leased.
 */
export async function settle(
  deps: Deps,
  settlement: Settlement,
  signal: AbortSignal,
): Promise<Settled | undefined> {
  for (;;) {
    try {
      return await deps.store.settle(settlement);
    } catch (error) {
      deps.onError(error);
      if (!(error instanceof StoreUnavailable)) return giveBack(deps, settlement, signal);
      if (signal.aborted) return undefined;
      await deps.world.sleep(limits.settleAgainMs, signal).catch(() => undefined);
    }
  }
}

/** If an outcome cannot be written, the delivery is released, so that it does not stay leased. */
async function giveBack(
  deps: Deps,
  { event, n, lease, outcome }: Settlement,
  signal: AbortSignal,
): Promise<Settled | undefined> {
  if (outcome.kind === 'released') return undefined;
  const dueMs = deps.world.nowMs() + limits.ownFailureWaitMs;
  const released = { kind: 'released', dueMs } as const;
  return settle(deps, { event, n, lease, outcome: released, attempt: undefined }, signal);
}
