// Keeps the house, beside the batches and on a connection of its own: the days of the history are made
// before they are needed, and dropped when they are past their time, after all that still waits in them
// has ended. Dropping a day waits for whoever reads it, so nobody may wait for it.
import { firstIdAt } from '../../core/id.ts';
import { limits } from '../../core/limits.ts';
import { minuteOf } from '../../core/stats-span.ts';
import type { EditInput, EditOutput } from '../store.ts';
import type { Fact } from '../counting.ts';
import type { Aside } from '../aside.ts';
import type { Gathered } from '../gathered.ts';
import type { Expiring } from './expire.ts';
import { endFanOuts } from '../verbs/end-fan-outs.ts';
import { forgetSpans } from '../verbs/forget-spans.ts';
import { expire } from './expire.ts';
import { writeAppFigures } from './write-figures.ts';
import { forgetSubscriptions } from './forget-subscriptions.ts';
import type { Link } from './link.ts';
import { forgetNodes } from './nodes.ts';
import { dropPartitionsBefore, ensurePartitions, keepPendingDays } from './partitions.ts';
import type { TransactMeans } from './transact.ts';
import { transact } from './transact.ts';
import type { Tx } from './tx.ts';

const dayMs = 24 * 60 * 60 * 1000;

export interface HouseMeans {
  /** For what a publish waits for, and for what waits for others: the one must not wait for the other. */
  making: Link;
  keeping: Link;
  world: TransactMeans['world'];
  /** Where figures of subscriptions wait, and whose those of apps are. */
  gathered: Gathered;
  writer: () => number;
  /** Fan-outs that are passed over. */
  aside: Aside;
}

export class House {
  readonly #means: HouseMeans;
  /** One connection, one user at a time. */
  #made: Promise<unknown> = Promise.resolve();
  #kept: Promise<unknown> = Promise.resolve();

  constructor(means: HouseMeans) {
    this.#means = means;
  }

  /** Makes the days that these times fall on. */
  async makeDays(timesMs: readonly number[]): Promise<void> {
    const days = new Set(timesMs.map((ms) => Math.floor(ms / dayMs) * dayMs));
    const mine = this.#made.then(async () =>
      this.#means.making.withClient(async (client) => {
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

  /** What waits for others just now is left half done; whoever keeps the house next goes on with it. */
  async close(): Promise<void> {
    await Promise.all([this.#means.making.close(), this.#means.keeping.close()]);
    await Promise.all([this.#made, this.#kept]);
  }

  async #retain(
    { beforeMs, limit }: EditInput<'retain'>,
    nowMs: number,
  ): Promise<EditOutput<'retain'>> {
    const below = firstIdAt(beforeMs);
    // What waits in a day that somebody began to drop could not end: nothing would take the row.
    await this.#means.keeping.withClient(keepPendingDays);
    const { ended, expired } = await this.#expire({ below, limit, nowMs });
    if (ended === limit) return { expired, deleted: 0, isMore: true };
    await this.#write(async (tx) => tx.run(endFanOuts(this.#means.aside, { below, limit })));
    const dropped = await this.#means.keeping.withClient(async (client) => {
      const toMs = nowMs + limits.partitionDaysAhead * dayMs;
      await ensurePartitions(client, { fromMs: nowMs, toMs });
      return dropPartitionsBefore(client, beforeMs);
    });
    const endedBeforeMs = beforeMs - limits.subscriptionKeepMs;
    const { deleted, isMore } = await this.#write(async (tx) =>
      forgetSubscriptions(tx, { endedBeforeMs, limit: limit - ended }),
    );
    const nodes = await this.#write(async (tx) => forgetNodes(tx, beforeMs));
    await this.#write(async (tx) => tx.run(forgetSpans(beforeMs, limit)));
    return { expired, deleted: dropped + deleted + nodes, isMore };
  }

  async #expire(expiring: Omit<Expiring, 'facts'>): Promise<{ ended: number; expired: number }> {
    const { gathered, writer } = this.#means;
    const { nowMs } = expiring;
    const facts: Fact[] = [];
    const expired = await this.#write(async (tx) => {
      facts.length = 0;
      const result = await expire(tx, { ...expiring, facts });
      await writeAppFigures(tx, { nowMs, writer: writer(), facts });
      return result;
    });
    gathered.add(facts, minuteOf(nowMs));
    return expired;
  }

  async #write<T>(body: (tx: Tx) => Promise<T>): Promise<T> {
    const { keeping: link, world } = this.#means;
    return transact({ link, world }, async (tx) => ({ result: await body(tx), written: [] }));
  }
}
