// The part of the Store port that moves events to callbacks: publish, claim, settle, fan out, look.
// A delivery is leased to a node with a fencing token; a call with another token changes nothing.
import type { Attempt } from '../../core/domain/attempt.ts';
import type { Controls } from '../../core/domain/controls.ts';
import type { DeliveryName, DeliveryState, Leased } from '../../core/domain/delivery.ts';
import type { Event, SkippedCallback } from '../../core/domain/event.ts';
import type { Health } from '../../core/domain/health.ts';
import type { AppSlots } from '../../core/load/share-formula.ts';
import type { Quotas } from '../../core/load/quotas.ts';
import type { Audited } from '../../core/domain/audit.ts';

// How a repeated request is recognised.

/** One page of a list, newest first. */
export interface PageInput {
  limit: number;
  /** The `next` of the previous page. */
  after: string | undefined;
}

export interface Page<T> {
  items: T[];
  /** Set while there may be more, even if this page is short. */
  next: string | undefined;
}

/** `key` and `print` are digests: of operation and Idempotency-Key, and of the request. */
export interface Idempotency {
  key: Uint8Array;
  print: Uint8Array;
}

/**
 * Who receives an event: all callbacks that match its name and subject; all that match its name, whatever their
 * subject; those of one subscription, or every callback of it (a ping). An event of a customer reaches none of others.
 */
export type Audience =
  | { kind: 'everyone' }
  | { kind: 'any_subject' }
  | { kind: 'subscription'; id: string }
  | { kind: 'all_callbacks'; id: string };

/** How many fresh deliveries a node can take straight to the wire, at the time of writing. */
export interface Offer {
  lease: number;
  /** Deliveries that may be inserted with this lease. */
  room: number;
  /** Free slots of lanes with deliveries on this node; any other lane has `laneRoom`. */
  free: ReadonlyMap<number, number>;
  /**
   * Deliveries in flight on this node, for the same lanes. A subscription may have a smaller cap by
   * now than the node knows of, so free slots alone are not enough.
   */
  inFlight: ReadonlyMap<number, number>;
  laneRoom: number;
  /**
   * Lanes among these whose receiver has not answered in time recently; lanes that are not listed
   * are unproven, too.
   */
  unproven?: ReadonlySet<number>;
  /**
   * Slots of each app with deliveries on this node; any other app has `appRoom`. Undefined: no
   * limit.
   */
  apps?: ReadonlyMap<number, AppRoom>;
  appRoom?: AppSlots;
  /** For a fan-out: how many callbacks a step may read while other work waits for it. */
  stepMax?: number;
}

export interface AppRoom extends AppSlots {
  /** Overrides `laneRoom` for lanes of this app. */
  laneRoom: number;
}

/** A delivery that a publish or a fan-out inserted already leased to the offering node. */
export interface FreshDelivery extends DeliveryName {
  appNo: number;
  lane: number;
  callback: number;
  version: number;
  /** Concurrency of the lane: see Leased. */
  concurrency: number | undefined;
}

export interface NewEvent {
  id: string;
  name: string;
  subject?: string | undefined;
  customer?: string | undefined;
  payload: Uint8Array;
  /** It creates no deliveries for these, now or by a fan-out. Undefined: there are none. */
  skipped?: readonly SkippedCallback[] | undefined;
}

export interface DeliveryEdits {
  /**
   * Inserts events with their deliveries, or with the cursor of a fan-out: all or nothing. Matching
   * happens inside the transaction, so it never misses a subscription that was acknowledged before.
   */
  publish: {
    input: {
      appNo: number;
      contract: string;
      events: readonly NewEvent[];
      audience: Audience;
      /** Trace context of the publish. */
      trace?: string | undefined;
      idempotency: Idempotency | undefined;
      /** The inbox entry that this publishes; it is deleted in the same transaction. */
      inbox?: number;
      /** The notice that this publishes; it is deleted in the same transaction. */
      notice?: number;
    };
    output:
      | { kind: 'accepted'; events: readonly Accepted[] }
      /** The same request succeeded before, with these events. */
      | { kind: 'repeated'; events: readonly Accepted[] }
      | { kind: 'mismatch' }
      /** The addressed subscription is unknown, belongs to another app, or has ended. */
      | { kind: 'not_found' }
      /**
       * It names these subscriptions, by id or by subject, which are unconfirmed. Nothing was written: confirm them,
       * then publish again.
       */
      | { kind: 'unconfirmed'; ids: readonly string[] }
      /** The event names no subject, and a subscription that matches its name has one. */
      | { kind: 'subject_missing'; event: string }
      /** Another node has already processed this inbox entry or notice. */
      | { kind: 'taken' };
  };
  /**
   * Sends a delivery again: a dead one becomes due, a delivered or cancelled one gets a successor.
   */
  retryDelivery: {
    input: { appNo: number } & DeliveryName & Audited;
    output:
      /** `customer`: of its subscription. */
      | { kind: 'due'; n: number; customer: string | undefined }
      | { kind: 'pending' }
      | { kind: 'ended' }
      | { kind: 'not_found' };
  };
  /** Cancels pending deliveries of ended subscriptions, at most `limit`. */
  sweep: { input: { limit: number }; output: { cancelled: number; isMore: boolean } };
  /**
   * Deletes what is older than the retention. Pending deliveries of events before `beforeMs` become
   * dead with the reason `expired` (in an ended lane: cancelled); then history is deleted, and
   * subscriptions that ended before that time. In steps of at most `limit` rows (SQLite) or one day
   * (PostgreSQL); never deletes an event with a pending delivery. `deleted` counts rows of any
   * kind. `finals`: a subscription ends when a delivery of one of them has expired, as when it is dead otherwise.
   */
  retain: {
    input: { beforeMs: number; limit: number; finals?: readonly FinalCallback[] };
    output: { expired: number; deleted: number; isMore: boolean; ended?: EndedSubscriptions };
  };
}

