// The Store port: what the engine may ask of a database, as named verbs with plain values. Edits
// are collected into batches and are on stable storage when they resolve. Reads see every edit that
// resolved before. An expected refusal is a value; a rejected promise means that the store itself
// failed.
import type { App } from '../../core/domain/app.ts';
import type { Controls } from '../../core/domain/controls.ts';
import type { EventType } from '../../core/domain/event.ts';
import type { Key, Scope } from '../../core/domain/key.ts';
import type { PortalGrant, Session, SessionKind } from '../../core/domain/session.ts';
import type {
  Callback,
  EndReason,
  Exchange,
  Subscription,
  SubscriptionState,
} from '../../core/domain/subscription.ts';
import type { HandOut } from '../../core/load/batch-pacer.ts';
import type { Quotas } from '../../core/load/quotas.ts';
import type { Audited } from '../../core/domain/audit.ts';
import type { AuditEdits, AuditReads } from './audit-verbs.ts';
import type {
  DeliveryEdits,
  DeliveryReads,
  Settled,
  Settlement,
  Worker,
  InboxEdits,
  NoticeEdits,
  NoticeReads,
  Idempotency,
  Page,
  PageInput,
} from './delivery-verbs.ts';
import type { FeedEdits, FeedReads } from './feed-verbs.ts';
import type { NodeEdits, NodeReads } from './node-verbs.ts';
import type { ReplayEdits, ReplayReads } from './replay-verbs.ts';
import type { GaugeReads, StatisticsEdits, StatisticsReads } from './statistics-verbs.ts';

export type { Idempotency, Page, PageInput };

export interface Store {
  /**
   * `queued` receives a function that withdraws the edit while it waits for its batch, for a caller
   * that gives up.
   */
  edit<V extends EditVerb>(verb: V, input: EditInput<V>, queued?: Queued): Promise<EditOutput<V>>;
  read<V extends ReadVerb>(verb: V, input: ReadInput<V>): Promise<ReadOutput<V>>;
  /** Records the outcome of a leased delivery. Always accepted while the store is open. */
  settle(settlement: Settlement): Promise<Settled>;
  /** How often to poll for work without a notification. */
  readonly pollMs: number;
  /** The time by which the store checks ages: on a shared database the same for all nodes. */
  nowMs(): number;
  /** Whether other nodes may use the same database. */
  readonly isShared: boolean;
  /** Requests a work cycle: the store will ask for offers. */
  work(): void;
  /** Sets who offers room for deliveries and receives them: the dispatcher. Call once. */
  attach(worker: Worker): void;
  /** Runs the continuation of a reply: at once, or after the next batch was sent. */
  handOut: HandOut;
  /** The queue length: a number that keeps growing means that the store is too slow. */
  waiting(): Waiting;
  /** Finishes accepted calls, then releases the database. Safe to call twice. */
  close(): Promise<void>;
}

/**
 * Withdraws an edit. True: it was still queued, is rejected now and never happens. False: it was already handed to the
 * database, or was never queued here, and its result is not known yet.
 */
export type Withdraw = () => boolean;
export type Queued = (withdraw: Withdraw) => void;

/** Numbers of calls that are queued for the next batch. */
export interface Waiting {
  edits: number;
  settlements: number;
}

/**
 * The store cannot accept the work now: full, broken, closed or unreachable. Nothing was promised;
 * but if the connection broke during the commit, the operation may have happened.
 */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

/**
 * Only this call violated a rule of the database: a bug of its caller, not a state of the store.
 */
export class VerbFailed extends Error {
  override readonly name = 'VerbFailed';
}

export interface NewKey {
  id: string;
  hash: Uint8Array;
  name: string;
  scopes: readonly Scope[];
  customer?: string | undefined;
  expiresMs: number | undefined;
}

export interface NewSubscription {
  id: string;
  appNo: number;
  contract: string;
  operation: string;
  callbacks: readonly Callback[];
  secrets: Uint8Array;
  /** By default none. */
  controls?: Controls;
  /** Sealed. */
  headers?: Uint8Array | undefined;
  /**
   * Hash of a resource that has at most one subscription in the app: this one replaces an earlier
   * one.
   */
  resource?: string | undefined;
  subject?: string | undefined;
  customer?: string | undefined;
  /**
   * Makes it unconfirmed: no publish finds it before `confirmSubscription`, and it ends at this time without. Such a
   * subscription names its resource when it is confirmed, because only then may it replace another.
   */
  confirmByMs?: number | undefined;
  /** The exchange that made it, if an API answered. */
  exchange?: Exchange | undefined;
}

