// The limit of concurrent requests of one kind: as many as the store answers within a target time. It rises while
// answers are faster and falls while they are slower, so that a fast store is used and a slow one is not overloaded.
// Never decides about a single request.
import { limits } from '../limits/limits.ts';

/** Observations since the last decision. */
export interface LimitObservations {
  /** The longest time that a request took, or has taken so far. */
  longestMs: number;
  /** Requests of this kind that were refused for lack of room. */
  refused: number;
  /** Time since the last decision. */
  passedMs: number;
}

export interface LimitRange {
  least: number;
  most: number;
  /** The target: a request that takes longer lowers the limit. */
  waitMs: number;
}

export const publishRange: LimitRange = {
  least: limits.publishesInFlightMin,
  most: limits.publishesInFlightMax,
  waitMs: limits.publishWaitMs,
};

export const changeRange: LimitRange = {
  least: limits.changesInFlightMin,
  most: limits.changesInFlightMax,
  waitMs: limits.changeWaitMs,
};

export function nextLimit(
  limit: number,
  { longestMs, refused, passedMs }: LimitObservations,
  { least, most, waitMs }: LimitRange,
): number {
  if (longestMs > waitMs) return Math.max(Math.floor(limit * 0.75), least);
  // If none was refused, a higher limit is a guess, so it rises slowly. If it did not rise at all, one slow moment
  // would keep it low until the next burst.
  const slowly = Math.floor(passedMs / limits.admissionLookMs);
  const more = refused === 0 ? slowly : Math.ceil(limit / 8);
  return Math.min(limit + more, most);
}
