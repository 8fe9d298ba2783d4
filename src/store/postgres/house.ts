// Looks after the partitions of the history, beside the batches: it makes the days ahead and drops the
// days that are past their time. Dropping waits for whoever reads them, so nobody waits for it.
import { limits } from '../../core/limits.ts';
import type { Link } from './link.ts';
import { dropPartitionsBefore, ensurePartitions } from './partitions.ts';

const dayMs = 24 * 60 * 60 * 1000;

export interface House {
  /** Makes the days that these times fall on. */
  makeDays(timesMs: readonly number[]): Promise<void>;
  /**
   * Begins to make the days ahead and to drop what lies before; gives how many partitions were dropped
   * since it was asked last.
   */
  tidy(input: { nowMs: number; beforeMs: number }): number;
  close(): Promise<void>;
}

export interface HouseOptions {
  /** For what a publish waits for, and for what waits for others: the one must not wait for the other. */
  making: Link;
  tidying: Link;
  onError: (error: unknown) => void;
}

export function createHouse({ making, tidying: link, onError }: HouseOptions): House {
  let dropped = 0;
  let isClosing = false;
  let tidying: Promise<void> | undefined;
  const tidyNow = async ({ nowMs, beforeMs }: { nowMs: number; beforeMs: number }) =>
    link.withClient(async (client) => {
      const toMs = nowMs + limits.partitionDaysAhead * dayMs;
      await ensurePartitions(client, { fromMs: nowMs, toMs });
      dropped += await dropPartitionsBefore(client, beforeMs);
    });
  return {
    makeDays: async (timesMs) => {
      await making.withClient(async (client) => {
        const days = new Set(timesMs.map((ms) => Math.floor(ms / dayMs) * dayMs));
        for (const day of days) await ensurePartitions(client, { fromMs: day, toMs: day });
      });
    },
    tidy: (input) => {
      tidying ??= tidyNow(input)
        .catch((error: unknown) => {
          if (!isClosing) onError(error);
        })
        .finally(() => {
          tidying = undefined;
        });
      const before = dropped;
      dropped = 0;
      return before;
    },
    close: async () => {
      // What waits for others just now is left half done; whoever tidies next goes on with it.
      isClosing = true;
      await Promise.all([making.close(), link.close()]);
      await tidying;
    },
  };
}
