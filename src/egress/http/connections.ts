// The connection pool of receivers: connections are taken for one request, released, and kept idle
// for a short time within limits. A burst of requests to one origin does not open one connection
// each: beyond a few, a new one is opened only for a request that has waited a moment, and by then
// another is usually free. A connection belongs to one app: whatever a receiver does to it, no
// request of another app is sent over it.
import type { World } from '../../core/base/world.ts';
import type { AnswerLimits } from './answer-reader.ts';
import type { DialOptions } from './connect.ts';
import { Connection } from './connection.ts';
import type { Deadlines } from './deadlines.ts';
import { LinkedList } from '../../core/base/linked-list.ts';

/** A request for a connection. `use` is called once: immediately, or when one is free. */
export interface Taker {
  /** The pool whose connections it may use: one app at one origin. */
  readonly pool: string;
  readonly origin: string;
  readonly wants: 'any' | 'fresh';
  use(connection: Connection): void;
}

export interface ConnectionLimits extends AnswerLimits {
  readonly connectionsPerOriginMax: number;
  readonly connectionsEagerMax: number;
  readonly connectionPatienceMs: number;
  readonly connectionsIdleMax: number;
  readonly connectionIdleMs: number;
  readonly connectionIdleMarginMs: number;
  readonly connectionAgeMs: number;
}

export interface ConnectionsOptions extends DialOptions {
  readonly world: Pick<World, 'sleep' | 'monotonicMs'>;
  readonly limits: ConnectionLimits;
  readonly deadlines: Deadlines;
}

/** The pool of one app at one origin. */
interface Place {
  readonly key: string;
  readonly origin: Origin;
  /** Most recently used last. */
  readonly idle: Connection[];
  /** Waiting takers and since when, first come first. */
  readonly takers: Map<Taker, number>;
  open: number;
  /** A timer watches the waiting takers. */
  isWatched: boolean;
}

/** Shared by all apps: a receiver gets no more connections because several apps call it. */
interface Origin {
  readonly name: string;
  places: number;
  open: number;
  /** Pools with waiting takers, in the order of their turns. */
  readonly waiting: Set<Place>;
}

