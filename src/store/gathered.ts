// Figures of subscriptions, gathered in memory between two writes: a row for each subscription in every
// batch would cost more than the batch. They are kept by lane, because that is what a batch knows; who a
// lane belongs to is found out when they are written. What a crash takes with it was never written.
import type { Figures } from '../core/figures.ts';
import { addFigures, noFigures } from '../core/figures.ts';
import { limits } from '../core/limits.ts';
import type { Fact } from './counting.ts';
import { count } from './counting.ts';

export interface LaneFigures {
  lane: number;
  minute: number;
  figures: Figures;
}

export interface Gathered {
  /** Facts of a transaction that was committed. */
  add(facts: readonly Fact[], minute: number): void;
  isEmpty(): boolean;
  /** So much that the next batch should write some of it. */
  isFull(): boolean;
  /** The oldest, for a transaction that is under way; at most one is at a time. */
  take(most: number): readonly LaneFigures[];
  /** What was taken is on the disk; or it is not, and stays. */
  done(): void;
  undo(): void;
}

export function createGathered(most: number = limits.figuresGatheredMax): Gathered {
  const kept = new Map<string, LaneFigures>();
  let taken: LaneFigures[] = [];

  const entryOf = (lane: number, minute: number): LaneFigures => {
    const key = `${lane} ${minute}`;
    const known = kept.get(key);
    if (known !== undefined) return known;
    const entry = { lane, minute, figures: noFigures() };
    kept.set(key, entry);
    return entry;
  };

  return {
    add: (facts, minute) => {
      for (const fact of facts) {
        if (fact.lane !== undefined) count(entryOf(fact.lane, minute).figures, fact);
      }
    },
    isEmpty: () => kept.size === 0,
    isFull: () => kept.size >= most,
    take: (count_) => {
      const some = [...kept].slice(0, count_);
      for (const [key] of some) kept.delete(key);
      taken = [...taken, ...some.map(([, entry]) => entry)];
      return some.map(([, entry]) => entry);
    },
    done: () => {
      taken = [];
    },
    undo: () => {
      for (const { lane, minute, figures } of taken) {
        addFigures(entryOf(lane, minute).figures, figures);
      }
      taken = [];
    },
  };
}
