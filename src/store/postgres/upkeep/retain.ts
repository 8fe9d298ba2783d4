// Retention: maintains the history partitions, beside the batches and on connections of its own: creates days
// before they are needed, and drops those past their retention once every delivery in them has
// ended. Dropping a day waits for its readers, so nothing may wait for a drop.
import { firstIdAt } from '../../../core/base/id.ts';
import { limits } from '../../../core/limits/limits.ts';
import { minuteOf } from '../../../core/telemetry/statistics.ts';
import type { EditInput, EditOutput } from '../../port/store.ts';
import { type StalledFanOuts, endFanOuts } from '../../rules/fan-outs.ts';
import type { PendingStatistics } from '../../statistics/pending-statistics.ts';
import type { Fact } from '../../statistics/transaction-facts.ts';
import { forgetSpans } from '../../verbs/lists/slices-in-time.ts';
import { forgetNodes } from '../cluster/nodes.ts';
import type { ReconnectingClient } from '../connection/reconnecting-client.ts';
import { transact, type TransactDeps } from '../connection/transact.ts';
import type { Tx } from '../connection/tx.ts';
import { dropPartitionsBefore, ensurePartitions, keepPendingDays } from '../schema/partitions.ts';
import { expire, type Expired, type Expiring } from './expire.ts';
import { forgetSubscriptions } from './forget.ts';
import { writeAppStatistics } from './statistics.ts';

const dayMs = 24 * 60 * 60 * 1000;

export interface PartitionUpkeepDeps {
  /**
   * Creating days blocks publishes, and dropping days blocks on readers, so each has its own
   * connection.
   */
  making: ReconnectingClient;
  keeping: ReconnectingClient;
  world: TransactDeps['world'];
  /** Accumulated figures of subscriptions, and the writer number for those of apps. */
  pending: PendingStatistics;
  writer: () => number;
  /** Fan-outs that are skipped. */
  stalled: StalledFanOuts;
}

export class PartitionUpkeep {
  readonly #deps: PartitionUpkeepDeps;
  /** A connection serves one caller at a time, so calls are chained. */
  #made: Promise<unknown> = Promise.resolve();
  #kept: Promise<unknown> = Promise.resolve();

  constructor(deps: PartitionUpkeepDeps) {
    this.#deps = deps;
  }

  /** Creates the partitions for the days of these times. */
  async makeDays(timesMs: readonly number[]): Promise<void> {
    const days = new Set(timesMs.map((ms) => Math.floor(ms / dayMs) * dayMs));
    const mine = this.#made.then(async () =>
      this.#deps.making.withClient(async (client) => {
        for (const day of days) await ensurePartitions(client, { fromMs: day, toMs: day });
      }),
    );
    this.#made = mine.catch(() => undefined);
    await mine;
  }

  async retain(input: EditInput<'retain'>, nowMs: number): Promise<EditOutput<'retain'>> {
    const mine = this.#kept.then(async () => this.#retain(input, nowMs));
    this.#kept = mine.catch(() => undefined);
    return mine;
  }

  /** Interrupts a drop that is waiting; the next round, on any node, resumes it. */
  async close(): Promise<void> {
    await Promise.all([this.#deps.making.close(), this.#deps.keeping.close()]);
    await Promise.all([this.#made, this.#kept]);
  }

  async #retain(
    { beforeMs, limit, finals = [] }: EditInput<'retain'>,
    nowMs: number,
  ): Promise<EditOutput<'retain'>> {
    const below = firstIdAt(beforeMs);
    // Deliveries of a day whose drop was begun could not end, because their rows would have no
    // partition.
    await this.#deps.keeping.withClient(keepPendingDays);
    const { count, ...expired } = await this.#expire({ below, limit, nowMs, finals });
    if (count === limit) return { ...expired, deleted: 0, isMore: true };
    await this.#write(async (tx) => tx.run(endFanOuts(this.#deps.stalled, { below, limit })));
    const dropped = await this.#deps.keeping.withClient(async (client) => {
      const toMs = nowMs + limits.partitionDaysAhead * dayMs;
      await ensurePartitions(client, { fromMs: nowMs, toMs });
      return dropPartitionsBefore(client, beforeMs);
    });
    const endedBeforeMs = beforeMs - limits.subscriptionKeepMs;
    const { deleted, isMore } = await this.#write(async (tx) =>
      forgetSubscriptions(tx, { endedBeforeMs, limit: limit - count }),
    );
    const nodes = await this.#write(async (tx) => forgetNodes(tx, beforeMs));
    await this.#write(async (tx) => tx.run(forgetSpans(beforeMs, limit)));
    return { ...expired, deleted: dropped + deleted + nodes, isMore };
  }

  async #expire(expiring: Omit<Expiring, 'facts'>): Promise<Expired> {
    const { pending, writer } = this.#deps;
    const { nowMs } = expiring;
    const facts: Fact[] = [];
    const expired = await this.#write(async (tx) => {
      facts.length = 0;
      const result = await expire(tx, { ...expiring, facts });
      await writeAppStatistics(tx, { nowMs, writer: writer(), facts });
      return result;
    });
    pending.add(facts, minuteOf(nowMs));
    return expired;
  }

  async #write<T>(body: (tx: Tx) => Promise<T>): Promise<T> {
    const { keeping: link, world } = this.#deps;
    return transact({ link, world }, async (tx) => ({ result: await body(tx), written: [] }));
  }
}