/** A customer of an app, as its subscriptions show it. */
export interface Customer {
  name: string;
  /** Numbers of subscriptions by state, except ended ones. Counts at most the newest `customerSubscriptionsMax`. */
  subscriptions: Readonly<Record<Exclude<SubscriptionState, 'ended'>, number>>;
  /** There are more subscriptions than were counted. */
  isCapped: boolean;
  /** Of the worst receiver. */
  failures: number;
  failingMs: number | undefined;
}

export type QuotaEdits = { readonly [N in keyof Quotas]?: number | null | undefined };

/** Input and output of each edit. Every edit runs inside the transaction of its batch. */
export interface Edits
  extends
    DeliveryEdits,
    NodeEdits,
    InboxEdits,
    NoticeEdits,
    SessionEdits,
    StatisticsEdits,
    FeedEdits,
    ReplayEdits,
    AuditEdits {
  createApp: {
    input: { id: string; name: string; key: NewKey } & Audited;
    output:
      | { kind: 'created'; app: App; key: Key }
      | { kind: 'name_taken' }
      | { kind: 'key_taken' };
  };
  /**
   * Sets a new name, or new quotas: a number, or null for the service default. Absent: unchanged.
   */
  editApp: {
    input: { appNo: number; name: string | undefined; quotas: QuotaEdits } & Audited;
    output:
      /** `changed`: names of members that have another value now. */
      | { kind: 'edited'; app: App; changed: readonly string[] }
      | { kind: 'name_taken' }
      | { kind: 'not_found' };
  };
  createKey: {
    input: { appNo: number; key: NewKey } & Audited;
    output: { kind: 'created'; key: Key } | { kind: 'key_taken' };
  };
  /** The present hash becomes the old one, valid until `oldUntilMs`. */
  rotateKey: {
    input: { appNo: number; id: string; hash: Uint8Array; oldUntilMs: number } & Audited;
    output: { kind: 'rotated'; key: Key } | { kind: 'revoked' } | { kind: 'not_found' };
  };
  revokeKey: {
    input: { appNo: number; id: string } & Audited;
    output: { kind: 'revoked'; key: Key; isRepeated: boolean } | { kind: 'not_found' };
  };
  /** Records when keys were last used. */
  touchKeys: { input: { ids: readonly string[] }; output: { kind: 'touched' } };
  subscribe: {
    input: {
      subscription: NewSubscription;
      idempotency: Idempotency | undefined;
      /** The quota of an app that has none of its own; absent: unlimited. */
      subscriptionsMax?: number | undefined;
    } & Audited;
    output:
      /** `replaced`: the id of the subscription that was ended for it. */
      | { kind: 'created'; subscription: Subscription; replaced?: string | undefined }
      /** The same request succeeded before, with this subscription, which may have replaced one. */
      | { kind: 'repeated'; subscription: Subscription; isReplacing: boolean }
      /** The idempotency key belongs to another request. */
      | { kind: 'mismatch' }
      /** Its expiry is already in the past. */
      | { kind: 'expired' }
      /** The app has reached its quota of subscriptions. */
      | { kind: 'full'; quota: number };
  };
  /**
   * A subscribe request that makes no subscription: ends the one of its resource, if there is one.
   */
  clearResource: {
    input: {
      appNo: number;
      resource: string | undefined;
      idempotency: Idempotency | undefined;
    } & Audited;
    output:
      /** The id of the ended subscription, and its customer. */
      | { kind: 'cleared'; ended: string | undefined; customer: string | undefined }
      /** The same request succeeded before. */
      | { kind: 'repeated'; isReplacing: boolean }
      | { kind: 'mismatch' };
  };
  /**
   * Lets publishes find an unconfirmed subscription, and fills in what was not known before. What it already has
   * stays, confirmed or not: confirming again changes nothing.
   */
  confirmSubscription: {
    input: {
      appNo: number;
      id: string;
      subject?: string | undefined;
      expiresMs?: number | undefined;
      /** Sealed. */
      headers?: Uint8Array | undefined;
      /** Ends the earlier subscription of this resource. */
      resource?: string | undefined;
      /**
       * All callbacks, now that the whole exchange is known. A definition without a target so far gets those of this
       * list, or the reason why it has none; all other callbacks stay as they are.
       */
      callbacks?: readonly Callback[];
      /** Of the answer that accepted it. */
      status?: number | undefined;
    } & Audited;
    output:
      | {
          kind: 'confirmed';
          subscription: Subscription;
          replaced?: string | undefined;
          /** It had nothing to fill in. */
          isRepeated: boolean;
        }
      | { kind: 'ended' }
      | { kind: 'not_found' };
  };
  /** Ends the subscription with all its callbacks; ending it again changes nothing. */
  unsubscribe: {
    /** `reason`: by default `unsubscribed`. `status`: of the answer that refused it. */
    input: {
      appNo: number;
      id: string;
      reason?: EndReason;
      status?: number | undefined;
    } & Audited;
    output:
      | { kind: 'ended'; subscription: Subscription; isRepeated: boolean }
      | { kind: 'not_found' };
  };
  /**
   * Ends the subscription if it has expired, or was not confirmed in time; an edit may have changed that since it was
   * read.
   */
  expireSubscription: {
    input: { appNo: number; id: string };
    output: { kind: 'ended' } | { kind: 'kept' };
  };
  /**
   * Applies the named changes, all or nothing, if the version is still the one that the caller
   * read.
   */
  editSubscription: {
    input: {
      appNo: number;
      id: string;
      version: number;
      state: Exclude<SubscriptionState, 'ended' | 'unconfirmed'> | undefined;
      urls: readonly { position: number; url: string }[];
      /** Replaces the patterns of a callback. */
      events?: readonly { position: number; events: readonly string[] }[];
      secrets: Uint8Array | undefined;
      /** Null: none from now on. */
      customer?: string | null | undefined;
      /** Replaces all controls, with the sealed headers that belong to them. */
      chosen?: { controls: Controls; headers: Uint8Array | undefined } | undefined;
    } & Audited;
    output:
      | { kind: 'edited'; subscription: Subscription }
      /** The new expiry is already in the past. */
      | { kind: 'expired' }
      | { kind: 'stale' }
      | { kind: 'ended' }
      /** It must be confirmed first. */
      | { kind: 'unconfirmed' }
      | { kind: 'not_found' };
  };
  /** Declares an event type, or replaces what was declared. */
  putEventType: {
    input: {
      appNo: number;
      type: Omit<EventType, 'version' | 'createdMs' | 'updatedMs'>;
    } & Audited;
    output:
      | { kind: 'created'; type: EventType }
      /** `changed`: names of members that have another value now. */
      | { kind: 'replaced'; type: EventType; changed: readonly string[] }
      /** With it, the app would have so many types, or so many characters in all of them. */
      | { kind: 'full'; types: number; chars: number };
  };
  deleteEventType: {
    input: { appNo: number; name: string } & Audited;
    output: { kind: 'deleted' } | { kind: 'not_found' };
  };
  /** Stores a value under a name unless there is one already; returns the stored one. */
  keepSetting: { input: { name: string; value: Uint8Array }; output: { value: Uint8Array } };
  /** Deletes patterns that ended earlier and that no fan-out in progress needs. */
  forgetPatterns: { input: { beforeMs: number; limit: number }; output: { deleted: number } };
  /** Deletes expired rows, at most `limit`. */
  forget: { input: { idempotencyBeforeMs: number; limit: number }; output: { deleted: number } };
}

