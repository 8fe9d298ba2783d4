// The keeper tidies up: it ends and deletes what is past its time, in small steps, for as long as it
// runs. It never takes more than half of the store's time.
import { limits } from '../core/limits.ts';
import type { EditInput } from '../store/store.ts';
import type { Context } from './context.ts';

type Means = Pick<Context, 'store' | 'world'> & {
  /** How long events and their history are kept. */
  retentionMs: number;
  onError: (error: unknown) => void;
  /** Something was past its retention: told once for all steps of a round, or every minute. */
  onRetained: (retained: Retained) => void;
  /** Deliveries have ended that nobody names: told once for all steps of a round. */
  onEnded: () => void;
};

export interface Retained {
  /** Deliveries that were still waiting, and are dead now. */
  expired: number;
  /** Rows, of whatever kind. */
  deleted: number;
}

export class Keeper {
  readonly #means: Means;
  readonly #stop = new AbortController();
  readonly #done: Promise<void>;
  #wake = new AbortController();
  #retained: Retained = { expired: 0, deleted: 0 };
  #cancelled = 0;

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
    const { signal } = this.#stop;
    while (!signal.aborted) {
      this.#wake = new AbortController();
      const either = AbortSignal.any([signal, this.#wake.signal]);
      const isTidy = await this.#round();
      this.#tell();
      if (isTidy) await this.#pause(either);
    }
  }

  /** Step after step, until there is nothing to do or a minute is over; whether all is tidy. */
  async #round(): Promise<boolean> {
    const { world } = this.#means;
    const { signal } = this.#stop;
    const untilMs = world.monotonicMs() + limits.keeperEveryMs;
    for (;;) {
      const beganMs = world.monotonicMs();
      const isMore = await this.#tidy();
      if (!isMore) return true;
      const endedMs = world.monotonicMs();
      // A step waits for its turn among the other writes: the more there are, the longer it takes, and
      // the longer is the rest. Measured with 64 publishers at full speed and 300,000 events past their
      // time (2 cores shared with others, 2 runs): 9,900 rows/s go, and 11 and 22 % fewer events come in.
      await this.#rest(endedMs - beganMs, signal);
      if (signal.aborted || endedMs >= untilMs) return false;
    }
  }

  /**
   * Until the next round. Where other nodes are, a subscription may have ended at one that has no keeper
   * or died, and nobody wakes this one: so it looks for what is to be cancelled in between.
   */
  async #pause(signal: AbortSignal): Promise<void> {
    const { store, onError } = this.#means;
    const restMs = store.isShared ? limits.sweepEveryMs : limits.keeperEveryMs;
    for (let restedMs = restMs; ; restedMs += restMs) {
      await this.#rest(restMs, signal);
      if (signal.aborted || restedMs >= limits.keeperEveryMs) return;
      const swept = await store.edit('sweep', { limit: limits.keeperRowsMax }).catch(onError);
      this.#cancelled += swept?.cancelled ?? 0;
      this.#tell();
      if (swept?.isMore === true) return;
    }
  }

  /** One step; whether there may be more to do. */
  async #tidy(): Promise<boolean> {
    const { store, onError } = this.#means;
    const limit = limits.keeperRowsMax;
    const idempotencyBeforeMs = store.nowMs() - limits.idempotencyKeepMs;
    try {
      // Together, so that they share a transaction and wait for their turn once.
      const [swept, keys, patterns, sessions, figures, feed, isMore] = await Promise.all([
        store.edit('sweep', { limit }),
        store.edit('forget', { idempotencyBeforeMs, limit }),
        store.edit('forgetPatterns', { beforeMs: store.nowMs() - limits.patternKeepMs, limit }),
        store.edit('forgetSessions', { beforeMs: store.nowMs(), limit }),
        store.edit('tidyFigures', { ...this.#figuresKeptMs(), limit }),
        store.edit('forgetFeed', { beforeMs: store.nowMs() - limits.feedKeepMs, limit }),
        this.#retain(limit),
      ]);
      this.#cancelled += swept.cancelled;
      const isFull = [keys, patterns, sessions, feed].some(({ deleted }) => deleted === limit);
      return swept.isMore || figures.isMore || isMore || isFull;
    } catch (error) {
      onError(error);
      return false;
    }
  }

  async #retain(limit: number): Promise<boolean> {
    const { store, retentionMs } = this.#means;
    // Never by this machine's clock: one that is wrong would throw away what others keep.
    const beforeMs = store.nowMs() - retentionMs;
    const [history, replays] = await Promise.all([
      store.edit('retain', { beforeMs, limit }),
      store.edit('forgetReplays', { endedBeforeMs: beforeMs, limit }),
    ]);
    this.#retained.expired += history.expired;
    this.#retained.deleted += history.deleted + replays.deleted;
    return history.isMore || replays.deleted === limit;
  }

  /** By the minute as long as the events, but long enough for every chart, and not for ever. */
  #figuresKeptMs(): Omit<EditInput<'tidyFigures'>, 'limit'> {
    const { figuresFineMs, figuresKeepMs, figuresKeepMaxMs } = limits;
    const appKeepMs = Math.min(Math.max(this.#means.retentionMs, figuresKeepMs), figuresKeepMaxMs);
    return { appKeepMs, subscriptionFineMs: figuresFineMs, subscriptionKeepMs: figuresKeepMs };
  }

  #tell(): void {
    const { expired, deleted } = this.#retained;
    if (this.#cancelled + expired > 0) this.#means.onEnded();
    this.#cancelled = 0;
    if (expired === 0 && deleted === 0) return;
    this.#retained = { expired: 0, deleted: 0 };
    this.#means.onRetained({ expired, deleted });
  }

  /** Ends early when it is woken or stopped. */
  async #rest(ms: number, signal: AbortSignal): Promise<void> {
    if (ms > 0) await this.#means.world.sleep(ms, signal).catch(() => undefined);
  }
}
