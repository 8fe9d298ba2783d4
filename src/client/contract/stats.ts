// Made from openapi.yaml by `npm run docs`: what the contract says of figures.

export interface GetStatsQuery {
  /** Figures of this subscription alone. */
  subscriberId?: string | undefined;
  /**
   * The time up to now, in steps of 60, 60, 1,800 or 10,800 seconds. The last step is the
   * running one. Without it and without `from`, 1h.
   */
  range?: '15m' | '1h' | '24h' | '7d' | undefined;
  /**
   * Instead of `range`. There are at most 120 steps, of 60 seconds or more, which begin at
   * multiples of their length.
   */
  from?: string | undefined;
  /** The end that belongs to `from`. Without it, now. */
  until?: string | undefined;
}

export interface GetStatsAnswer extends StatsSpan {
  steps: readonly StatsStep[];
  totals: StatsTotals;
  pending: Pending;
  pendingIsCapped: PendingIsCapped;
  /** When the event of the oldest delivery that has not ended was published. */
  oldestPendingAt: string | null;
  /** What somebody should look at, the worst first. */
  attention: readonly Attention[];
}

export interface StatsSpan {
  from: string;
  /** The end of the last step, itself not within. */
  until: string;
  stepSeconds: number;
}

export interface StatsStep extends StatsCounts {
  /** When it begins. */
  at: string;
}

export interface StatsCounts {
  /** Events accepted; of a subscription, deliveries that were made for it. */
  published: number;
  /** Deliveries that ended so. */
  delivered: number;
  /** Attempts that failed and will be made again. */
  retried: number;
  /** Deliveries that ended so. */
  dead: number;
  /** Deliveries that ended so. */
  cancelled: number;
  /** Half of all attempts took at most so long. Null when there was none. */
  p50Ms: number | null;
  /** The same for 95 of 100. */
  p95Ms: number | null;
}

export interface StatsTotals extends StatsCounts {
  /** Of all attempts the part that delivered. Null when there was none. */
  successRate: number | null;
}

/** Deliveries that are due or running now. */
export type Pending = number;

/** There are at least so many; nobody counted further. */
export type PendingIsCapped = boolean;

export interface Attention {
  /** A receiver that fails, or a subscription that was switched off. */
  kind: 'failing' | 'disabled';
  subscriberId: string;
  /** Empty where there is no target. */
  url: string;
  since: string | null;
  /** Attempts that failed one after the other. */
  failures: number;
  /** Of the last attempt that is known. */
  error?: string;
  /** Of the last attempt that is known. */
  status?: number;
}

export interface GetSubscriptionStatsQuery {
  /** Their ids, separated by commas. Unknown ones are left out of the answer. */
  subscriberIds: readonly string[];
  /**
   * The time up to now, in steps of 60, 60, 1,800 or 10,800 seconds. The last step is the
   * running one. Without it and without `from`, 1h.
   */
  range?: '15m' | '1h' | '24h' | '7d' | undefined;
  /**
   * Instead of `range`. There are at most 120 steps, of 60 seconds or more, which begin at
   * multiples of their length.
   */
  from?: string | undefined;
  /** The end that belongs to `from`. Without it, now. */
  until?: string | undefined;
}

export interface GetSubscriptionStatsAnswer extends StatsSpan {
  items: readonly SubscriptionStats[];
}

export interface SubscriptionStats {
  subscriberId: string;
  /** Deliveries, step by step. */
  delivered: readonly number[];
  /** Attempts that failed, step by step. */
  failed: readonly number[];
  totals: StatsTotals;
  pending: Pending;
  pendingIsCapped: PendingIsCapped;
}
