// Many deadlines on few timers: deadlines of one length expire in the order they were set, so one
// sleeper per length is enough. A timer with a signal for each request costs a hundred times as
// much.
import type { World } from '../../core/base/world.ts';
import type { Link } from '../../core/base/linked-list.ts';
import { LinkedList } from '../../core/base/linked-list.ts';

export interface Deadline extends Link<Deadline> {
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
  readonly #queues = new Map<number, LinkedList<Deadline>>();
  readonly #closed = new AbortController();

  constructor(world: Pick<World, 'sleep' | 'monotonicMs'>) {
    this.#world = world;
  }

  /** Calls `owner.expire()` once, after `ms`, unless the deadline is cleared before. */
  set(ms: number, owner: DeadlineOwner): Deadline {
    const dueMs = this.#world.monotonicMs() + ms;
    const deadline: Deadline = { ms, dueMs, owner, before: undefined, after: undefined };
    const queue = this.#queues.get(ms);
    if (queue === undefined) {
      const fresh = new LinkedList<Deadline>();
      fresh.add(deadline);
      this.#queues.set(ms, fresh);
      void this.#watch(ms, fresh);
    } else {
      queue.add(deadline);
    }
    return deadline;
  }

  clear(deadline: Deadline): void {
    // An empty queue keeps its sleeper until that wakes: the next request will come soon.
    this.#queues.get(deadline.ms)?.remove(deadline);
  }

  /** Ends the sleeps. Pending deadlines never expire. */
  close(): void {
    this.#closed.abort();
  }

  async #watch(ms: number, queue: LinkedList<Deadline>): Promise<void> {
    while (queue.first !== undefined) {
      const { first } = queue;
      const leftMs = first.dueMs - this.#world.monotonicMs();
      if (leftMs > 0) {
        try {
          await this.#world.sleep(leftMs, this.#closed.signal);
        } catch (error) {
          if (!this.#closed.signal.aborted) throw error;
          break;
        }
      } else {
        queue.remove(first);
        first.owner.expire();
      }
    }
    this.#queues.delete(ms);
  }
}
