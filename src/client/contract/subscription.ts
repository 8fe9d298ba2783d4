// Generated from openapi.yaml by `npm run docs`: the types of subscriptions.
import type { EventPattern, Subject, Customer, EventName } from './event.ts';

export interface SubscribeOperationQuery {
  /** Variant query. URL that receives the callback. */
  callbackUrl?: string | undefined;
  /**
   * Variant query. Name of the event to subscribe to. It is never a wildcard: `*` and
   * `order.*` are names here.
   */
  event?: EventName | undefined;
}

export type SubscribeOperationBody = SubscribeBody | SubscribeMulti | SubscribeQuery;

/** Body of the variant body. */
export interface SubscribeBody {
  callbackUrl: string;
  'x-ringback'?: Controls | undefined;
}

/**
 * Settings of this subscription. Absent fields use the service defaults. They can be changed
 * with PATCH /subscriptions/{id}. `null`, here and in each field, means absent.
 */
export type Controls = {
  /**
   * Events for callbacks that would otherwise match every event. Refused if there is no such
   * callback.
   */
  events?: readonly EventPattern[] | null | undefined;
  /** Whose it is. An event that names a customer reaches only subscriptions of that customer. */
  customer?: Customer | null | undefined;
  description?: Description | undefined;
  metadata?: Metadata | undefined;
  filter?: Filter | undefined;
  retry?: Retry | undefined;
  timeout?: Timeout | undefined;
  concurrency?: Concurrency | undefined;
  rateLimit?: RateLimit | undefined;
  ordered?: Ordered | undefined;
  signing?: Signing | undefined;
  headers?: CallbackHeaders | undefined;
  expiresAt?: ExpiresAt | undefined;
} | null;

/** Free text for users. Stored and shown. Control characters are not allowed. */
export type Description = string | null;

/**
 * Free data for programs. Stored and shown, never interpreted. Names have 1 to 64
 * characters; the total is at most 16 KiB as JSON.
 */
export type Metadata = Readonly<Record<string, string>> | null;

/**
 * Deliver only events whose payload has, at each of these JSON pointers, the value or one of
 * the values. At most 100 values per pointer, and 4,096 characters in total.
 */
export type Filter = Readonly<Record<string, unknown>> | null;

/**
 * Delays between the attempts of a delivery, in `ms`, `s`, `m`, `h` or `d`, each at most
 * `7d`. An empty list means a single attempt.
 */
export type Retry = readonly string[] | null;

/** Timeout of a whole attempt, from `100ms` to `60s`. */
export type Timeout = string | null;

/** Maximum number of concurrent attempts, per callback and node. */
export type Concurrency = number | null;

/**
 * Maximum number of attempts per second, over all callbacks of the subscription and all
 * nodes.
 */
export type RateLimit = number | null;

/**
 * Deliver one at a time, in the order of the events. The next delivery waits until the
 * previous one is delivered or dead-lettered.
 */
export type Ordered = boolean | null;

/**
 * How callbacks are signed, following Standard Webhooks - `hmac` with a shared secret (`v1`,
 * the default), or `ed25519` with a key pair (`v1a`), so that a receiver can verify but not
 * sign. Changing it creates a new secret; the previous one also signs for another day.
 */
export type Signing = 'hmac' | 'ed25519' | null;

/**
 * Extra headers to send with callbacks. A new value replaces all previous ones. Stored
 * encrypted; only their names are shown. Headers that belong to HTTP, to Ringback or to
 * browsers are not allowed, such as `Host`, `Content-Type`, `Cookie` and `webhook-id`.
 */
export type CallbackHeaders = Readonly<Record<string, string>> | null;

/** When the subscription ends automatically. No attempt starts after this time. */
export type ExpiresAt = string | null;

/** Body of the variant multi. */
export type SubscribeMulti = {
  inProgressUrl?: string | undefined;
  failedUrl?: string | undefined;
  successUrl?: string | undefined;
  /** Without `events`, because the callbacks have events of their own. */
  'x-ringback'?: Controls | undefined;
} & ({ inProgressUrl: string } | { failedUrl: string } | { successUrl: string });

/** Body of the variant query, whose URL and event are in the query. */
export interface SubscribeQuery {
  /** Without `events`, because the callbacks have events of their own. */
  'x-ringback'?: Controls | undefined;
}

export interface Subscribed {
  subscriberId: SubscriptionId;
  secret: SigningSecret;
}

export type SubscriptionId = string;

/**
 * Verifies callbacks, as defined by Standard Webhooks - the shared secret `whsec_` or, for
 * subscriptions that sign with `ed25519`, the public key `whpk_`.
 */
export type SigningSecret = string;

export interface UnsubscribeOperationQuery {
  /** The `subscriberId` that the subscribe call returned. */
  Id: string;
}

export interface UnsubscribeOperationAnswer {
  subscriberId: SubscriptionId;
}

export interface ListSubscriptionsQuery {
  state?: SubscriptionState | undefined;
  /** Only subscriptions that match events of this name. */
  event?: EventName | undefined;
  /**
   * Only subscriptions with a callback whose URL contains this text, ignoring case. Control
   * characters are not allowed.
   */
  url?: string | undefined;
  /** Only subscriptions with this subject. */
  subject?: Subject | undefined;
  /** Only subscriptions of this customer. */
  customer?: Customer | undefined;
  /** Items per page. */
  limit?: number | undefined;
  /** The `nextCursor` of the previous page. */
  cursor?: string | undefined;
}

/**
 * `unconfirmed` - it is not known yet whether the API accepted the request that it comes
 * from. It receives no events before it is confirmed.
 */
export type SubscriptionState = 'unconfirmed' | 'active' | 'paused' | 'disabled' | 'ended';

