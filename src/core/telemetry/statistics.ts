// Statistics: how much happened in a span of time. They add up over time, nodes and lanes.

export const countNames = [
  /** Events accepted. */
  'published',
  /** Deliveries created by the fan-out, or later by hand. */
  'made',
  /** Dead deliveries that became due again. */
  'revived',
  'delivered',
  /** Attempts that failed and will be retried. */
  'retried',
  'dead',
  'cancelled',
] as const;

export type CountName = (typeof countNames)[number];
export type Counts = Readonly<Record<CountName, number>>;

export interface Statistics {
  counts: Record<CountName, number>;
  /** Attempts by duration, in buckets (see `boundsMs`). */
  took: number[];
}

export function noStatistics(): Statistics {
  const counts = {
    published: 0,
    made: 0,
    revived: 0,
    delivered: 0,
    retried: 0,
    dead: 0,
    cancelled: 0,
  };
  return { counts, took: Array.from({ length: bucketCount }, () => 0) };
}

/** Adds `more` to `sum`. */
export function addStatistics(sum: Statistics, more: Statistics): void {
  for (const name of countNames) sum.counts[name] += more.counts[name];
  for (const [bucket, count] of more.took.entries()) {
    sum.took[bucket] = (sum.took[bucket] ?? 0) + count;
  }
}

/** Deliveries that have not ended, computed from the counts of all time. */
export function pendingOf({ made, revived, delivered, dead, cancelled }: Counts): number {
  return made + revived - delivered - dead - cancelled;
}

/** The share of attempts with an outcome that succeeded; undefined when there was none. */
export function successRateOf({ delivered, retried, dead }: Counts): number | undefined {
  const attempts = delivered + retried + dead;
  return attempts === 0 ? undefined : delivered / attempts;
}

export function latencyOf({ took }: Statistics): {
  p50Ms: number | undefined;
  p95Ms: number | undefined;
} {
  return { p50Ms: percentileMs(took, 0.5), p95Ms: percentileMs(took, 0.95) };
}

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

// The time span of a statistics request, and the length of its steps. Figures are kept by the
// minute, so no step is shorter; steps begin at multiples of their length, so that they do not
// shift from one request to the next.

export const minuteMs = 60_000;

export const ranges = ['15m', '1h', '24h', '7d'] as const;
export type Range = (typeof ranges)[number];

const shapes: Readonly<Record<Range, { steps: number; stepMinutes: number }>> = {
  '15m': { steps: 15, stepMinutes: 1 },
  '1h': { steps: 60, stepMinutes: 1 },
  '24h': { steps: 48, stepMinutes: 30 },
  '7d': { steps: 56, stepMinutes: 180 },
};

/** Resolution of a subscription's figures after some hours; it divides the longer steps. */
export const coarseMinutes = 30;

/** Whole days whose year has four digits. */
const calendarFirstMs = Date.parse('0000-01-01T00:00:00Z');
export const calendarLastMs = Date.parse('9999-12-31T00:00:00Z');

/** Maximum number of steps of a span that is given by its ends. */
export const stepsMax = 120;
const dayMinutes = 24 * 60;
/** Step lengths that people can read; longer ones are whole days. */
const readable = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, dayMinutes];

/** In minutes since 1970; both ends are multiples of the step. */
export interface Span {
  fromMinute: number;
  /** Exclusive. */
  untilMinute: number;
  stepMinutes: number;
}

/** The newest steps, the current one last. */
export function spanOf(range: Range, nowMs: number): Span {
  const { steps, stepMinutes } = shapes[range];
  const untilMinute = (Math.floor(minuteOf(nowMs) / stepMinutes) + 1) * stepMinutes;
  return { fromMinute: untilMinute - steps * stepMinutes, untilMinute, stepMinutes };
}

/**
 * Covers the span with the shortest readable steps that are few enough. `fromMs` is before
 * `untilMs` and `calendarLastMs`.
 */
export function spanBetween(fromMs: number, untilMs: number): Span {
  for (const stepMinutes of readable) {
    const span = coverBy(stepMinutes, { fromMs, untilMs });
    if (stepsOf(span) <= stepsMax) return span;
  }
  // Where neither end is a multiple, rounding costs one step.
  const days = Math.ceil((untilMs - fromMs) / (dayMinutes * minuteMs) / (stepsMax - 1));
  return coverBy(days * dayMinutes, { fromMs, untilMs });
}

export function stepsOf({ fromMinute, untilMinute, stepMinutes }: Span): number {
  return (untilMinute - fromMinute) / stepMinutes;
}

export function minuteOf(ms: number): number {
  return Math.floor(ms / minuteMs);
}

/** Drops steps that would begin or end outside years of four digits: no data is there. */
function coverBy(stepMinutes: number, ends: { fromMs: number; untilMs: number }): Span {
  const stepMs = stepMinutes * minuteMs;
  const first = Math.max(Math.floor(ends.fromMs / stepMs), Math.ceil(calendarFirstMs / stepMs));
  const last = Math.min(Math.ceil(ends.untilMs / stepMs), Math.floor(calendarLastMs / stepMs));
  return { fromMinute: first * stepMinutes, untilMinute: last * stepMinutes, stepMinutes };
}
