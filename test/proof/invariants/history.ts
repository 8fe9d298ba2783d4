// The history of a run, for the checks of the invariants: responses to publishers and subscribers, requests at the
// receivers, and the contents of the database. All times are of one clock that no node can see.

export interface History {
  waitsMs: readonly number[];
  /** Several nodes share the database: they may obey a change one second late. A single node obeys at once. */
  isShared: boolean;
  /** Only receivers failed, with a response: there may be no duplicates. */
  isCalm: boolean;
  publishes: readonly Publish[];
  subscriptions: readonly Subscribed[];
  /** Subscribe calls without a response. */
  unknownSubscribes: number;
  sends: readonly Send[];
  events: readonly EventRow[];
  deliveries: readonly DeliveryRow[];
  /** Deliveries for which a retry by hand was requested. */
  redriven: ReadonlySet<string>;
  /** Replays that were requested, and those in the database. */
  replaysAsked: readonly ReplayAsked[];
  replays: readonly ReplayRow[];
  /** Times at which the database's clock was set. */
  clockSteps: readonly number[];
  /** The changes of deliveries and nodes, in order. */
  log: readonly LogRow[];
  /** Incarnations whose process died, and when. */
  deaths: readonly Death[];
  /** Violations found in snapshots. */
  snapshotFlaws: readonly string[];
  /** Incarnations that left the cluster in an orderly way. */
  farewells: ReadonlySet<number>;
  /** The database's time at 0. */
  epochMs: number;
}

export interface Publish {
  marker: string;
  name: string;
  /** The payload field that filters compare. */
  kind: number;
  body: string;
  key: string | undefined;
  calls: readonly PublishCall[];
}

export interface PublishCall {
  askedMs: number;
  /** Undefined if there was no response. */
  answeredMs: number | undefined;
  /** The event id, with its prefix; undefined if the call failed or its outcome is unknown. */
  id: string | undefined;
  error: string | undefined;
}

/** A span in which no attempt may start; with several nodes, not counting its first second. */
export interface Silence {
  of: string;
  fromMs: number;
  toMs: number;
  /** Only requests to this URL. */
  url?: string;
}

export interface Subscribed {
  id: string;
  askedMs: number;
  answeredMs: number;
  /** The event pattern: one name, or `*`. */
  hears: string;
  /** The kinds that its filter matches. */
  kinds: readonly number[] | undefined;
  isOrdered: boolean;
  /** The limit of deliveries in flight on one node. */
  concurrency: number | undefined;
  ratePerSecond: number | undefined;
  /** When it expires. */
  expiresMs: number | undefined;
  endAskedMs: number | undefined;
  endAnsweredMs: number | undefined;
  silences: readonly Silence[];
  /** Whether it was ever paused, and whether its URL was ever changed. */
  wasHeld: boolean;
  wasMoved: boolean;
  secrets: readonly string[];
}

export interface Send {
  node: string;
  /** The incarnation that held the lease. */
  incarnation: number;
  delivery: string;
  event: string;
  subscription: string;
  attempt: number;
  timestampS: number;
  /** The node's own time when it created the request. */
  wallS: number;
  signature: string;
  body: string;
  url: string;
  /** When it left the node; undefined if it had no connection. */
  startedMs: number | undefined;
  /** The receiver's status; undefined if it never got the request. */
  reply: number | undefined;
  /** When the receiver responded. */
  repliedMs: number | undefined;
  /** What the node saw; `nothing` if it died or is still waiting. */
  seen: 'answer' | 'failure' | 'aborted' | 'nothing';
  seenMs: number | undefined;
  /** The receiver's Retry-After. */
  retryAfterMs: number | undefined;
}

export interface EventRow {
  id: string;
  name: string;
  body: string;
  deliveries: number | undefined;
}

export interface DeliveryRow {
  id: string;
  event: string;
  subscription: string;
  state: 'pending' | 'delivered' | 'dead' | 'cancelled';
  attempts: number;
}

export interface ReplayAsked {
  key: string;
  state: 'ended' | 'delivered' | 'dead' | 'cancelled';
  /** The event name that it selects. */
  event: string | undefined;
  subscriberId: string | undefined;
  ratePerSecond: number;
  /** The ids in its responses: must be one id, however often it was requested. */
  ids: ReadonlySet<string>;
  cancelAskedMs: number | undefined;
}

export interface ReplayRow extends Pick<ReplayAsked, 'event' | 'subscriberId' | 'ratePerSecond'> {
  id: string;
  wanted: ReplayAsked['state'];
  state: 'running' | 'done' | 'cancelled';
  replayed: number;
  createdMs: number;
}

export interface LogRow {
  atMs: number;
  /**
   * Delivery: `made`, with its due time or its position in `a`; `claimed` from a lane with a rate, at `a` by the
   * database's clock; `ended` in state `a`, at `b` by that clock; `left` or `changed` after its end, from state `a`
   * to `b`. Node `n`: `gone`, last seen at `a`. Replay `event`: `replay` when it was created; rows between `step` and
   * `stepped` belong to one step of it. Event: `fan-out` when its fan-out began, `fanned` when all deliveries exist.
   */
  what: string;
  event: string;
  n: number;
  a: number;
  b: number;
}

export interface Death {
  incarnation: number;
  atMs: number;
  /** Deliveries that it had leased. */
  held: readonly { event: string; n: number; lease: number }[];
}

/** One violation, of one invariant. */
export interface Flaw {
  invariant: string;
  what: string;
}
