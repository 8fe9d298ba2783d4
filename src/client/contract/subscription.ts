// Made from openapi.yaml by `npm run docs`: what the contract says of subscriptions.
import type { EventName } from './event.ts';

export interface SubscribeOperationQuery {
  /** Variant query. Where to send the callback. */
  callbackUrl?: string | undefined;
  /** Variant query. The name of the one event to hear; no wildcard. */
  event?: string | undefined;
}

export type SubscribeOperationBody = SubscribeBody | SubscribeMulti;

export interface SubscribeBody {
  callbackUrl: string;
  'x-ringback'?: Controls | undefined;
}

/**
 * What the subscription chooses for itself; what is absent is as the service is set. It can
 * be changed by PATCH /subscriptions/{id}. `null` is as good as nothing, here and in each
 * field.
 */
export type Controls = {
  /** What callbacks hear that would otherwise hear every event. Refused where none would. */
  events?: readonly ChosenPattern[] | null | undefined;
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

/**
 * The name of an event; a prefix ending in `.*`, for all names that go on behind it; or `*`,
 * for all. At most 128 characters; names are letters, digits, `_` and `-`, with dots between
 * them.
 */
export type ChosenPattern = string;

/** For people. Kept and shown. Without control characters. */
export type Description = string | null;

/**
 * For programs. Kept and shown, never read here. Names have 1 to 64 characters; all in all
 * it is at most 16 KiB as JSON.
 */
export type Metadata = Readonly<Record<string, string>> | null;

/**
 * Only events are delivered whose payload has, at each of these JSON pointers, the value or
 * one of the values. At most 100 values for each, and 4,096 characters in all.
 */
export type Filter = Readonly<Record<string, unknown>> | null;

/**
 * Waits between the attempts of a delivery, in `ms`, `s`, `m`, `h` or `d`, each at most
 * `7d`. An empty list: one attempt only.
 */
export type Retry = readonly string[] | null;

/** How long a whole attempt may take, from `100ms` to `60s`. */
export type Timeout = string | null;

/** Attempts under way at a time, for each callback and node. */
export type Concurrency = number | null;

/** Attempts a second, over all callbacks of the subscription and all nodes. */
export type RateLimit = number | null;

/**
 * One delivery after the other, in the order of their events. The next one waits until the
 * one before is delivered or dead.
 */
export type Ordered = boolean | null;

/**
 * How callbacks are signed by Standard Webhooks - `hmac` with a shared secret (`v1`), which
 * is the default, or `ed25519` with a key pair (`v1a`), so that a receiver can verify and
 * not sign. A change makes a new secret; the one before signs too for a day.
 */
export type Signing = 'hmac' | 'ed25519' | null;

/**
 * Headers that callbacks carry besides ours, in place of those before. Kept sealed, and
 * shown by name only. Not for headers that belong to HTTP, to Ringback or to a browser, such
 * as `Host`, `Content-Type`, `Cookie` and `webhook-id`.
 */
export type CallbackHeaders = Readonly<Record<string, string>> | null;

/** When the subscription ends by itself. No attempt starts after it. */
export type ExpiresAt = string | null;

export type SubscribeMulti = {
  inProgressUrl?: string | undefined;
  failedUrl?: string | undefined;
  successUrl?: string | undefined;
  'x-ringback'?: Controls | undefined;
} & ({ inProgressUrl: string } | { failedUrl: string } | { successUrl: string });

export interface Subscribed {
  subscriberId: SubscriptionId;
  secret: SigningSecret;
}

export type SubscriptionId = string;

/**
 * Verifies callbacks, as Standard Webhooks says - the shared secret `whsec_`, or of a
 * subscription that signs with `ed25519` the public key `whpk_`.
 */
export type SigningSecret = string;

export interface UnsubscribeOperationQuery {
  /** The `subscriberId` that the subscribe call answered with. */
  Id: string;
}

export interface UnsubscribeOperationAnswer {
  subscriberId: SubscriptionId;
}

export interface ListSubscriptionsQuery {
  state?: SubscriptionState | undefined;
  /** Only subscriptions that hear events of this name. */
  event?: EventName | undefined;
  /**
   * Only subscriptions with a callback whose URL contains this text, in upper or lower case.
   * Without control characters.
   */
  url?: string | undefined;
  /** Items per page. */
  limit?: number | undefined;
  /** The `nextCursor` of the page before. */
  cursor?: string | undefined;
}

export type SubscriptionState = 'active' | 'paused' | 'disabled' | 'ended';

export interface Subscription {
  id: SubscriptionId;
  state: SubscriptionState;
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
  /** Headers that its callbacks carry besides ours. */
  headerNames?: readonly string[];
  expiresAt?: ExpiresAt;
  createdAt: string;
  endedAt?: string;
  health?: Health;
}

export interface Callback {
  position: number;
  label: string;
  /** The first of `events`. */
  event: string;
  /** What it hears - event names, `*`, or prefixes ending in `.*`. */
  events: readonly string[];
  method: string;
  url?: string;
  /** Why nothing is sent there. Absent while it is active. */
  inactive?: string;
}

/**
 * How its receivers do, where one subscription is asked for and it has not ended. After ten
 * failures in a row the breaker of a receiver is `open`: it gets one delivery at a time, at
 * first every 30 seconds, later every 15 minutes, until one succeeds; the others wait. After
 * five days without any success the subscription is disabled.
 */
export interface Health {
  state: 'ok' | 'failing' | 'open';
  /** In a row, of the receiver that does worst. */
  failures: number;
  failingSince?: string;
  /** When a receiver that fails is tried next. Absent when nothing waits for it. */
  nextAttemptAt?: string;
}

export interface EditSubscriptionBody {
  state?: 'active' | 'paused' | undefined;
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

export type EventPatterns = readonly ChosenPattern[];

export interface Secret {
  secret: SigningSecret;
  publicKey?: PublicKey;
  previous?: {
    secret: SigningSecret;
    publicKey?: PublicKey;
    expiresAt: string;
  };
}

/** Of `ed25519` only - the same as `secret`, 32 bytes in base64 behind `whpk_`. */
export type PublicKey = string;

export interface RotateBody {
  /** How long the old one stays valid. 0 ends it at once. */
  overlapSeconds?: number | undefined;
}
