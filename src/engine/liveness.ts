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

/** An incarnation, and when it was last heard, by both clocks. */
export interface Incarnation {
  node: number;
  /** When the last heartbeat that succeeded began: the store has heard it no earlier. */
  heardMs: number;
  heardAtMs: number;
  /** The same of the heartbeat before it. */
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
    return this.#means.world.monotonicMs() - this.#now.heardMs <= limits.nodeFreshMs;
  }

  /** Alone on its database a node has nobody who could give its work away. */
  mayWork(): boolean {
    return !this.#means.store.isShared || this.isFresh();
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
      await this.#means.world.sleep(waitMs, signal).catch(() => undefined); // Stopped.
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
   * Now, if that is nearer to its time than the next round. By either clock: the monotonic one stands
   * still while the machine sleeps, and then this node's own rescue would declare it gone.
   */
  #isBeatDue(): boolean {
    const { world } = this.#means;
    const silentMs = Math.max(
      world.monotonicMs() - this.#now.heardMs,
      world.nowMs() - this.#now.heardAtMs,
    );
    return silentMs >= limits.heartbeatEveryMs - limits.rescueEveryMs / 2;
  }

  /**
   * Whether the store was there for a while. After an outage nobody has been heard of; whoever comes back
   * first gives the others time to say that they are there, before it declares anyone gone.
   */
  #isSteady(): boolean {
    const { heardMs, beforeMs } = this.#now;
    return this.isFresh() && heardMs - beforeMs <= 2 * limits.heartbeatEveryMs;
  }

  async #beat(): Promise<void> {
    const { world, store } = this.#means;
    const [heardMs, heardAtMs] = [world.monotonicMs(), world.nowMs()];
    const { node } = this.#now;
    const { kind } = await store.edit('heartbeat', { node });
    if (kind === 'alive') {
      this.#now = { node, heardMs, heardAtMs, beforeMs: this.#now.heardMs };
      return;
    }
    const never = -Infinity;
    this.#now = { node, heardMs: never, heardAtMs: never, beforeMs: never };
    this.#onLost();
    this.#now = await announce(this.#means);
  }
}

/** Takes a new incarnation. */
async function announce({ world, store, name, role }: LivenessMeans): Promise<Incarnation> {
  const [heardMs, heardAtMs] = [world.monotonicMs(), world.nowMs()];
  const aloneHere = !store.isShared;
  const { node } = await store.edit('startNode', { name, role, version, aloneHere });
  return { node, heardMs, heardAtMs, beforeMs: -Infinity };
}
