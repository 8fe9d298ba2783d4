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
import { StartQueue } from './start-queue.ts';

/** A request for a connection. `use` is called once: immediately, or when one is free. */
export interface ConnectionRequest {
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
interface Pool {
  readonly key: string;
  readonly origin: Origin;
  /** Most recently used last. */
  readonly idle: Connection[];
  /** Waiting requests and since when, first come first. */
  readonly requests: Map<ConnectionRequest, number>;
  open: number;
  /** A timer watches the waiting requests. */
  isWatched: boolean;
}

/** Shared by all apps: a receiver gets no more connections because several apps call it. */
interface Origin {
  readonly name: string;
  pools: number;
  open: number;
  /** Pools with waiting requests, in the order of their turns. */
  readonly waiting: Set<Pool>;
}

export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #pools = new Map<string, Pool>();
  readonly #origins = new Map<string, Origin>();
  /** With the pool of each. */
  readonly #open = new Map<Connection, Pool>();
  readonly #idle = new LinkedList<Connection>(); // Longest idle first.
  readonly #closing = new Set<Promise<void>>();
  readonly #startQueue = new StartQueue();

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  take(request: ConnectionRequest): void {
    const { connectionsPerOriginMax, connectionsEagerMax } = this.#options.limits;
    const idle =
      request.wants === 'any' ? this.#takeIdle(this.#pools.get(request.pool)) : undefined;
    if (idle !== undefined) return request.use(idle);
    const origin = this.#origins.get(request.origin);
    if (origin !== undefined && this.#isFull(origin)) this.#dropIdle(origin);
    const pool = this.#poolFor(request); // Only now: a drop above may have removed the pool.
    const most = request.wants === 'fresh' ? connectionsPerOriginMax : connectionsEagerMax;
    if (pool.open < most && !this.#isFull(pool.origin)) return request.use(this.#connect(pool));
    pool.requests.set(request, this.#options.world.monotonicMs());
    pool.origin.waiting.add(pool);
    this.#watchWaiting(pool);
  }

  /** Removes a request that no longer waits. */
  forget(request: ConnectionRequest): void {
    const pool = this.#pools.get(request.pool);
    if (pool === undefined) return;
    this.#removeWaiting(pool, request);
    this.#removeIfUnused(pool);
  }

  /** Returns a connection whose last response was read to its end. */
  release(connection: Connection): void {
    const pool = this.#open.get(connection);
    if (pool === undefined) return;
    const [request] = pool.requests.keys();
    const [next] = pool.origin.waiting;
    // At the limit of the origin the apps take turns, and another app needs a connection of its
    // own.
    const isOthersTurn = this.#isFull(pool.origin) && next !== undefined && next !== pool;
    if (this.#isOld(connection) || request?.wants === 'fresh' || isOthersTurn) {
      return this.drop(connection);
    }
    if (request !== undefined) {
      this.#removeWaiting(pool, request);
      return request.use(connection);
    }
    const idleMs = this.#idleMs(connection);
    if (idleMs <= 0) return this.drop(connection);
    pool.idle.push(connection);
    this.#idle.add(connection);
    const expire = (): void => this.drop(connection);
    connection.idleDeadline = this.#options.deadlines.set(idleMs, { expire });
    const { first, size } = this.#idle;
    if (first !== undefined && size > this.#options.limits.connectionsIdleMax) this.drop(first);
  }

  /** Closes a connection, and fails the request on it with ConnectionGone. */
  drop(connection: Connection): void {
    const pool = this.#open.get(connection);
    if (pool === undefined) return;
    const { origin } = pool;
    this.#open.delete(connection);
    pool.open -= 1;
    origin.open -= 1;
    if (this.#leaveIdle(connection)) pool.idle.splice(pool.idle.indexOf(connection), 1);
    const closed = connection.end().finally(() => this.#closing.delete(closed));
    this.#closing.add(closed);
    const [next] = origin.waiting;
    const [request] = next?.requests.keys() ?? [];
    if (next !== undefined && request !== undefined) this.#connectFor(request, next);
    this.#removeIfUnused(pool);
  }

  /** Closes all connections; resolves when their sockets are closed. */
  async close(): Promise<void> {
    for (const connection of this.#open.keys()) this.drop(connection);
    await Promise.all(this.#closing);
  }

  count(): { origins: number; open: number; idle: number } {
    return { origins: this.#origins.size, open: this.#open.size, idle: this.#idle.size };
  }

  #poolFor(request: ConnectionRequest): Pool {
    const { pool: key, origin: name } = request;
    const found = this.#pools.get(key);
    if (found !== undefined) return found;
    const origin = this.#origins.get(name) ?? { name, pools: 0, open: 0, waiting: new Set() };
    this.#origins.set(name, origin);
    const pool = { key, origin, idle: [], requests: new Map(), open: 0, isWatched: false };
    this.#pools.set(key, pool);
    origin.pools += 1;
    return pool;
  }

  /** Removes a pool without connections and requests, and the origin with its last pool. */
  #removeIfUnused({ key, origin, open, requests }: Pool): void {
    if (open > 0 || requests.size > 0 || !this.#pools.delete(key)) return;
    origin.pools -= 1;
    if (origin.pools === 0) this.#origins.delete(origin.name);
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
  #removeWaiting(pool: Pool, request: ConnectionRequest): boolean {
    const { waiting } = pool.origin;
    if (!pool.requests.delete(request)) return false;
    waiting.delete(pool);
    if (pool.requests.size > 0) waiting.add(pool);
    return true;
  }

  #watchWaiting(pool: Pool): void {
    if (pool.isWatched) return;
    const { deadlines, limits } = this.#options;
    pool.isWatched = true;
    const expire = (): void => {
      pool.isWatched = false;
      this.#connectOverdue(pool);
      if (pool.requests.size > 0) this.#watchWaiting(pool);
    };
    deadlines.set(limits.connectionPatienceMs, { expire });
  }

  /** Opens connections for requests that have waited long enough, a few at a time. */
  #connectOverdue(pool: Pool): void {
    const { world, limits } = this.#options;
    const longestMs = world.monotonicMs() - limits.connectionPatienceMs;
    for (const [request, sinceMs] of [...pool.requests].slice(0, limits.connectionsEagerMax)) {
      if (sinceMs <= longestMs) this.#connectFor(request, pool);
    }
  }

  #connectFor(request: ConnectionRequest, pool: Pool): void {
    if (this.#isFull(pool.origin)) this.#dropIdle(pool.origin);
    if (this.#isFull(pool.origin)) return;
    if (!this.#removeWaiting(pool, request)) return; // It got a connection meanwhile.
    request.use(this.#connect(pool));
  }

  // The most recently used one is the least likely to be stale, and lets the others time out.
  #takeIdle(pool: Pool | undefined): Connection | undefined {
    let connection = pool?.idle.at(-1);
    while (connection !== undefined && this.#isOld(connection)) {
      this.drop(connection);
      connection = pool?.idle.at(-1);
    }
    if (connection === undefined) return undefined;
    pool?.idle.pop();
    this.#leaveIdle(connection);
    return connection;
  }

  /** Returns whether it was idle. */
  #leaveIdle(connection: Connection): boolean {
    if (!this.#idle.remove(connection)) return false;
    if (connection.idleDeadline !== undefined)
      this.#options.deadlines.clear(connection.idleDeadline);
    connection.idleDeadline = undefined;
    return true;
  }

  /** A receiver may shorten the idle time, never extend it; it counts from its response. */
  #idleMs({ keepAliveMs = Infinity }: Connection): number {
    const { connectionIdleMs, connectionIdleMarginMs } = this.#options.limits;
    return Math.min(connectionIdleMs, keepAliveMs - connectionIdleMarginMs);
  }

  #isOld({ openedMs }: Connection): boolean {
    const { world, limits } = this.#options;
    return world.monotonicMs() - openedMs >= limits.connectionAgeMs;
  }

  #connect(pool: Pool): Connection {
    const connection = new Connection(pool.origin.name, this.#options.world.monotonicMs(), {
      ...this.#options,
      startQueue: this.#startQueue,
      onGone: (gone) => this.drop(gone),
    });
    this.#open.set(connection, pool);
    pool.open += 1;
    pool.origin.open += 1;
    return connection;
  }
}
