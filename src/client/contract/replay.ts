// Made from openapi.yaml by `npm run docs`: what the contract says of replays.
import type { EventPattern } from './event.ts';
import type { SubscriptionId } from './subscription.ts';

export interface ListReplaysQuery {
  /** Items per page. */
  limit?: number | undefined;
  /** The `nextCursor` of the page before. */
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
  /** Deliveries that were seen to fit so far. */
  matched: number;
  /** Those of them that were sent again. */
  replayed: number;
  /**
   * Those that could not be sent again - their subscription has ended, or they are under way
   * already.
   */
  skipped: number;
  /** How much lies behind it. */
  progress: number;
  createdAt: string;
  endedAt?: string;
}

/** How deliveries ended; `ended` is any way. */
export type EndedState = 'dead' | 'delivered' | 'cancelled' | 'ended';

/** A class of HTTP statuses, or one of them. */
export type StatusFilter = string;

/**
 * Why the last attempt failed; or why a delivery is dead - all attempts failed
 * (`exhausted`), or it still waited after the retention (`expired`).
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
  /** Deliveries that are sent again in a second, at most. */
  ratePerSecond?: number | undefined;
  /** Only count. */
  dryRun?: boolean | undefined;
}

/** All that is given must hold. */
export interface NewReplayFilter {
  state?: EndedState | undefined;
  event?: EventPattern | undefined;
  subscriberId?: SubscriptionId | undefined;
  status?: StatusFilter | undefined;
  error?: ErrorFilter | undefined;
  /** Events that were published at this time or later. */
  from?: string | undefined;
  /** Events that were published before this time. Default - now. */
  until?: string | undefined;
}

export interface CreateReplay200 {
  matched: number;
  /** There may be more. It counts up to 10,000, and for 2 seconds. */
  isCapped: boolean;
}
