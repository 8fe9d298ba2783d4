// The rate limit of a subscription (GCRA). A lane stores one number for it, the theoretical arrival
// time, and a claim takes no more deliveries than the limit allows. Pure: lane.ts applies it.

const burstMs = 1_000;
/**
 * Doubles hold the times of today to a quarter of a microsecond; times this close count as equal.
 */
const slackMs = 0.01;

/** The part of a lane that the rate limit knows. */
export interface RateLimited {
  /** Time per delivery; undefined: no limit. */
  intervalMs: number | undefined;
  /** Theoretical arrival time: the deliveries taken so far use the rate up to then. */
  tatMs: number;
}

/** Time per delivery; undefined: no limit. */
export function intervalOf({
  ratePerSecond,
}: {
  ratePerSecond: number | undefined;
}): number | undefined {
  return ratePerSecond === undefined ? undefined : 1_000 / ratePerSecond;
}

/** How many deliveries the limit allows now. */
export function roomWithinRate(limited: RateLimited, nowMs: number): number {
  const { intervalMs } = limited;
  if (intervalMs === undefined) return Infinity;
  const unusedMs = nowMs - unusedFromMs(limited, nowMs);
  return Math.floor((unusedMs + slackMs) / intervalMs);
}

/** The theoretical arrival time after so many deliveries were taken. */
export function tatAfter(limited: RateLimited, nowMs: number, took: number): number {
  const { intervalMs, tatMs } = limited;
  return intervalMs === undefined ? tatMs : unusedFromMs(limited, nowMs) + took * intervalMs;
}

/** When the limit allows the next delivery; 0 without a limit. */
export function limitedUntilMs({ intervalMs, tatMs }: RateLimited): number {
  return intervalMs === undefined ? 0 : Math.ceil(tatMs + intervalMs - slackMs);
}

/**
 * From when on unused time counts: at most a second, or enough for one delivery. In a slow lane a
 * look comes up to a millisecond after the next delivery was allowed. That delay must not count as
 * unused time, or it would accumulate: at 0.7 a second to a full second within an hour.
 */
function unusedFromMs({ tatMs, intervalMs = 0 }: RateLimited, nowMs: number): number {
  const fromMs = nowMs - Math.max(burstMs, intervalMs);
  const isInTime = intervalMs >= burstMs && fromMs - tatMs < 1;
  return isInTime ? tatMs : Math.max(tatMs, fromMs);
}
