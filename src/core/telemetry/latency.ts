// Durations of attempts as counts in buckets: a few numbers per minute, from which the percentiles
// of any time range follow, because buckets add up. The bounds must never change: stored figures
// depend on them.

/** Upper bounds in milliseconds, each inclusive; the last bucket has none. */
const boundsMs = [
  1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1_000, 1_500, 2_000, 3_000,
  5_000, 7_000, 10_000, 15_000,
] as const;

export const bucketCount = boundsMs.length + 1;

export function bucketOf(tookMs: number): number {
  let low = 0;
  let high: number = boundsMs.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (tookMs <= (boundsMs[middle] ?? 0)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * The time that `share` (0 to 1) of all attempts did not exceed, by rank. It is interpolated within
 * its bucket, so the error is at most the width of that bucket. Beyond the last bound it is that
 * bound.
 */
export function percentileMs(counts: readonly number[], share: number): number | undefined {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return undefined;
  const rank = Math.max(Math.ceil(share * total), 1);
  let before = 0;
  for (const [bucket, count] of counts.entries()) {
    if (before + count >= rank) {
      const { fromMs, toMs } = bucketEdges(bucket);
      return Math.round(fromMs + ((toMs - fromMs) * (rank - before)) / count);
    }
    before += count;
  }
  return undefined;
}

/** Times in a bucket are greater than `fromMs` and at most `toMs`. */
export function bucketEdges(bucket: number): { fromMs: number; toMs: number } {
  const fromMs = boundsMs[bucket - 1] ?? 0;
  return { fromMs, toMs: boundsMs[bucket] ?? fromMs };
}