/** A callback that the document declares as the last one of a subscription. */
export interface FinalCallback {
  contract: string;
  operation: string;
  definition: string;
}

/** Undefined: none have ended. */
export type EndedSubscriptions = readonly { appNo: number; id: string }[] | undefined;

export interface Accepted {
  id: string;
  /** Undefined for a large fan-out, which continues after the response. */
  deliveries: number | undefined;
  skipped?: readonly SkippedCallback[] | undefined;
}

export interface DeliveryReads {
  /** What sending needs to know about callbacks; unknown ones are left out. */
  targets: { input: { callbacks: readonly number[] }; output: readonly Target[] };
  event: { input: { appNo: number; id: string }; output: Event | undefined };
  events: {
    input: { appNo: number; page: PageInput } & EventFilter;
    output: Page<Event>;
  };
  delivery: { input: { appNo: number } & DeliveryName; output: Delivery | undefined };
  attempts: { input: { appNo: number } & DeliveryName; output: readonly Attempt[] };
  deliveries: {
    input: { appNo: number; page: PageInput; filter: DeliveryFilter };
    output: Page<Delivery>;
  };
  /**
   * Accepted = delivered + dead + cancelled + pending, in one snapshot, over all apps. For tests.
   */
  tally: { input: Record<string, never>; output: Readonly<Record<DeliveryState, number>> };
}

export interface Target {
  callback: number;
  lane: number;
  /** Version of the subscription: a holder of a delivery with a later version must read again. */
  version: number;
  isActive: boolean;
  subscription: string;
  appNo: number;
  appId: string;
  contract: string;
  operation: string;
  definition: string;
  method: string;
  url: string;
  /** Sealed. */
  secrets: Uint8Array;
  controls: Controls;
  /** Sealed. */
  headers: Uint8Array | undefined;
}

export interface EventFilter {
  /** A name, or a pattern; `*` matches any. */
  name: string | undefined;
  subject?: string | undefined;
  /** Of the event, or of the subscription of a delivery. */
  customer?: string | undefined;
  /** Publish time, taken from the id: from `fromMs`, before `untilMs`. */
  fromMs?: number | undefined;
  untilMs?: number | undefined;
}

export interface DeliveryFilter extends EventFilter {
  /** `pending`: due or running; `retrying`: pending after a failed attempt; `ended`: neither. */
  state: DeliveryState | 'pending' | 'retrying' | 'ended' | undefined;
  event: string | undefined;
  subscription: string | undefined;
  /** Of the last response: a class (`4xx`) or a code (`404`). */
  status?: string | undefined;
  /** Error of the last attempt; or why it is dead: `expired`, `exhausted`. */
  error?: string | undefined;
}

export interface Delivery extends DeliveryName {
  eventName: string;
  /** Of the event. */
  subject: string | undefined;
  subscription: string;
  /** Of the subscription. */
  customer: string | undefined;
  callback: { position: number; label: string; method: string; url: string };
  state: DeliveryState;
  attempts: number;
  status: number | undefined;
  error: string | undefined;
  /** While due: when the next attempt may start. */
  dueMs: number | undefined;
  createdMs: number;
  endedMs: number | undefined;
}

/** The state after a write: when the next lane is ready, and whether a fan-out has begun. */
export interface NextWork {
  readyMs: number | undefined;
  isFanningOut: boolean;
}

/**
 * How much room the engine has for deliveries. The store asks just before it sends a batch, so that an offer is
 * current. At most one batch that may lease is in flight, so no slot is offered twice. Undefined: no room now.
 */
export interface LeaseOffer {
  /** For deliveries that publishes of the next batch insert. */
  offer(): Offer | undefined;
  /** For pending deliveries that are due. */
  claim(): Offer | undefined;
  /** For the next step of a large fan-out. */
  fanOut(): Offer | undefined;
}

/** Where the store hands leased deliveries over, and reports what there is to claim. */
export interface DeliverySink {
  /** After a write, before its edits resolve: the deliveries inserted with the offered lease. */
  take(deliveries: readonly Leased[], nextWork: NextWork): void;
  /** After a claim or a fan-out step, and after `take` of the same batch, before its settlements resolve. */
  worked(worked: Worked, asked: { claim: boolean; fanOut: boolean }): void;
  /** Instead of `worked` when the store failed: nothing is known to have happened, and it may be retried. */
  refused(): void;
  /** Another node made deliveries ready, or a fan-out began: there may be something to claim. */
  wake(): void;
}

