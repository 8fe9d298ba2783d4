// Writes the figures of subscriptions that the store accumulates in memory: every few seconds, so
// that a crash loses little, and at the end, so that a stop loses none.
import { limits } from '../../core/limits/limits.ts';
import type { Context } from '../context.ts';

type Deps = Pick<Context, 'store' | 'world'> & { onError: (error: unknown) => void };

export class StatisticsWriter {
  readonly #deps: Deps;
  readonly #stop = new AbortController();
  readonly #done: Promise<void>;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#done = this.#runLoop();
  }

  /** Everything that makes or settles deliveries must have stopped. */
  async [Symbol.asyncDispose](): Promise<void> {
    const { world } = this.#deps;
    this.#stop.abort();
    // A store that does not answer must not delay the stop.
    const patience = new AbortController();
    const enough = world.sleep(limits.storeAnswerMs, patience.signal).catch(() => undefined);
    await Promise.race([this.#done, enough]);
    patience.abort();
  }

  async #runLoop(): Promise<void> {
    const { world } = this.#deps;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await world.sleep(limits.statisticsEveryMs, signal).catch(() => undefined); // Stopped.
      await this.#writeAll();
    }
  }

  async #writeAll(): Promise<void> {
    const { store, onError } = this.#deps;
    try {
      // Each step writes the oldest rows. The loop is bounded by what memory can hold.
      for (let rows = 0; rows <= limits.pendingStatisticsMax; rows += limits.statisticsRowsMax) {
        const { isMore } = await store.edit('keepStatistics', { limit: limits.statisticsRowsMax });
        if (!isMore) return;
      }
    } catch (error) {
      onError(error);
    }
  }
}
