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
  /** Since the last decision. */
  passedMs: number;
}

export function nextLimit(limit: number, { longestMs, refused, passedMs }: Seen): number {
  const { publishWaitMs, publishesUnderWayMin, publishesUnderWayMax, admissionLookMs } = limits;
  if (longestMs > publishWaitMs) return Math.max(Math.floor(limit * 0.75), publishesUnderWayMin);
  // Nobody was turned away: a larger number is a guess, so it comes slowly. Without it one slow moment
  // would be remembered until the next flood.
  const more = refused === 0 ? Math.floor(passedMs / admissionLookMs) : Math.ceil(limit / 8);
  return Math.min(limit + more, publishesUnderWayMax);
}
