// The current limit of requests of one kind: collects how long they take, and lets core/load/request-limit.ts decide.
import { nextLimit, type LimitRange } from '../../core/load/request-limit.ts';
import { LinkedList, type Link } from '../../core/base/linked-list.ts';

/** A request in progress. */
export interface Measured extends Link<Measured> {
  readonly sinceMs: number;
}

export interface AdaptiveLimit {
  limit(): number;
  took(tookMs: number): void;
  /** A request began, whose time is measured here until `ended`. */
  began(one: Measured): void;
  ended(one: Measured, nowMs: number): void;
  turnedAway(): void;
  /** Sets the limit by what was observed since the last call. */
  decide(nowMs: number, passedMs: number): void;
  /** Whether nothing is in progress that is measured here. */
  isIdle(): boolean;
}

export function createLimit(start: number, range: LimitRange): AdaptiveLimit {
  // In the order in which they began.
  const working = new LinkedList<Measured>();
  let limit = start;
  let seen = { longestMs: 0, refused: 0 };
  const took = (tookMs: number): void => {
    seen.longestMs = Math.max(seen.longestMs, tookMs);
  };
  return {
    limit: () => limit,
    took,
    began: (one) => working.add(one),
    ended: (one, nowMs) => {
      if (working.remove(one)) took(nowMs - one.sinceMs);
    },
    turnedAway: () => {
      seen.refused += 1;
    },
    decide: (nowMs, passedMs) => {
      const { first: oldest } = working;
      if (oldest !== undefined) took(nowMs - oldest.sinceMs);
      limit = nextLimit(limit, { ...seen, passedMs }, range);
      seen = { longestMs: 0, refused: 0 };
    },
    isIdle: () => working.first === undefined,
  };
}
