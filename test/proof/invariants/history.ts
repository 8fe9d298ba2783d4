// What a run leaves behind for its judges: what publishers and subscribers were told, what receivers saw,
// and what the database says. All times are of one clock that no node can see.

export interface History {
  waitsMs: readonly number[];
  /** Several nodes share the database: then the one-second rule holds, otherwise the exact one. */
  isShared: boolean;
  /** Nothing failed but receivers, who said so: nothing may come twice. */
  isCalm: boolean;
  publishes: readonly Publish[];
  subscriptions: readonly Subscribed[];
  /** Subscribe calls whose outcome nobody was told. */
  unknownSubscribes: number;
  sends: readonly Send[];
  events: readonly EventRow[];
  deliveries: readonly DeliveryRow[];
  /** Retries by hand that were asked for, by delivery. */
  redriven: ReadonlySet<string>;
  /** Replays that were asked for, and those that there are. */
  replaysAsked: readonly ReplayAsked[];
  replays: readonly ReplayRow[];
  /** When the only clock of the database was set. */
  clockSteps: readonly number[];
  /** What was written about deliveries and nodes, in order. */
  log: readonly LogRow[];
  /** Incarnations, and when their process died. */
  deaths: readonly Death[];
  /** What was wrong at snapshots. */
  snapshotFlaws: readonly string[];
  /** Incarnations that said goodbye. */
  farewells: ReadonlySet<number>;
  /** What the database's clock said at 0. */
  epochMs: number;
}

export interface Publish {
  marker: string;
  name: string;
  /** What filters ask for. */
  kind: number;
  body: string;
  key: string | undefined;
  calls: readonly PublishCall[];
}

export interface PublishCall {
  askedMs: number;
  /** Undefined: nobody answered. */
  answeredMs: number | undefined;
  /** Of the event, with its prefix; undefined: it failed, or nobody knows. */
  id: string | undefined;
  error: string | undefined;
}

/** A span in which nothing may start; among several nodes its first second is left to them. */
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
  /** One event name, or `*`. */
  hears: string;
  /** The kinds that its filter lets pass. */
  kinds: readonly number[] | undefined;
  isOrdered: boolean;
  /** Under way at a time, on one node. */
  concurrency: number | undefined;
  ratePerSecond: number | undefined;
  /** When it ends by itself. */
  expiresMs: number | undefined;
  endAskedMs: number | undefined;
  endAnsweredMs: number | undefined;
  silences: readonly Silence[];
  /** Whether it was ever held, or asked to be sent elsewhere. */
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
  /** What the node's own clock said when it made the request. */
  wallS: number;
  signature: string;
  body: string;
  url: string;
  /** When it left the node; undefined: no connection was made. */
  startedMs: number | undefined;
  /** What the receiver did: its status. Undefined: it never got the request. */
  reply: number | undefined;
  /** When the receiver was done with it. */
  repliedMs: number | undefined;
  /** What the node saw of it; `nothing`: it died, or waits still. */
  seen: 'answer' | 'failure' | 'aborted' | 'nothing';
  seenMs: number | undefined;
  /** What the receiver asked for. */
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
  /** The name of its events. */
  event: string | undefined;
  subscriberId: string | undefined;
  ratePerSecond: number;
  /** What it was answered: one id, however often it was asked for. */
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
   * Of a delivery: `made`, `a` is when it is due, or its place; `claimed` from a lane with a rate, at `a` by
   * the database's clock; `ended` in state `a`, at `b` by that clock; `left` or `changed` after its
   * end, from state `a` to `b`. Of node `n`: `gone`, seen last at `a`. Of the replay `event`: `replay` when it was made;
   * what happens between `step` and `stepped` is a step of it. Of an event: `fan-out` when it was begun,
   * `fanned` when all its deliveries were made.
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
  /** Deliveries that it held then. */
  held: readonly { event: string; n: number; lease: number }[];
}

/** One violation, of one invariant. */
export interface Flaw {
  invariant: string;
  what: string;
}
