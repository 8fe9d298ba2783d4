// The keeper tidies up: it deletes what is past its time, in small steps, for as long as it runs.
import { limits } from '../core/limits.ts';
import type { Context } from './context.ts';

type Means = Pick<Context, 'store' | 'world'> & { onError: (error: unknown) => void };

export class Keeper {
  readonly #stop = new AbortController();
  readonly #done: Promise<void>;

  constructor(means: Means) {
    this.#done = keepOn(means, this.#stop.signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#done;
  }
}

async function keepOn({ store, world, onError }: Means, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const idempotencyBeforeMs = world.nowMs() - limits.idempotencyKeepMs;
      const limit = limits.keeperRowsMax;
      const { deleted } = await store.edit('forget', { idempotencyBeforeMs, limit });
      if (deleted === limit) continue;
    } catch (error) {
      onError(error);
    }
    await world.sleep(limits.keeperEveryMs, signal).catch(() => undefined); // Aborted: we stop.
  }
}