export interface Reads
  extends
    DeliveryReads,
    NodeReads,
    NoticeReads,
    SessionReads,
    StatisticsReads,
    FeedReads,
    ReplayReads,
    GaugeReads,
    AuditReads {
  /** By its own id, in any app: this is the read that finds out which app is calling. */
  key: { input: { id: string }; output: Key | undefined };
  keys: { input: { appNo: number; page: PageInput }; output: Page<Key> };
  app: { input: { id: string } | { name: string }; output: App | undefined };
  apps: { input: { page: PageInput }; output: Page<App> };
  eventType: { input: { appNo: number; name: string }; output: EventType | undefined };
  /** By name. */
  eventTypes: { input: { appNo: number }; output: readonly EventType[] };
  /** What of them tells whether a schema that was read before is still the current one. */
  eventTypeVersions: {
    input: { appNo: number };
    output: readonly Pick<EventType, 'name' | 'version' | 'createdMs'>[];
  };
  subscription: { input: { appNo: number; id: string }; output: Subscription | undefined };
  /** The id of the subscription of a resource that has not ended. */
  subscriptionOf: { input: { appNo: number; resource: string }; output: string | undefined };
  subscriptions: {
    input: {
      appNo: number;
      page: PageInput;
      state: SubscriptionState | undefined;
      /** An event name: only subscriptions with a callback that matches it. */
      event?: string | undefined;
      /** Only subscriptions with a callback whose URL contains this text, ignoring case. */
      url?: string | undefined;
      subject?: string | undefined;
      customer?: string | undefined;
    };
    output: Page<Subscription>;
  };
  /** Customers that have subscriptions, or had some that are still kept, by name. `customer`: only this one. */
  customers: {
    input: { appNo: number; page: PageInput; customer?: string | undefined };
    output: Page<Customer>;
  };
  /** Subscriptions whose time is over, oldest first: expired, or not confirmed; and when the next one's is. */
  expiring: {
    input: { beforeMs: number; limit: number };
    output: {
      expired: readonly { appNo: number; id: string }[];
      nextMs: number | undefined;
    };
  };
  /** Proves that the database answers, and returns its last migration. */
  health: { input: Record<string, never>; output: { schema: number } };
}

