// The part of the Store port that moves events to callbacks: publish, claim, settle, fan out, look.
// A delivery is leased to a node by a token; whatever comes with another token changes nothing.
import type { AppSlots } from '../core/app-share.ts';
import type { Attempt } from '../core/attempt.ts';
import type { Controls } from '../core/controls.ts';
import type { DeliveryName, DeliveryState, Leased } from '../core/delivery.ts';
import type { Event } from '../core/event.ts';
import type { Idempotency } from './idempotency.ts';
import type { Page, PageInput } from './page.ts';

/** Who gets an event: all that hear its name, one subscription, or every callback of it (a ping). */
export type Audience =
  | { kind: 'everyone' }
  | { kind: 'subscription'; id: string }
  | { kind: 'all_callbacks'; id: string };

/** A node's readiness to take fresh deliveries straight to the wire, as of the moment of writing. */
export interface Offer {
  lease: number;
  /** Deliveries that may be born with this lease. */
  room: number;
  /** Free slots of lanes that have deliveries on this node; any other lane has `laneRoom`. */
  free: ReadonlyMap<number, number>;
  /**
   * Deliveries under way on this node, of the same lanes. A subscription may have been given a smaller
   * cap that the node has not heard of, so free slots alone do not tell the store enough.
   */
  underWay: ReadonlyMap<number, number>;
  laneRoom: number;
  /** Of the lanes above, those whose receiver has not answered in time lately; any other lane is unproven, too. */
  unproven?: ReadonlySet<number>;
  /** What each app may take that has deliveries on this node; any other app has `appRoom`. Undefined: no limit. */
  apps?: ReadonlyMap<number, AppRoom>;
  appRoom?: AppSlots;
  /** Of a fan-out: how many callbacks a step may look at, if others wait for it. */
  stepMax?: number;
}

export interface AppRoom extends AppSlots {
  /** What `laneRoom` is for lanes of this app. */
  laneRoom: number;
}

/** A delivery that a publish or a fan-out made and leased to the node that offered. */
export interface Born extends DeliveryName {
  appNo: number;
  lane: number;
  callback: number;
  version: number;
  /** Of the lane: see Leased. */
  concurrency: number | undefined;
}

export interface DeliveryEdits {
  /**
   * Events with their deliveries, or with the cursor that will make them: all or nothing. Matching
   * happens inside the transaction, so no subscription that was answered before is ever missed.
   */
  publish: {
    input: {
      appNo: number;
      contract: string;
      events: readonly { id: string; name: string; payload: Uint8Array }[];
      audience: Audience;
      /** Where in a trace they are published. */
      trace?: string | undefined;
      idempotency: Idempotency | undefined;
      /** The entry of the inbox that this is; it leaves the inbox in the same transaction. */
      inbox?: number;
      /** The notice that this is; it goes in the same transaction. */
      notice?: number;
    };
    output:
      | { kind: 'accepted'; events: readonly Accepted[] }
      /** The same request was answered before, with these. */
      | { kind: 'repeated'; events: readonly Accepted[] }
      | { kind: 'mismatch' }
      /** The addressed subscription is unknown, another app's, or has ended. */
      | { kind: 'not_found' }
      /** Somebody else has dealt with this entry of the inbox, or with this notice. */
      | { kind: 'taken' };
  };
  /** Sends a delivery again: a dead one goes on, a delivered or cancelled one gets a successor. */
  retryDelivery: {
    input: { appNo: number } & DeliveryName;
    output:
      | { kind: 'due'; n: number }
      | { kind: 'pending' }
      | { kind: 'ended' }
      | { kind: 'not_found' };
  };
  /** Cancels waiting deliveries of ended subscriptions, at most `limit`. */
  sweep: { input: { limit: number }; output: { cancelled: number; isMore: boolean } };
  /**
   * Ends what is older than its time: deliveries of events before `beforeMs` that still wait become
   * dead, reason `expired` (in a lane that has ended: cancelled); then the history goes, and
   * subscriptions that ended before that. In steps of at most `limit` rows (SQLite) or a day
   * (PostgreSQL); never while a delivery of it is still pending. `deleted` counts rows of any kind.
   */
  retain: {
    input: { beforeMs: number; limit: number };
    output: { expired: number; deleted: number; isMore: boolean };
  };
}

export interface Accepted {
  id: string;
  /** Undefined for a large fan-out: it goes on after the answer. */
  deliveries: number | undefined;
}

export interface DeliveryReads {
  /** What sending needs to know of callbacks; unknown ones are left out. */
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
  /** Accepted = delivered + dead + cancelled + pending, at one instant, over all apps. For tests. */
  tally: { input: Record<string, never>; output: Readonly<Record<DeliveryState, number>> };
}

