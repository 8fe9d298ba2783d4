// The keeper tidies up: it deletes what is past its time, in small steps, for as long as it runs.
import { limits } from '../core/limits.ts';
import type { Context } from './context.ts';

type Means = Pick<Context, 'store' | 'world'> & { onError: (error: unknown) => void };

export class Keeper {
  readonly #means: Means;
  readonly #stop = new AbortController();
  readonly #done: Promise<void>;
  #wake = new AbortController();

  constructor(means: Means) {
    this.#means = means;
    this.#done = this.#keepOn();
  }

  /** There is something to do now: a subscription has ended. */
  wake(): void {
    this.#wake.abort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#done;
  }

  async #keepOn(): Promise<void> {
    const { world, onError } = this.#means;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      this.#wake = new AbortController();
      const either = AbortSignal.any([signal, this.#wake.signal]);
      const isMore = await this.#tidy().catch((error: unknown) => {
        onError(error);
        return false;
      });
      if (isMore) continue;
      await world.sleep(limits.keeperEveryMs, either).catch(() => undefined); // Woken, or stopped.
    }
  }

  /** One step; whether there may be more to do. */
  async #tidy(): Promise<boolean> {
    const { world, store } = this.#means;
    const limit = limits.keeperRowsMax;
    const { isMore } = await store.edit('sweep', { limit });
    const idempotencyBeforeMs = world.nowMs() - limits.idempotencyKeepMs;
    const { deleted } = await store.edit('forget', { idempotencyBeforeMs, limit });
    return isMore || deleted === limit;
  }
}