/** The two sides of an engine that a store calls: see `Store.attach`. */
export type Worker = LeaseOffer & DeliverySink;

/** Deliveries for a node to start: a claim, then a step of a fan-out. */
export interface WorkOffers {
  claim: Offer | undefined;
  /** Inserts the next deliveries of the oldest large fan-out. */
  fanOut: Offer | undefined;
}

/** What a node submits in one call: settlements come first. */
export interface Work extends WorkOffers {
  nowMs: number;
  settlements: readonly Settlement[];
}

export interface Settlement extends DeliveryName {
  lease: number;
  /**
   * The definitions of the final callbacks of its operation, if its own is one: once it is delivered or dead, the
   * subscription ends in the same transaction, unless its event is still pending for another one of them.
   */
  finals?: readonly string[] | undefined;
  outcome:
    | { kind: 'delivered' }
    /** Due again after this wait, which begins when the outcome is stored. */
    | { kind: 'retry'; waitMs: number }
    | { kind: 'dead'; reason: string }
    /** The receiver wants no more: ends the subscription in the same transaction. */
    | { kind: 'gone' }
    | { kind: 'cancelled' }
    /** Released without an attempt, due after this wait. */
    | { kind: 'released'; waitMs: number };
  attempt: AttemptRecord | undefined;
}

/** An attempt as it is stored; its number follows from the earlier ones. */
export type AttemptRecord = Omit<Attempt, 'k'> & { node: number };

export interface Worked {
  claimed: readonly Leased[];
  /** `failure`: why a fan-out cannot continue; it is skipped. */
  fannedOut: { deliveries: readonly Leased[]; isMore: boolean; failure?: string };
  /**
   * When the next lane is ready; undefined when no lane will be. Lanes that are full according to
   * the offer are ignored, because a slot that becomes free triggers another claim. Without an
   * offer it is not known which are full, so only lanes changed by settlements count: otherwise
   * each call would lead to a useless claim of a full lane. docs/performance.md shows what that
   * costs.
   */
  readyMs: number | undefined;
}

export type Settled =
  /** `concurrency`: the present cap of its lane, if any, so that the node learns of changes. */
  | { kind: 'settled'; concurrency?: number }
  /** Settled, and the lane has failed for so long that its subscription should be disabled. */
  | { kind: 'overdue'; appNo: number; lane: number }
  /** The subscription ended with it: nothing more may start on these lanes. */
  | { kind: 'gone'; subscription: string; lanes: readonly number[] }
  /** The lease was stale; nothing changed. */
  | { kind: 'stale' };

// The part of the Store port for events published by SQL, inside a client's own transaction. They
// stay in an inbox until a node has validated them. SQLite does not offer this, so its inbox is
// always empty.

/** An event as it was inserted, not validated yet. */
export interface InboxEntry {
  no: number;
  /** The event's id, which the publisher already has. */
  id: string;
  appNo: number;
  /** Quotas of the app itself. */
  quotas: Quotas;
  name: string;
  subject: string | undefined;
  customer: string | undefined;
  payload: Uint8Array;
}

export interface InboxEdits {
  /**
   * The oldest entries, at most `limit`. They are reserved for this node for `forMs`; then they may
   * be taken again.
   */
  takeInbox: {
    input: { limit: number; forMs: number };
    output: { entries: readonly InboxEntry[] };
  };
  /**
   * Stores an entry as a rejected event, without deliveries, so that it can be inspected. `taken`:
   * another node has already processed it.
   */
  rejectInbox: {
    input: { no: number; reason: string };
    output: { kind: 'rejected' | 'taken' };
  };
}

// The part of the Store port for Ringback's own events. A notice is written in the transaction that
// causes it, and stays until it is published. Also the health of receivers, and the end of failing
// ones.

/** An own event that has not been published yet. */
export interface WaitingNotice {
  no: number;
  appNo: number;
  name: string;
  /** Of the subscription that it is about. */
  customer: string | undefined;
  payload: string;
}

export interface NoticeEdits {
  /**
   * Disables the subscription of a lane that has failed for too long (core/domain/lane.ts), unless another
   * of its receivers had a success since. Its deliveries stay pending.
   */
  disableFailing: {
    input: { appNo: number; lane: number } & Audited;
    output:
      | { kind: 'disabled'; subscription: string; customer: string | undefined }
      /** It works again, or another node was first. */
      | { kind: 'kept' };
  };
}

export interface NoticeReads {
  /** The oldest notices written by `writtenByMs`, at most `limit`. */
  notices: {
    input: { writtenByMs: number; limit: number };
    output: readonly WaitingNotice[];
  };
  /** The health of each of these subscriptions; an unknown one has no failures. */
  subscriptionHealth: {
    input: { appNo: number; ids: readonly string[] };
    output: readonly Health[];
  };
}
