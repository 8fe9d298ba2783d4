// Statistics: how much happened in a span of time. They add up over time, nodes and lanes.
import { bucketCount, percentileMs } from './latency.ts';

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
  /** Attempts by duration, in the buckets of latency.ts. */
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
