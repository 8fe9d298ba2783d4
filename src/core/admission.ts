// Decides how many publishes may be in flight at a time: as many as finish within a target time.
// The limit rises while publishes are fast and falls while they are slow, so a fast disk is used
// fully and a slow one is not overloaded. It never decides about a single request.
import { limits } from './limits.ts';

/** Observations since the last decision. */
export interface Seen {
  /** The longest time that a publish took, or has been in flight so far. */
  longestMs: number;
  /** Publishes that were refused for lack of room. */
  refused: number;
  /** Time since the last decision. */
  passedMs: number;
}

export function nextLimit(limit: number, { longestMs, refused, passedMs }: Seen): number {
  const { publishWaitMs, publishesUnderWayMin, publishesUnderWayMax, admissionLookMs } = limits;
  if (longestMs > publishWaitMs) return Math.max(Math.floor(limit * 0.75), publishesUnderWayMin);
  // Nothing was refused, so a higher limit is a guess: raise it slowly. Without this, one slow
  // moment would keep the limit low until the next overload.
  const more = refused === 0 ? Math.floor(passedMs / admissionLookMs) : Math.ceil(limit / 8);
  return Math.min(limit + more, publishesUnderWayMax);
}