export interface Target {
  callback: number;
  lane: number;
  /** The subscription's version: whoever holds a delivery of a later one must read again. */
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
  /** A name, or a pattern; `*` is any. */
  name: string | undefined;
  /** When it was published, as its id says: from the first, up to but not including the second. */
  fromMs?: number | undefined;
  untilMs?: number | undefined;
}

export interface DeliveryFilter extends EventFilter {
  /** `pending`: due or running; `retrying`: pending after a failed attempt; `ended`: neither. */
  state: DeliveryState | 'pending' | 'retrying' | 'ended' | undefined;
  event: string | undefined;
  subscription: string | undefined;
  /** Of the last answer: a class (`4xx`) or a code (`404`). */
  status?: string | undefined;
  /** Of the last attempt; or why it is dead: `expired`, `exhausted`. */
  error?: string | undefined;
}

export interface Delivery extends DeliveryName {
  eventName: string;
  subscription: string;
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

/** What a write leaves behind: when the next lane is ready, and whether a fan-out has begun. */
export interface Outlook {
  readyMs: number | undefined;
  isFanningOut: boolean;
}

/**
 * The dispatcher as the store sees it. Asked just before each batch is written, so that what it offers
 * is what it has; of those that take leases at most one is under way, so nothing is offered twice.
 */
export interface Worker {
  /** Before a write: room for fresh deliveries. */
  offer(): Offer | undefined;
  /**
   * While a write is under way: what will be born, if all goes well. Nothing may begin yet, but what can be made
   * ready can be. The very same comes with `take`, unless the store had to try again.
   */
  foresee?: ((deliveries: readonly Leased[]) => void) | undefined;
  /** After a write, before anything of it resolves: what was born with the offered lease. */
  take(deliveries: readonly Leased[], outlook: Outlook): void;
  /** Before work, or a write that does it as well: a claim, a step of a fan-out, or neither. */
  claim(): Offer | undefined;
  fanOut(): Offer | undefined;
  /** Somebody else made deliveries ready, or a fan-out began: there may be something to claim. */
  wake(): void;
  /** Instead of `worked`, when the store failed: nothing is known to have happened, and it may be asked again. */
  refused(): void;
  /** After it, and after `take`, before anything of it resolves. */
  worked(worked: Worked, asked: { claim: boolean; fanOut: boolean }): void;
}

/** Deliveries for a node to begin with: a claim, then a piece of a fan-out. */
export interface TakeUp {
  claim: Offer | undefined;
  /** Makes the next deliveries of the oldest large fan-out. */
  fanOut: Offer | undefined;
}

/** What a node hands in at once: settlements come first. */
export interface Work extends TakeUp {
  nowMs: number;
  settlements: readonly Settlement[];
}

export interface Settlement extends DeliveryName {
  lease: number;
  outcome:
    | { kind: 'delivered' }
    | { kind: 'retry'; dueMs: number }
    | { kind: 'dead'; reason: string }
    /** The receiver wants no more: ends the subscription in the same transaction. */
    | { kind: 'gone' }
    | { kind: 'cancelled' }
    /** Given back without an attempt, due at `dueMs`. */
    | { kind: 'released'; dueMs: number };
  attempt: AttemptRecord | undefined;
}

/** An attempt as it is written; its number follows from those before. */
export type AttemptRecord = Omit<Attempt, 'k'> & { node: number };

export interface Worked {
  claimed: readonly Leased[];
  /** `failure`: why a fan-out cannot go on; it is passed over. */
  fannedOut: { deliveries: readonly Leased[]; isMore: boolean; failure?: string };
  /**
   * When the next lane is ready; undefined when none ever is. Lanes that the offer calls full do not count:
   * whoever frees a slot asks again. Where nothing was offered nobody knows which are full, and only the lanes
   * that settlements changed count: one that is full would be claimed for nothing each time. One receiver of
   * a hundred that said nothing took a third of their rate from the others so.
   */
  readyMs: number | undefined;
}

export type Settled =
  /** `concurrency`: of its lane as it is now, if it has one. So a node hears of a new one. */
  | { kind: 'settled'; concurrency?: number }
  /** Settled, and the lane has failed for so long that its subscription should be disabled. */
  | { kind: 'overdue'; appNo: number; lane: number }
  /** The subscription has ended with it: nothing more may start on these lanes. */
  | { kind: 'gone'; subscription: string; lanes: readonly number[] }
  /** The lease was not the present one; nothing changed. */
  | { kind: 'stale' };
