// Generated from openapi.yaml by `npm run docs`: the types of deliveries, their attempts and replays.
import type { EventPattern, Subject, Customer, EventId } from './event.ts';
import type { SubscriptionId } from './subscription.ts';

export interface ListDeliveriesQuery {
  /**
   * Only deliveries in this state. `pending`: due or running. `retrying`: pending after at
   * least one failed attempt.
   */
  state?:
    | 'due'
    | 'running'
    | 'delivered'
    | 'dead'
    | 'cancelled'
    | 'pending'
    | 'retrying'
    | undefined;
  /** Only deliveries of events with this name, or whose names match this pattern. */
  event?: EventPattern | undefined;
  /** Only deliveries of events with this subject. */
  subject?: Subject | undefined;
  /** Only deliveries to subscriptions of this customer. */
  customer?: Customer | undefined;
  eventId?: string | undefined;
  subscriberId?: string | undefined;
  /** Only deliveries whose last response had this status, or a status of this class. */
  status?: string | undefined;
  /**
   * Only deliveries whose last attempt failed with this error, or that are dead-lettered
   * because they were still pending when their retention ended (`expired`) or because no
   * attempt is left (`exhausted`).
   */
  error?:
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
    | 'expired'
    | 'exhausted'
    | undefined;
  /** Only events published at this time or later. */
  from?: string | undefined;
  /** Only events published before this time. */
  until?: string | undefined;
  /** Items per page. */
  limit?: number | undefined;
  /** The `nextCursor` of the previous page. */
  cursor?: string | undefined;
}

export interface Delivery {
  id: DeliveryId;
  state: DeliveryState;
  event: string;
  /** Of the event. Absent if it has none. */
  subject?: string;
  eventId: EventId;
  subscriberId: SubscriptionId;
  /** Of the subscription. Absent if it has none. */
  customer?: string;
  callback: {
    position: number;
    label: string;
    method: string;
    url: string;
  };
  attemptCount: number;
  /** Last HTTP status of the receiver. */
  status?: number;
  /**
   * Why the last attempt failed; or `expired`, if the delivery was still pending when its
   * retention ended.
   */
  error?:
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
    | 'expired';
  nextAttemptAt?: string;
  createdAt: string;
  endedAt?: string;
}

export type DeliveryId = string;

export type DeliveryState = 'due' | 'running' | 'delivered' | 'dead' | 'cancelled';

export interface GetDeliveryAnswer extends Delivery {
  attempts: readonly Attempt[];
}

export interface Attempt {
  id: string;
  startedAt: string;
  tookMs: number;
  status?: number;
  error?: AttemptError;
  /** The cause of the error, or the redirects. */
  message?: string;
  /** Undeclared receiver response. */
  warning?: string;
  request: {
    method: string;
    url: string;
    headers: Readonly<Record<string, string>>;
  };
  response?: {
    headers: Readonly<Record<string, string>>;
    body: string;
    /** The body was truncated. */
    isCut: boolean;
  };
}

/** Why the attempt failed. */
export type AttemptError =
  | 'dns'
  | 'refused'
  | 'tls'
  | 'timeout'
  | 'reset'
  | 'too_large'
  | 'redirect'
  | 'blocked'
  | 'protocol'
  | 'status';

export interface RetryDeliveryAnswer {
  id: DeliveryId;
}

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
    subject?: Subject;
    customer?: Customer;
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
  subject?: Subject | undefined;
  customer?: Customer | undefined;
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
