// Keeps the house, beside the batches and on a connection of its own: the days of the history are made
// before they are needed, and dropped when they are past their time, after all that still waits in them
// has ended. Dropping a day waits for whoever reads it, so nobody may wait for it.
import { firstIdAt } from '../../core/id.ts';
import { limits } from '../../core/limits.ts';
import type { EditInput, EditOutput } from '../store.ts';
import { expire } from './expire.ts';
import { forgetSubscriptions } from './forget-subscriptions.ts';
import type { Link } from './link.ts';
import { dropPartitionsBefore, ensurePartitions, keepPendingDays } from './partitions.ts';
import type { TransactMeans } from './transact.ts';
import { transact } from './transact.ts';
import type { Tx } from './tx.ts';

const dayMs = 24 * 60 * 60 * 1000;

export class House {
  readonly #link: Link;
  readonly #world: TransactMeans['world'];
  /** One connection, one user at a time. */
  #last: Promise<unknown> = Promise.resolve();

  constructor({ link, world }: TransactMeans) {
    this.#link = link;
    this.#world = world;
  }

  /** Makes the days that these times fall on. */
  async makeDays(timesMs: readonly number[]): Promise<void> {
    const days = new Set(timesMs.map((ms) => Math.floor(ms / dayMs) * dayMs));
    await this.#alone(async () =>
      this.#link.withClient(async (client) => {
        for (const day of days) await ensurePartitions(client, { fromMs: day, toMs: day });
      }),
    );
  }

  async retain(input: EditInput<'retain'>, nowMs: number): Promise<EditOutput<'retain'>> {
    return this.#alone(async () => this.#retain(input, nowMs));
  }

  /** What waits for others just now is left half done; whoever keeps the house next goes on with it. */
  async close(): Promise<void> {
    await this.#link.close();
    await this.#last;
  }

  async #retain(
    { beforeMs, limit }: EditInput<'retain'>,
    nowMs: number,
  ): Promise<EditOutput<'retain'>> {
    const below = firstIdAt(beforeMs);
    // What waits in a day that somebody began to drop could not end: nothing would take the row.
    await this.#link.withClient(keepPendingDays);
    const { ended, expired } = await this.#write(async (tx) => expire(tx, { below, limit, nowMs }));
    if (ended === limit) return { expired, deleted: 0, isMore: true };
    const dropped = await this.#link.withClient(async (client) => {
      const toMs = nowMs + limits.partitionDaysAhead * dayMs;
      await ensurePartitions(client, { fromMs: nowMs, toMs });
      return dropPartitionsBefore(client, beforeMs);
    });
    const endedBeforeMs = beforeMs - limits.subscriptionKeepMs;
    const { deleted, isMore } = await this.#write(async (tx) =>
      forgetSubscriptions(tx, { endedBeforeMs, limit: limit - ended }),
    );
    return { expired, deleted: dropped + deleted, isMore };
  }

  async #write<T>(body: (tx: Tx) => Promise<T>): Promise<T> {
    const means = { link: this.#link, world: this.#world };
    return transact(means, async (tx) => ({ result: await body(tx), written: [] }));
  }

  async #alone<T>(body: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(body);
    this.#last = mine.catch(() => undefined);
    return mine;
  }
}
