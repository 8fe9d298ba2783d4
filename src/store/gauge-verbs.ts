// The part of the Store port for metrics: how much there is of everything, over all apps. Nothing here
// names an app, and no read costs more the more deliveries wait.
import type { Counts } from '../core/figures.ts';

export interface GaugeReads {
  gauges: { input: Record<string, never>; output: Gauges };
  /** Lanes after a number, so many that it takes a moment: those of a pass add up. */
  laneCensus: { input: { after: number; nowMs: number; dueMost: number }; output: LaneCensus };
  subscriptionCensus: { input: { after: number }; output: SubscriptionCensus };
}

export interface Gauges {
  /** Of all apps, in all. */
  counts: Counts;
  running: number;
  /** The event of the oldest delivery that has not ended, whatever it waits for. */
  oldestPending: string | undefined;
  /** Under way; counted up to a limit. */
  fanOuts: number;
  replays: number;
  /** Own events that are yet to be published. */
  notices: number;
}

export interface LaneCensus extends LaneSums {
  /** Where the next piece begins; undefined when this was the last one. */
  last: number | undefined;
}

/** Lanes that have not ended. */
export interface LaneSums {
  open: number;
  /** Their subscription is paused or disabled. */
  held: number;
  ordered: number;
  limited: number;
  /** So many failures that one delivery at a time goes: before its next one, and when it may go. */
  broken: number;
  probing: number;
  /** Deliveries whose time has come, also of lanes that may not go on; counted up to a limit. */
  due: number;
  /** When the delivery became due that waits longest: of all, and of lanes that could go on now. */
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
