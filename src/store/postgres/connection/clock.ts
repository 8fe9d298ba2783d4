// The time that all nodes share: the database's. Between two readings the node's monotonic clock
// counts on, so that a step of its wall clock has no effect.
import { limits } from '../../../core/limits/limits.ts';
import type { World } from '../../../core/base/world.ts';
import { integer, one } from '../../sql/row.ts';
import type { Tx } from './tx.ts';

export const clockSql = {
  now: 'select (extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms',
} as const;

export interface Clock {
  now(): number;
  /** The time of a batch whose sender says `nowMs`. */
  at(nowMs: number): number;
  /** Reads the database's clock. */
  sync(tx: Tx): Promise<void>;
  /**
   * Whether the machine was suspended since the last call; then the time is behind until the next
   * `sync`.
   */
  wasSuspended(): boolean;
}

export function databaseClock(world: Pick<World, 'monotonicMs' | 'elapsedMs' | 'nowMs'>): Clock {
  let aheadMs: number | undefined;
  const suspendedMs = (): number => world.elapsedMs() - world.monotonicMs();
  let notedMs = suspendedMs();
  const ahead = (by: number): number => Math.round(world.monotonicMs() + by);
  return {
    now: () => (aheadMs === undefined ? world.nowMs() : ahead(aheadMs)),
    at: (nowMs) => (aheadMs === undefined ? nowMs : ahead(aheadMs)),
    sync: async (tx) => {
      const askedMs = world.monotonicMs();
      const [row] = await tx.query(clockSql.now, []);
      const answeredMs = world.monotonicMs();
      // A slow answer could have been read at any time within it, so the last reading stays in use.
      if (aheadMs !== undefined && answeredMs - askedMs > limits.clockReadingMs) return;
      const halfWayMs = (askedMs + answeredMs) / 2;
      aheadMs = integer(one(row), 'now_ms') - halfWayMs;
    },
    wasSuspended: () => {
      const beforeMs = notedMs;
      notedMs = suspendedMs();
      return notedMs - beforeMs >= limits.clockReadingMs;
    },
  };
}

/** For tests that simulate the world: the time is that of the batch. */
export function givenClock(world: Pick<World, 'nowMs'>): Clock {
  return {
    now: () => world.nowMs(),
    at: (nowMs) => nowMs,
    sync: async () => undefined,
    wasSuspended: () => false,
  };
}
