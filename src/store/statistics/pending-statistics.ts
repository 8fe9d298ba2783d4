// Accumulates figures of subscriptions in memory between two writes: a row for each subscription in
// every batch would cost more than the batch. They are kept by lane, because that is what a batch
// knows; the subscription of a lane is looked up when they are written. A crash loses the unwritten
// part.
import type { Statistics } from '../../core/telemetry/statistics.ts';
import { addStatistics } from '../../core/telemetry/statistics.ts';
import { limits } from '../../core/limits/limits.ts';
import type { Fact } from './transaction-facts.ts';
import { count, statisticsIn } from './transaction-facts.ts';

export interface LaneStatistics {
  lane: number;
  minute: number;
  figures: Statistics;
}

export interface PendingStatistics {
  /** Adds the facts of a committed transaction. */
  add(facts: readonly Fact[], minute: number): void;
  isEmpty(): boolean;
  /** Whether there are enough that the next batch should write some. */
  isFull(): boolean;
  /** The oldest figures, for a transaction in progress; at most one at a time per view. */
  take(most: number): readonly LaneStatistics[];
  /** The taken figures were committed (`done`), or were not and are restored (`undo`). */
  done(): void;
  undo(): void;
  /** Another view of the same figures, for a parallel transaction. */
  beside(): PendingStatistics;
}

/** By minute, then by lane. */
type Kept = Map<number, Map<number, Statistics>>;

export function createPendingStatistics(
  most: number = limits.pendingStatisticsMax,
): PendingStatistics {
  return viewOf(new Map(), most);
}

function viewOf(kept: Kept, most: number): PendingStatistics {
  let taken: LaneStatistics[] = [];

  const lanesOf = (minute: number): Map<number, Statistics> => {
    const known = kept.get(minute);
    if (known !== undefined) return known;
    const made = new Map<number, Statistics>();
    kept.set(minute, made);
    return made;
  };
  const size = (): number => [...kept.values()].reduce((sum, lanes) => sum + lanes.size, 0);

  return {
    add: (facts, minute) => {
      const lanes = lanesOf(minute);
      for (const fact of facts) {
        if (fact.lane !== undefined) count(statisticsIn(lanes, fact.lane), fact);
      }
      if (lanes.size === 0) kept.delete(minute);
    },
    isEmpty: () => kept.size === 0,
    isFull: () => size() >= most,
    take: (rows) => {
      const some: LaneStatistics[] = [];
      for (const [minute, lanes] of kept) {
        for (const [lane, figures] of lanes.entries().take(rows - some.length)) {
          lanes.delete(lane);
          some.push({ lane, minute, figures });
        }
        if (lanes.size === 0) kept.delete(minute);
      }
      taken = [...taken, ...some];
      return some;
    },
    done: () => {
      taken = [];
    },
    undo: () => {
      for (const { lane, minute, figures } of taken) {
        addStatistics(statisticsIn(lanesOf(minute), lane), figures);
      }
      taken = [];
    },
    beside: () => viewOf(kept, most),
  };
}
