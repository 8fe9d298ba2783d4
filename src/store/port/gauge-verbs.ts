// The part of the Store port for metrics: how much there is of everything, over all apps. No result
// names an app, and no read costs more when more deliveries are pending.
import type { Counts } from '../../core/telemetry/statistics.ts';

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
  active: number;
  paused: number;
  disabled: number;
}
