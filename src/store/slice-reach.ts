// How far the span of a slice reaches. Pure. A span is widened ahead of time, as far as the slice is old: so
// it is written some ten times in the life of a slice, not with every batch, and claims at most about twice
// the time that it covers.
import { firstIdAt, timeOf } from '../core/id.ts';
import { limits } from '../core/limits.ts';

/** Above an event of a slice that has had its number for so long. */
export function reachOf(event: string, ageMs: number): string {
  const { sliceReachMs, sliceReachMaxMs } = limits;
  const aheadMs = Math.min(Math.max(ageMs, sliceReachMs), sliceReachMaxMs);
  const reach = firstIdAt(timeOf(event) + aheadMs);
  return reach > event ? reach : event; // At the end of time.
}
