// Whether this node counts as alive. It says so to the store now and then; one that was silent for too
// long is declared gone by the others and its work given away. So that the two never work at once, a
// node that has not been heard starts nothing any more, some seconds before the others give it up.
import { holderOf } from '../core/lease.ts';
import { limits } from '../core/limits.ts';
import { version } from '../core/version.ts';
import type { World } from '../core/world.ts';
import type { NodeRole } from '../store/node-verbs.ts';
import type { Store } from '../store/store.ts';

export interface LivenessMeans {
  world: World;
  store: Pick<Store, 'edit' | 'isShared'>;
  name: string;
  role: NodeRole;
  /** Deliveries of a node that is gone were freed: nobody told what became of them. */
  onRescued: () => void;
  onError: (error: unknown) => void;
}

/** An incarnation, and its last two heartbeats that succeeded: the store has seen them no earlier. */
export interface Incarnation {
  node: number;
  /** By `elapsedMs`: a suspended machine is silent, whatever its monotonic clock says. */
  seenMs: number;
  /** Monotonic, when the last one and the one before it began. */
  lastMs: number;
  beforeMs: number;
}

/** Announces the node, and keeps saying that it is there. */
export async function startLiveness(means: LivenessMeans): Promise<Liveness> {
  return new Liveness(means, await announce(means));
}

export class Liveness {
  readonly #means: LivenessMeans;
  readonly #stop = new AbortController();
  readonly #done: Promise<void>;
  #now: Incarnation;
  /** Ends the wait for the next round; undefined while there is none, or after a failure. */
  #resting: AbortController | undefined;
  #onLost: () => void = () => undefined;

  constructor(means: LivenessMeans, incarnation: Incarnation) {
    this.#means = means;
    this.#now = incarnation;
    this.#done = this.#live();
  }

  /** Told when the number is void: whatever is leased to it belongs to others by now. */
  whenLost(act: () => void): void {
    this.#onLost = act;
  }

  /** The number of the present incarnation. */
  no(): number {
    return this.#now.node;
  }

  get name(): string {
    return this.#means.name;
  }

  get role(): NodeRole {
    return this.#means.role;
  }

  /** Whether the store has heard of this node lately. */
  isFresh(): boolean {
    return this.#means.world.elapsedMs() - this.#now.seenMs <= limits.nodeFreshMs;
  }

  /**
   * Alone on its database a node has nobody who could give its work away. One that finds itself silent sends a
   * heartbeat at once: after a suspension, or when the wall clock was set forward, its timers know nothing of that.
   */
  mayWork(): boolean {
    if (!this.#means.store.isShared || this.isFresh()) return true;
    this.#resting?.abort();
    return false;
  }

  /** Whether a lease is still this node's, so that an attempt may start under it. */
  holds(lease: number): boolean {
    return this.mayWork() && holderOf(lease) === this.#now.node;
  }

  /** Says goodbye; whoever works under the number must have stopped. */
  async [Symbol.asyncDispose](): Promise<void> {
    const { world, store, onError } = this.#means;
    this.#stop.abort();
    const goodbye = this.#done
      .then(async () => store.edit('stopNode', { node: this.#now.node }))
      .then(() => undefined, onError);
    // A store that does not answer must not hold up the stop: silence says the same, only later.
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
      await this.#means.world.sleep(waitMs, either).catch(() => undefined); // Stopped, or due early.
      this.#resting = undefined;
    }
  }

  /** Gives the time until the next one. */
  async #round(): Promise<number> {
    const { store, role, onRescued, onError } = this.#means;
    // Alone there is nobody to rescue from.
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
    // One that took its time may be due again as it ends.
    if (this.#isBeatDue()) return limits.heartbeatAgainMs;
    return rescues ? limits.rescueEveryMs : limits.heartbeatEveryMs;
  }

  /**
   * Now, if that is nearer to its time than the next round. A suspension counts, or this node's own rescue would
   * declare it gone.
   */
  #isBeatDue(): boolean {
    const silentMs = this.#means.world.elapsedMs() - this.#now.seenMs;
    return silentMs >= limits.heartbeatEveryMs - limits.rescueEveryMs / 2;
  }

  /**
   * Whether the store was there for a while. After an outage nobody has been heard of; whoever comes back
   * first gives the others time to say that they are there, before it declares anyone gone.
   */
  #isSteady(): boolean {
    const { lastMs, beforeMs } = this.#now;
    return this.isFresh() && lastMs - beforeMs <= 2 * limits.heartbeatEveryMs;
  }

  async #beat(): Promise<void> {
    const { world, store } = this.#means;
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
    this.#now = await announce(this.#means);
  }
}

/** Takes a new incarnation. */
async function announce({ world, store, name, role }: LivenessMeans): Promise<Incarnation> {
  const [seenMs, lastMs] = [world.elapsedMs(), world.monotonicMs()];
  const aloneHere = !store.isShared;
  const { node } = await store.edit('startNode', { name, role, version, aloneHere });
  return { node, seenMs, lastMs, beforeMs: -Infinity };
}