export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #places = new Map<string, Place>();
  readonly #origins = new Map<string, Origin>();
  /** With the pool of each. */
  readonly #open = new Map<Connection, Place>();
  readonly #idle = new LinkedList<Connection>(); // Longest idle first.
  readonly #closing = new Set<Promise<void>>();

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  take(taker: Taker): void {
    const { connectionsPerOriginMax, connectionsEagerMax } = this.#options.limits;
    const rested = taker.wants === 'any' ? this.#wake(this.#places.get(taker.pool)) : undefined;
    if (rested !== undefined) return taker.use(rested);
    const origin = this.#origins.get(taker.origin);
    if (origin !== undefined && this.#isFull(origin)) this.#dropIdle(origin);
    const place = this.#placeOf(taker); // Only now: a drop above may have removed the pool.
    const most = taker.wants === 'fresh' ? connectionsPerOriginMax : connectionsEagerMax;
    if (place.open < most && !this.#isFull(place.origin)) return taker.use(this.#connect(place));
    place.takers.set(taker, this.#options.world.monotonicMs());
    place.origin.waiting.add(place);
    this.#watch(place);
  }

  /** Removes a taker that no longer waits. */
  forget(taker: Taker): void {
    const place = this.#places.get(taker.pool);
    if (place === undefined) return;
    this.#removeTaker(place, taker);
    this.#tidy(place);
  }

  /** Returns a connection whose last response was read to its end. */
  release(connection: Connection): void {
    const place = this.#open.get(connection);
    if (place === undefined) return;
    const [taker] = place.takers.keys();
    const [next] = place.origin.waiting;
    // At the limit of the origin the apps take turns, and another app needs a connection of its
    // own.
    const isOthersTurn = this.#isFull(place.origin) && next !== undefined && next !== place;
    if (this.#isOld(connection) || taker?.wants === 'fresh' || isOthersTurn) {
      return this.drop(connection);
    }
    if (taker !== undefined) {
      this.#removeTaker(place, taker);
      return taker.use(connection);
    }
    const restMs = this.#restMs(connection);
    if (restMs <= 0) return this.drop(connection);
    place.idle.push(connection);
    this.#idle.add(connection);
    const expire = (): void => this.drop(connection);
    connection.rest = this.#options.deadlines.set(restMs, { expire });
    const { first, size } = this.#idle;
    if (first !== undefined && size > this.#options.limits.connectionsIdleMax) this.drop(first);
  }

  /** Closes a connection, and fails the request on it with ConnectionGone. */
  drop(connection: Connection): void {
    const place = this.#open.get(connection);
    if (place === undefined) return;
    const { origin } = place;
    this.#open.delete(connection);
    place.open -= 1;
    origin.open -= 1;
    if (this.#rouse(connection)) place.idle.splice(place.idle.indexOf(connection), 1);
    const closed = connection.end().finally(() => this.#closing.delete(closed));
    this.#closing.add(closed);
    const [next] = origin.waiting;
    const [taker] = next?.takers.keys() ?? [];
    if (next !== undefined && taker !== undefined) this.#connectFor(taker, next);
    this.#tidy(place);
  }

  /** Closes all connections; resolves when their sockets are closed. */
  async close(): Promise<void> {
    for (const connection of this.#open.keys()) this.drop(connection);
    await Promise.all(this.#closing);
  }

  count(): { origins: number; open: number; idle: number } {
    return { origins: this.#origins.size, open: this.#open.size, idle: this.#idle.size };
  }

  #placeOf(taker: Taker): Place {
    const { pool: key, origin: name } = taker;
    const found = this.#places.get(key);
    if (found !== undefined) return found;
    const origin = this.#origins.get(name) ?? { name, places: 0, open: 0, waiting: new Set() };
    this.#origins.set(name, origin);
    const place = { key, origin, idle: [], takers: new Map(), open: 0, isWatched: false };
    this.#places.set(key, place);
    origin.places += 1;
    return place;
  }

  /** Removes a pool without connections and takers, and the origin with its last pool. */
  #tidy({ key, origin, open, takers }: Place): void {
    if (open > 0 || takers.size > 0 || !this.#places.delete(key)) return;
    origin.places -= 1;
    if (origin.places === 0) this.#origins.delete(origin.name);
  }

  #isFull({ open }: Origin): boolean {
    return open >= this.#options.limits.connectionsPerOriginMax;
  }

  /** Drops the longest idle connection to the origin, of any app. */
  #dropIdle(origin: Origin): void {
    for (let one = this.#idle.first; one !== undefined; one = one.after) {
      if (one.origin === origin.name) return this.drop(one);
    }
  }

  /** Returns whether it was waiting. The next turn goes to another app. */
  #removeTaker(place: Place, taker: Taker): boolean {
    const { waiting } = place.origin;
    if (!place.takers.delete(taker)) return false;
    waiting.delete(place);
    if (place.takers.size > 0) waiting.add(place);
    return true;
  }

  #watch(place: Place): void {
    if (place.isWatched) return;
    const { deadlines, limits } = this.#options;
    place.isWatched = true;
    const expire = (): void => {
      place.isWatched = false;
      this.#tend(place);
      if (place.takers.size > 0) this.#watch(place);
    };
    deadlines.set(limits.connectionPatienceMs, { expire });
  }

  /** Opens connections for takers that have waited long enough, a few at a time. */
  #tend(place: Place): void {
    const { world, limits } = this.#options;
    const longestMs = world.monotonicMs() - limits.connectionPatienceMs;
    for (const [taker, sinceMs] of [...place.takers].slice(0, limits.connectionsEagerMax)) {
      if (sinceMs <= longestMs) this.#connectFor(taker, place);
    }
  }

  #connectFor(taker: Taker, place: Place): void {
    if (this.#isFull(place.origin)) this.#dropIdle(place.origin);
    if (this.#isFull(place.origin)) return;
    if (!this.#removeTaker(place, taker)) return; // It got a connection meanwhile.
    taker.use(this.#connect(place));
  }

  // The most recently used one is the least likely to be stale, and lets the others time out.
  #wake(place: Place | undefined): Connection | undefined {
    let connection = place?.idle.at(-1);
    while (connection !== undefined && this.#isOld(connection)) {
      this.drop(connection);
      connection = place?.idle.at(-1);
    }
    if (connection === undefined) return undefined;
    place?.idle.pop();
    this.#rouse(connection);
    return connection;
  }

  /** Returns whether it was idle. */
  #rouse(connection: Connection): boolean {
    if (!this.#idle.remove(connection)) return false;
    if (connection.rest !== undefined) this.#options.deadlines.clear(connection.rest);
    connection.rest = undefined;
    return true;
  }

  /** A receiver may shorten the idle time, never extend it; it counts from its response. */
  #restMs({ keptMs = Infinity }: Connection): number {
    const { connectionIdleMs, connectionIdleMarginMs } = this.#options.limits;
    return Math.min(connectionIdleMs, keptMs - connectionIdleMarginMs);
  }

  #isOld({ openedMs }: Connection): boolean {
    const { world, limits } = this.#options;
    return world.monotonicMs() - openedMs >= limits.connectionAgeMs;
  }

  #connect(place: Place): Connection {
    const connection = new Connection(place.origin.name, this.#options.world.monotonicMs(), {
      ...this.#options,
      onGone: (gone) => this.drop(gone),
    });
    this.#open.set(connection, place);
    place.open += 1;
    place.origin.open += 1;
    return connection;
  }
}
