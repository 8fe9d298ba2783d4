// How far the span of a slice reaches. Pure. A span is extended ahead of time by as much as the
// slice is old. So it is written some ten times in the life of a slice, not with every batch, and
// covers at most about twice the time that it needs to.
import { firstIdAt, timeOf } from '../../core/base/id.ts';
import { limits } from '../../core/limits/limits.ts';

/** An id above `event`, for a slice that has been in use for `ageMs`. */
export function reachOf(event: string, ageMs: number): string {
  const { sliceReachMs, sliceReachMaxMs } = limits;
  const aheadMs = Math.min(Math.max(ageMs, sliceReachMs), sliceReachMaxMs);
  const reach = firstIdAt(timeOf(event) + aheadMs);
  return reach > event ? reach : event; // Only at the largest possible time.
}
