// How many publishes may be under way at a time: as many as are answered within a target. Below it more
// are tried, above it fewer, so that a fast disk is used and a slow one is not buried. Never decides
// about a single request.
import { limits } from './limits.ts';

/** What was seen since the last decision. */
export interface Seen {
  /** The longest that a publish took, or has taken so far. */
  longestMs: number;
  /** How many found no room. */
  refused: number;
}

export function nextLimit(limit: number, { longestMs, refused }: Seen): number {
  const { publishWaitMs, publishesUnderWayMin, publishesUnderWayMax } = limits;
  if (longestMs > publishWaitMs) return Math.max(Math.floor(limit * 0.75), publishesUnderWayMin);
  // Nobody was turned away: a larger number would be a guess.
  if (refused === 0) return limit;
  return Math.min(limit + Math.ceil(limit / 8), publishesUnderWayMax);
}
