// Generated from openapi.yaml by `npm run docs`: the types of replays.
import type { EventPattern } from './event.ts';
import type { SubscriptionId } from './subscription.ts';

export interface ListReplaysQuery {
  /** Items per page. */
  limit?: number | undefined;
  /** The `nextCursor` of the previous page. */
  cursor?: string | undefined;
}

export interface Replay {
  id: string;
  state: 'running' | 'done' | 'cancelled';
  filter: {
    state: EndedState;
    event?: EventPattern;
    subscriberId?: SubscriptionId;
    status?: StatusFilter;
    error?: ErrorFilter;
    from?: string;
    until: string;
  };
  ratePerSecond: number;
  /** Matching deliveries found so far. */
  matched: number;
  /** Those that were sent again. */
  replayed: number;
  /**
   * Deliveries that could not be sent again - their subscription has ended, or they are
   * already pending.
   */
  skipped: number;
  /** Share completed. */
  progress: number;
  createdAt: string;
  endedAt?: string;
}

/** How the deliveries ended; `ended` means any state. */
export type EndedState = 'dead' | 'delivered' | 'cancelled' | 'ended';

/** A class of HTTP statuses, or a single status. */
export type StatusFilter = string;

/**
 * Why the last attempt failed, or why a delivery is dead-lettered - all attempts failed
 * (`exhausted`), or it was still pending when its retention ended (`expired`).
 */
export type ErrorFilter =
  | 'dns'
  | 'refused'
  | 'tls'
  | 'timeout'
  | 'reset'
  | 'too_large'
  | 'redirect'
  | 'blocked'
  | 'protocol'
  | 'status'
  | 'exhausted'
  | 'expired';

export interface CreateReplayBody {
  filter?: NewReplayFilter | undefined;
  /** Maximum number of deliveries sent again per second. */
  ratePerSecond?: number | undefined;
  /** Only count the matching deliveries. */
  dryRun?: boolean | undefined;
}

/** Deliveries must match all given fields. */
export interface NewReplayFilter {
  state?: EndedState | undefined;
  event?: EventPattern | undefined;
  subscriberId?: SubscriptionId | undefined;
  status?: StatusFilter | undefined;
  error?: ErrorFilter | undefined;
  /** Events published at this time or later. */
  from?: string | undefined;
  /** Events published before this time. Default - now. */
  until?: string | undefined;
}

export interface CreateReplay200 {
  matched: number;
  /** There may be more: counting stops at 10,000 deliveries or after 2 seconds. */
  isCapped: boolean;
}
