// Deletes and ends rows that are past their retention, in small steps. It never takes more than half
// of the store's time. The statements are in store/sqlite/upkeep/retain.ts and
// store/postgres/upkeep/retain.ts.
import { limits } from '../../core/limits/limits.ts';
import type { FinalCallback } from '../../store/port/delivery-verbs.ts';
import type { EditInput } from '../../store/port/store.ts';
import type { Context } from '../context.ts';

type Deps = Pick<Context, 'store' | 'world'> & {
  /** How long events and their history are kept. */
  retentionMs: number;
  /** How long entries of the audit trail are kept. */
  auditRetentionMs: number;
  /** The final callbacks of all contracts. */
  finals: readonly FinalCallback[];
  /** A subscription has ended, because its final delivery has expired. */
  onFinal: (subscription: { appNo: number; id: string }) => void;
  onError: (error: unknown) => void;
  /** Rows were past their retention: called once for all steps of a round, or every minute. */
  onRetained: (retained: RetentionCounts) => void;
  /** Deliveries have ended whose names are unknown: called once for all steps of a round. */
  onEnded: () => void;
};

export interface RetentionCounts {
  /** Deliveries that were still pending, and are dead now. */
  expired: number;
  /** Rows of any kind. */
  deleted: number;
}

export class Retention {
  readonly #deps: Deps;
  readonly #stop = new AbortController();
  readonly #done: Promise<void>;
  #wake = new AbortController();
  #retained: RetentionCounts = { expired: 0, deleted: 0 };
  #cancelled = 0;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#done = this.#runLoop();
  }

  /** Call when a subscription has ended, whose pending deliveries must be cancelled. */
  wake(): void {
    this.#wake.abort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#done;
  }

  async #runLoop(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      this.#wake = new AbortController();
      const either = AbortSignal.any([signal, this.#wake.signal]);
      const isTidy = await this.#round();
      this.#report();
      if (isTidy) await this.#pause(either);
    }
  }

  /** Runs steps until nothing is left or a minute is over; true if nothing is left. */
  async #round(): Promise<boolean> {
    const { world } = this.#deps;
    const { signal } = this.#stop;
    const untilMs = world.monotonicMs() + limits.retentionEveryMs;
    for (;;) {
      const beganMs = world.monotonicMs();
      const isMore = await this.#step();
      if (!isMore) return true;
      const endedMs = world.monotonicMs();
      // A step queues behind other writes, so under load it takes longer and the rest after it is
      // longer: see docs/performance.md.
      await this.#rest(endedMs - beganMs, signal);
      if (signal.aborted || endedMs >= untilMs) return false;
    }
  }

  /**
   * Waits for the next round. In a cluster, a subscription may have ended on a node that runs no
   * retention or has died, so nothing wakes this one: it sweeps for deliveries to cancel in between.
   */
  async #pause(signal: AbortSignal): Promise<void> {
    const { store, onError } = this.#deps;
    const restMs = store.isShared ? limits.sweepEveryMs : limits.retentionEveryMs;
    for (let restedMs = restMs; ; restedMs += restMs) {
      await this.#rest(restMs, signal);
      if (signal.aborted || restedMs >= limits.retentionEveryMs) return;
      const swept = await store.edit('sweep', { limit: limits.retentionRowsMax }).catch(onError);
      this.#cancelled += swept?.cancelled ?? 0;
      this.#report();
      if (swept?.isMore === true) return;
    }
  }

  /** One step of everything that is past its time; true if there may be more to do. */
  async #step(): Promise<boolean> {
    const { store, onError } = this.#deps;
    const limit = limits.retentionRowsMax;
    const idempotencyBeforeMs = store.nowMs() - limits.idempotencyKeepMs;
    try {
      // Together, so that they share a transaction and queue once.
      const [swept, keys, patterns, sessions, figures, feed, isMore] = await Promise.all([
        store.edit('sweep', { limit }),
        store.edit('forget', { idempotencyBeforeMs, limit }),
        store.edit('forgetPatterns', { beforeMs: store.nowMs() - limits.patternKeepMs, limit }),
        store.edit('forgetSessions', { beforeMs: store.nowMs(), limit }),
        store.edit('tidyStatistics', { ...this.#statisticsKeptMs(), limit }),
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
    const { store, retentionMs, auditRetentionMs, finals, onFinal } = this.#deps;
    // Never by this machine's clock: a wrong one would delete what others keep.
    const beforeMs = store.nowMs() - retentionMs;
    const auditBeforeMs = store.nowMs() - auditRetentionMs;
    const [history, replays, audit] = await Promise.all([
      store.edit('retain', { beforeMs, limit, finals }),
      store.edit('forgetReplays', { endedBeforeMs: beforeMs, limit }),
      store.edit('forgetAudit', { beforeMs: auditBeforeMs, limit }),
    ]);
    for (const one of history.ended ?? []) onFinal(one);
    this.#retained.expired += history.expired;
    this.#retained.deleted += history.deleted + replays.deleted + audit.deleted;
    return history.isMore || replays.deleted === limit || audit.deleted === limit;
  }

  /**
   * Minute figures are kept as long as the events, but at least as long as every chart needs, and
   * bounded.
   */
  #statisticsKeptMs(): Omit<EditInput<'tidyStatistics'>, 'limit'> {
    const { statisticsFineMs, statisticsKeepMs, statisticsKeepMaxMs } = limits;
    const appKeepMs = Math.min(
      Math.max(this.#deps.retentionMs, statisticsKeepMs),
      statisticsKeepMaxMs,
    );
    return {
      appKeepMs,
      subscriptionFineMs: statisticsFineMs,
      subscriptionKeepMs: statisticsKeepMs,
    };
  }

  #report(): void {
    const { expired, deleted } = this.#retained;
    if (this.#cancelled + expired > 0) this.#deps.onEnded();
    this.#cancelled = 0;
    if (expired === 0 && deleted === 0) return;
    this.#retained = { expired: 0, deleted: 0 };
    this.#deps.onRetained({ expired, deleted });
  }

  /** Ends early when woken or stopped. */
  async #rest(ms: number, signal: AbortSignal): Promise<void> {
    if (ms > 0) await this.#deps.world.sleep(ms, signal).catch(() => undefined);
  }
}