export interface Subscription {
  id: SubscriptionId;
  state: SubscriptionState;
  /**
   * What it is about. It receives only events with this subject; without one, events of any
   * subject.
   */
  subject?: string;
  /**
   * Whose it is. It receives events that name this customer, and those that name none. Absent
   * if it is of no customer, and receives only the latter.
   */
  customer?: string;
  contract: string;
  operation: string;
  callbacks: readonly Callback[];
  description?: Description;
  metadata?: Metadata;
  filter?: Filter;
  retry?: Retry;
  timeout?: Timeout;
  concurrency?: Concurrency;
  rateLimit?: RateLimit;
  ordered: Ordered;
  signing?: Signing;
  /** Names of the extra headers that its callbacks carry. */
  headerNames?: readonly string[];
  expiresAt?: ExpiresAt;
  /** When it ends if it is still unconfirmed. */
  confirmBy?: string;
  exchange?: Exchange;
  createdAt: string;
  endedAt?: string;
  endReason?: EndReason;
  health?: Health;
}

export interface Callback {
  position: number;
  label: string;
  /** The first of `events`. */
  event: string;
  /** What it matches - event names, `*`, or prefixes ending in `.*`. */
  events: readonly string[];
  method: string;
  url?: string;
  /** Why nothing is sent there. Absent if the callback is active. */
  inactive?: string;
}

/** The request to an API that made the subscription. Absent if Ringback itself answered it. */
export interface Exchange {
  /**
   * The id of the request, as in the log. The API got it as `X-Request-Id`, unless the caller
   * sent one.
   */
  requestId: string;
  /** Status of the answer. Absent while it is not known. */
  status?: number;
}

/**
 * Why it ended - `unsubscribed` by a request, `expired` at `expiresAt`, `gone` because its
 * receiver answered with 410, `final` with a final callback, `replaced` by a later
 * subscription of the same resource, `unconfirmed` because it was not confirmed in time,
 * `refused` because the API refused the request that it comes from.
 */
export type EndReason =
  | 'unsubscribed'
  | 'expired'
  | 'gone'
  | 'final'
  | 'replaced'
  | 'unconfirmed'
  | 'refused';

/**
 * Health of its receivers. Absent if the subscription has ended. After ten consecutive
 * failures, the circuit breaker of a receiver is `open`: it gets one delivery at a time, at
 * first every 30 seconds, later every 15 minutes, until one succeeds; its other deliveries
 * stay pending. After five days without a success, the subscription is disabled.
 */
export interface Health {
  state: 'ok' | 'failing' | 'open';
  /** Consecutive failures, of the worst receiver. */
  failures: number;
  failingSince?: string;
  /** Next attempt at a failing receiver. Absent if nothing is pending for it. */
  nextAttemptAt?: string;
}

export interface ListCustomersQuery {
  /** Items per page. */
  limit?: number | undefined;
  /** The `nextCursor` of the previous page. */
  cursor?: string | undefined;
}

export interface CustomerSummary {
  customer: Customer;
  /** Numbers of subscriptions by state, except ended ones. */
  subscriptions: {
    unconfirmed: number;
    active: number;
    paused: number;
    disabled: number;
  };
  /** There are more than 1,000 subscriptions; only the newest were counted. */
  subscriptionsAreCapped: boolean;
  health: Health;
}

export interface EditSubscriptionBody {
  state?: 'active' | 'paused' | undefined;
  /** Whose it is from now on. Null - of no customer. */
  customer?: Customer | null | undefined;
  callbacks?:
    | readonly {
        position: number;
        url?: string | undefined;
        events?: EventPatterns | undefined;
      }[]
    | undefined;
  description?: Description | undefined;
  metadata?: Metadata | undefined;
  filter?: Filter | undefined;
  retry?: Retry | undefined;
  timeout?: Timeout | undefined;
  concurrency?: Concurrency | undefined;
  rateLimit?: RateLimit | undefined;
  ordered?: Ordered | undefined;
  signing?: Signing | undefined;
  headers?: CallbackHeaders | undefined;
  expiresAt?: ExpiresAt | undefined;
}

export type EventPatterns = readonly EventPattern[];

export interface Secret {
  secret: SigningSecret;
  publicKey?: PublicKey;
  previous?: {
    secret: SigningSecret;
    publicKey?: PublicKey;
    expiresAt: string;
  };
}

/** Only for `ed25519` - the same key as `secret`, 32 bytes in base64 after `whpk_`. */
export type PublicKey = string;

export interface RotateBody {
  /** How long the old one stays valid. 0 ends it at once. */
  overlapSeconds?: number | undefined;
}

export interface RegisterExchangeBody {
  operationId?: string | undefined;
  method?: string | undefined;
  /** As in the document, after the path of its first server. */
  path?: string | undefined;
  request: {
    method?: string | undefined;
    /** As your API got it, with or without the origin. */
    url: string;
    headers?: HeaderFields | undefined;
    /** The parsed body. */
    body?: unknown;
  };
  response: {
    status: number;
    headers?: HeaderFields | undefined;
    /** The body before it is written as JSON. */
    body?: unknown;
  };
}

/** Header names, in any case, with a value or a list of values. */
export type HeaderFields = Readonly<Record<string, string | readonly string[]>>;

export interface RegisterExchange200 {
  registered: false;
  reason: string;
  /** The subscriptions that the exchange has ended. */
  ended?: readonly SubscriptionId[];
}

export interface RegisterExchange201 {
  registered: true;
  subscription: Subscription;
  /**
   * Why the subscription has no subject, although its operation has one. It only receives
   * events that name its id.
   */
  warning?: string;
}
