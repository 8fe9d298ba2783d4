// The part of the Store port for statistics. Figures of an app are exact, and written in the
// transaction that they count. Those of a subscription accumulate in memory and are written
// periodically.
import type { Counts, Span, Statistics } from '../../core/telemetry/statistics.ts';

export interface StatisticsEdits {
  /** Writes accumulated figures of subscriptions, at most `limit` rows. */
  keepStatistics: { input: { limit: number }; output: { written: number; isMore: boolean } };
  /**
   * Merges past minutes of apps, merges minutes of subscriptions older than `subscriptionFineMs`
   * into half hours, and deletes expired ones; at most `limit` rows of each kind. Totals of apps
   * are kept.
   */
  tidyStatistics: {
    input: {
      appKeepMs: number;
      subscriptionFineMs: number;
      subscriptionKeepMs: number;
      limit: number;
    };
    output: { moved: number; isMore: boolean };
  };
}

export interface StatisticsReads {
  /** Totals of an app: at every instant the same as counting its rows. */
  counts: { input: { appNo: number }; output: Counts };
  appStatistics: { input: { appNo: number; span: Span }; output: AppStatistics };
  /** In the order of the ids; unknown ones, and those of other customers than the given one, are left out. */
  subscriptionStatistics: {
    input: {
      appNo: number;
      customer?: string | undefined;
      ids: readonly string[];
      span: Span;
      pendingMax: number;
    };
    output: readonly SubscriptionStatistics[];
  };
  /** Sums over the newest `customerSummedMax` subscriptions of the customer, ended ones included. */
  customerStatistics: {
    input: { appNo: number; customer: string; span: Span; pendingMax: number };
    output: CustomerStatistics;
  };
}

export interface StepStatistics {
  /** Index of the step in the span, from 0. Empty steps are left out. */
  step: number;
  figures: Statistics;
}

export interface AppStatistics {
  steps: readonly StepStatistics[];
  /** Of all time. */
  counts: Counts;
  /** The event of the oldest pending delivery. */
  oldestPending: string | undefined;
  attention: readonly Attention[];
}

export interface SubscriptionStatistics extends SubscriptionFigures {
  id: string;
}

export interface CustomerStatistics extends SubscriptionFigures {
  /** The customer has more subscriptions, which are not included. */
  subscriptionsAreCapped: boolean;
}

/** Figures of one subscription, or the sums over several. */
export interface SubscriptionFigures {
  steps: readonly StepStatistics[];
  pending: number;
  /** The count stopped at its limit: there are at least this many. */
  isCapped: boolean;
  /** If the count stopped: the oldest among the deliveries that are due first. */
  oldestPending: string | undefined;
}

/** Something that an operator should look at. */
export interface Attention {
  kind: 'disabled' | 'failing';
  subscription: string;
  /** Empty without a target. */
  url: string;
  sinceMs: number | undefined;
  failures: number;
  status: number | undefined;
  error: string | undefined;
}

// The part of the Store port for metrics: how much there is of everything, over all apps. No result
// names an app, and no read costs more when more deliveries are pending.

export interface GaugeReads {
  gauges: { input: Record<string, never>; output: Gauges };
  /** A bounded number of lanes after a number; the pieces of a pass add up. */
  laneCensus: { input: { after: number; nowMs: number; dueMost: number }; output: LaneCensus };
  subscriptionCensus: { input: { after: number }; output: SubscriptionCensus };
}

export interface Gauges {
  /** Over all apps and all time. */
  counts: Counts;
  running: number;
  /** The event of the oldest pending delivery, for whatever reason it is pending. */
  oldestPending: string | undefined;
  /** In progress; counted up to a limit. */
  fanOuts: number;
  replays: number;
  /** Own events that have not been published yet. */
  notices: number;
}

export interface LaneCensus extends LaneSums {
  /** Where the next piece begins; undefined for the last one. */
  last: number | undefined;
}

/** Lanes that have not ended. */
export interface LaneSums {
  open: number;
  /** Their subscription is paused or disabled. */
  held: number;
  ordered: number;
  limited: number;
  /**
   * Lanes with an open breaker, which get one delivery at a time: still closed (`broken`), and
   * ready for a probe (`probing`).
   */
  broken: number;
  probing: number;
  /** Due deliveries, including those of lanes that are closed; counted up to a limit. */
  due: number;
  /**
   * Due time of the delivery that has been due longest: over all lanes, and over lanes that could
   * proceed now.
   */
  oldestDueMs: number | undefined;
  oldestReadyMs: number | undefined;
}

export interface SubscriptionCensus extends SubscriptionSums {
  last: number | undefined;
}

export interface SubscriptionSums {
  unconfirmed: number;
  active: number;
  paused: number;
  disabled: number;
}
