// Ends subscriptions whose time is over, at that time: it sleeps until the next one's. By the store's
// clock, so that all nodes agree. Late or not, no attempt starts after the time: see deliver.ts.
import { limits } from '../core/limits.ts';
import type { Context } from './context.ts';

type Means = Pick<Context, 'store' | 'world'> & {
  onExpired: (subscription: { appNo: number; id: string }) => void;
  onError: (error: unknown) => void;
};

export class Expirer {
  readonly #means: Means;
  readonly #stop = new AbortController();
  readonly #done: Promise<void>;
  #wake = new AbortController();
  /** When it looks again, by the store's clock. */
  #nextMs = 0;

  constructor(means: Means) {
    this.#means = means;
    this.#done = this.#expireOn();
  }

  /** A subscription will end then, of which it may not know yet. */
  expires(atMs: number): void {
    if (atMs < this.#nextMs) this.#wake.abort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#done;
  }

  async #expireOn(): Promise<void> {
    const { store, world, onError } = this.#means;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      // Before the look: what is told from now on may have come too late for it.
      this.#wake = new AbortController();
      const either = AbortSignal.any([signal, this.#wake.signal]);
      const lookMs = store.nowMs() + (store.isShared ? limits.expiryPollMs : limits.keeperEveryMs);
      this.#nextMs = Infinity;
      const soonestMs = await this.#step().catch((error: unknown) => {
        onError(error);
        return store.nowMs() + limits.expiryAgainMs;
      });
      this.#nextMs = Math.min(soonestMs ?? Infinity, lookMs);
      const restMs = Math.max(this.#nextMs - store.nowMs(), 0);
      if (restMs > 0) await world.sleep(restMs, either).catch(() => undefined);
    }
  }

  /** Ends a bounded number; gives the time of the next one. */
  async #step(): Promise<number | undefined> {
    const { store, onExpired } = this.#means;
    const beforeMs = store.nowMs();
    const { expired, nextMs } = await store.read('expiring', {
      beforeMs,
      limit: limits.expiringMax,
    });
    // Together: they share a transaction. One that cannot be ended keeps no other from being told of.
    const results = await Promise.allSettled(
      expired.map(async (one) => {
        const { kind } = await store.edit('expireSubscription', one);
        if (kind === 'ended') onExpired(one);
      }),
    );
    for (const result of results) if (result.status === 'rejected') throw result.reason;
    return nextMs;
  }
}
