// Figures of subscriptions, gathered in memory between two writes: a row for each subscription in every
// batch would cost more than the batch. They are kept by lane, because that is what a batch knows; who a
// lane belongs to is found out when they are written. What a crash takes with it was never written.
import type { Figures } from '../core/figures.ts';
import { addFigures } from '../core/figures.ts';
import { limits } from '../core/limits.ts';
import type { Fact } from './counting.ts';
import { count, figuresIn } from './counting.ts';

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
  /** The oldest, for a transaction that is under way; of each view at most one is at a time. */
  take(most: number): readonly LaneFigures[];
  /** What was taken is on the disk; or it is not, and stays. */
  done(): void;
  undo(): void;
  /** Another view of the same, for a transaction beside the first. */
  beside(): Gathered;
}

/** By minute, then by lane. */
type Kept = Map<number, Map<number, Figures>>;

export function createGathered(most: number = limits.figuresGatheredMax): Gathered {
  return viewOf(new Map(), most);
}

function viewOf(kept: Kept, most: number): Gathered {
  let taken: LaneFigures[] = [];

  const lanesOf = (minute: number): Map<number, Figures> => {
    const known = kept.get(minute);
    if (known !== undefined) return known;
    const made = new Map<number, Figures>();
    kept.set(minute, made);
    return made;
  };
  const size = (): number => [...kept.values()].reduce((sum, lanes) => sum + lanes.size, 0);

  return {
    add: (facts, minute) => {
      const lanes = lanesOf(minute);
      for (const fact of facts) {
        if (fact.lane !== undefined) count(figuresIn(lanes, fact.lane), fact);
      }
      if (lanes.size === 0) kept.delete(minute);
    },
    isEmpty: () => kept.size === 0,
    isFull: () => size() >= most,
    take: (rows) => {
      const some: LaneFigures[] = [];
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
        addFigures(figuresIn(lanesOf(minute), lane), figures);
      }
      taken = [];
    },
    beside: () => viewOf(kept, most),
  };
}