export type EditVerb = keyof Edits;
export type EditInput<V extends EditVerb> = Edits[V]['input'];
export type EditOutput<V extends EditVerb> = Edits[V]['output'];
export type ReadVerb = keyof Reads;
export type ReadInput<V extends ReadVerb> = Reads[V]['input'];
export type ReadOutput<V extends ReadVerb> = Reads[V]['output'];

// The part of the Store port for sessions of the console and of portals. It receives hashes of tokens, never a
// token.

/** A key, and the hash of the secret of it that is meant. */
type KeySecret = Pick<Session, 'keyId' | 'keyHash'>;

interface SessionEdits {
  /** For the key with this id, which may not exist. */
  createSession: {
    input: {
      hash: Uint8Array;
      kind: SessionKind;
      expiresMs: number;
      portal?: PortalGrant | undefined;
    } & KeySecret &
      Audited;
    output: { kind: 'created' } | { kind: 'not_found' };
  };
  /**
   * Deletes a ticket of the console, or of a portal, that has not expired. If it is presented several
   * times, only one call gets the key.
   */
  takeTicket: {
    input: { hash: Uint8Array; opens: 'console' | 'portal' };
    output:
      | ({ kind: 'taken'; portal: PortalGrant | undefined } & KeySecret)
      | { kind: 'not_found' };
  };
  /** Extends a session; never shortens one, nor revives one that has ended. */
  prolongSession: {
    input: { hash: Uint8Array; expiresMs: number };
    output: { kind: 'prolonged' };
  };
  endSession: {
    input: { hash: Uint8Array } & Audited;
    output: { kind: 'ended'; isRepeated: boolean };
  };
  /** Deletes tickets and sessions that expired earlier, at most `limit`. */
  forgetSessions: { input: { beforeMs: number; limit: number }; output: { deleted: number } };
}

interface SessionReads {
  /** A session, not a ticket. The caller checks its expiry. */
  session: { input: { hash: Uint8Array }; output: Session | undefined };
  /** The oldest valid key of the app that may manage it. */
  adminKey: { input: { appNo: number; nowMs: number }; output: KeySecret | undefined };
}

// Why a store could not be opened, in words for the user who starts Ringback.

export type CannotOpenCode =
  | 'in_use'
  | 'newer_schema'
  | 'bad_migrations'
  | 'missing'
  | 'shared_session'
  | 'failed';

export class CannotOpenStore extends Error {
  override readonly name = 'CannotOpenStore';
  readonly code: CannotOpenCode;

  constructor(code: CannotOpenCode, message: string, options?: { cause: unknown }) {
    super(message, options);
    this.code = code;
  }
}
