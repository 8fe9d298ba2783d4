// Whether this node counts as alive. It sends heartbeats to the store; other nodes declare a silent
// node gone and take over its deliveries. So that the two never work at once, a node whose
// heartbeats fail stops starting attempts some seconds before that.
import { holderOf } from '../../core/domain/delivery.ts';
import { limits } from '../../core/limits/limits.ts';
import { version } from '../../core/base/package.ts';
import type { World } from '../../core/base/world.ts';
import type { Node, NodeRole } from '../../store/port/node-verbs.ts';
import type { Store } from '../../store/port/store.ts';

export interface LivenessDeps {
  world: World;
  store: Pick<Store, 'edit' | 'isShared'>;
  name: string;
  role: NodeRole;
  /**
   * Leases of a node that is gone were freed, so changes of deliveries may have gone unreported.
   */
  onRescued: () => void;
  onError: (error: unknown) => void;
}

/**
 * An incarnation of the node, and when its last two successful heartbeats began. The store saw them
 * no earlier.
 */
export interface Incarnation {
  node: number;
  /** By `elapsedMs`, which goes on while the machine is suspended. */
  seenMs: number;
  /** Monotonic: when the last heartbeat and the one before it began. */
  lastMs: number;
  beforeMs: number;
}

/** Registers the node and starts its heartbeat. */
export async function startLiveness(deps: LivenessDeps): Promise<Liveness> {
  return new Liveness(deps, await announce(deps));
}

export class Liveness {
  readonly #deps: LivenessDeps;
  readonly #stop = new AbortController();
  readonly #done: Promise<void>;
  #now: Incarnation;
  /** Ends the wait for the next round; undefined outside of it and after a failure. */
  #resting: AbortController | undefined;
  #onLost: () => void = () => undefined;

  constructor(deps: LivenessDeps, incarnation: Incarnation) {
    this.#deps = deps;
    this.#now = incarnation;
    this.#done = this.#live();
  }

  /**
   * `act` is called when the node's number is void: what is leased to it belongs to other nodes.
   */
  whenLost(act: () => void): void {
    this.#onLost = act;
  }

  /** The number of the present incarnation. */
  no(): number {
    return this.#now.node;
  }

  get name(): string {
    return this.#deps.name;
  }

  get role(): NodeRole {
    return this.#deps.role;
  }

  /**
   * Whether a recent heartbeat has reached the store. A node that finds itself silent sends one at
   * once: its timers do not notice a suspension or a wall clock set forward.
   */
  isFresh(): boolean {
    const isFresh = this.#deps.world.elapsedMs() - this.#now.seenMs <= limits.nodeFreshMs;
    if (!isFresh) this.#resting?.abort();
    return isFresh;
  }

  /** A node that is alone on its database may always work, since no other could take over. */
  mayWork(): boolean {
    return !this.#deps.store.isShared || this.isFresh();
  }

  /** Whether a lease still belongs to this node, so that an attempt may start under it. */
  holds(lease: number): boolean {
    return this.mayWork() && holderOf(lease) === this.#now.node;
  }

  /** Deregisters the node. Everything that works under its number must have stopped. */
  async [Symbol.asyncDispose](): Promise<void> {
    const { world, store, onError } = this.#deps;
    this.#stop.abort();
    const goodbye = this.#done
      .then(async () => store.edit('stopNode', { node: this.#now.node }))
      .then(() => undefined, onError);
    // A store that does not answer must not delay the stop: the others find out by the silence,
    // only later.
    const patience = new AbortController();
    const enough = world.sleep(limits.storeAnswerMs, patience.signal).catch(() => undefined);
    await Promise.race([goodbye, enough]);
    patience.abort();
  }

  async #live(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const waitMs = await this.#round();
      const resting = new AbortController();
      if (waitMs > limits.heartbeatAgainMs) this.#resting = resting;
      const either = AbortSignal.any([signal, resting.signal]);
      await this.#deps.world.sleep(waitMs, either).catch(() => undefined); // Stopped, or due early.
      this.#resting = undefined;
    }
  }

  /** Returns the time until the next round. */
  async #round(): Promise<number> {
    const { store, role, onRescued, onError } = this.#deps;
    // A node that is alone has nothing to rescue.
    const rescues = store.isShared && role !== 'api';
    try {
      if (this.#isBeatDue()) await this.#beat();
      if (rescues && this.#isSteady()) {
        const { gone, freed } = await store.edit('rescue', { silentMs: limits.nodeSilentMs });
        if (gone + freed > 0) onRescued();
      }
    } catch (error) {
      onError(error);
      return limits.heartbeatAgainMs;
    }
    // After a slow round the next heartbeat may be due already.
    if (this.#isBeatDue()) return limits.heartbeatAgainMs;
    return rescues ? limits.rescueEveryMs : limits.heartbeatEveryMs;
  }

  /**
   * Due if its time is nearer than that of the next round. Time of a suspension counts, or else
   * this node's own rescue would declare it gone.
   */
  #isBeatDue(): boolean {
    const silentMs = this.#deps.world.elapsedMs() - this.#now.seenMs;
    return silentMs >= limits.heartbeatEveryMs - limits.rescueEveryMs / 2;
  }

  /**
   * Whether the store has been reachable for a while. After an outage no node has a recent
   * heartbeat, so the first one to reconnect gives the others time for theirs before it declares
   * any gone.
   */
  #isSteady(): boolean {
    const { lastMs, beforeMs } = this.#now;
    return this.isFresh() && lastMs - beforeMs <= 2 * limits.heartbeatEveryMs;
  }

  async #beat(): Promise<void> {
    const { world, store } = this.#deps;
    const [seenMs, lastMs] = [world.elapsedMs(), world.monotonicMs()];
    const { node } = this.#now;
    const { kind } = await store.edit('heartbeat', { node });
    if (kind === 'alive') {
      this.#now = { node, seenMs, lastMs, beforeMs: this.#now.lastMs };
      return;
    }
    const never = -Infinity;
    this.#now = { node, seenMs: never, lastMs: never, beforeMs: never };
    this.#onLost();
    this.#now = await announce(this.#deps);
  }
}

/** Registers a new incarnation. */
async function announce({ world, store, name, role }: LivenessDeps): Promise<Incarnation> {
  const [seenMs, lastMs] = [world.elapsedMs(), world.monotonicMs()];
  const aloneHere = !store.isShared;
  const { node } = await store.edit('startNode', { name, role, version, aloneHere });
  return { node, seenMs, lastMs, beforeMs: -Infinity };
}

/** All nodes of the database. */
export async function listNodes({
  store,
}: {
  store: Pick<Store, 'read'>;
}): Promise<readonly Node[]> {
  return store.read('nodes', {});
}
