// Ends subscriptions at their expiry time, sleeping until the next one. Uses the store's clock, so
// that all nodes agree. Even if it is late, no attempt starts after that time: see deliver/attempt.ts.
import { limits } from '../../core/limits/limits.ts';
import type { Context } from '../context.ts';

type Deps = Pick<Context, 'store' | 'world'> & {
  onExpired: (subscription: { appNo: number; id: string }) => void;
  onError: (error: unknown) => void;
};

export class Expirer {
  readonly #deps: Deps;
  readonly #stop = new AbortController();
  readonly #done: Promise<void>;
  #wake = new AbortController();
  /** When it looks again, by the store's clock. */
  #nextMs = 0;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#done = this.#runLoop();
  }

  /** A subscription expires then, which the last look may not have seen. */
  expires(atMs: number): void {
    if (atMs < this.#nextMs) this.#wake.abort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#done;
  }

  async #runLoop(): Promise<void> {
    const { store, world, onError } = this.#deps;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      // Set before the look, because a later notification may concern what the look did not see.
      this.#wake = new AbortController();
      const either = AbortSignal.any([signal, this.#wake.signal]);
      const lookMs =
        store.nowMs() + (store.isShared ? limits.expiryPollMs : limits.retentionEveryMs);
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

  /** Ends a bounded number; returns the next expiry time. */
  async #step(): Promise<number | undefined> {
    const { store, onExpired } = this.#deps;
    const beforeMs = store.nowMs();
    const { expired, nextMs } = await store.read('expiring', {
      beforeMs,
      limit: limits.expiringMax,
    });
    // In parallel, so that they share a transaction. One failure does not keep `onExpired` from
    // being called for the others.
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
