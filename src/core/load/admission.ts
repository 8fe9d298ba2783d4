// How many requests of a kind may be in progress at a time: as many as the store answers within a target. Below it
// more are tried, above it fewer, so that a fast store is used and a slow one is not buried. Never decides about a
// single request.
import { limits } from '../limits/limits.ts';

/** Observations since the last decision. */
export interface Seen {
  /** The longest that one took, or has taken so far. */
  longestMs: number;
  /** Publishes that were refused for lack of room. */
  refused: number;
  /** Time since the last decision. */
  passedMs: number;
}

export interface LimitRange {
  least: number;
  most: number;
  /** One that takes longer than this says that there are too many. */
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
  { longestMs, refused, passedMs }: Seen,
  { least, most, waitMs }: LimitRange,
): number {
  if (longestMs > waitMs) return Math.max(Math.floor(limit * 0.75), least);
  // Nobody was turned away: a larger number is a guess, so it comes slowly. Without it one slow moment
  // would be remembered until the next flood.
  const slowly = Math.floor(passedMs / limits.admissionLookMs);
  const more = refused === 0 ? slowly : Math.ceil(limit / 8);
  return Math.min(limit + more, most);
}
