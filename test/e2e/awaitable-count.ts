// A counter that tests can wait for. A wait is rejected when the count stops changing, so that a test fails with a
// message instead of hanging.
import { setTimeout as wait } from 'node:timers/promises';

/** Far longer than the time between two counted events on the slowest machine. */
export const patienceMs = 180_000;

export class Tally {
  readonly #of: string;
  readonly #waiting = new Set<{ count: number; resolve: () => void }>();
  #count = 0;

  /** `of`: what it counts, for the message. */
  constructor(of: string) {
    this.#of = of;
  }

  get count(): number {
    return this.#count;
  }

  add(): void {
    this.#count += 1;
    for (const one of this.#waiting) {
      if (one.count > this.#count) continue;
      this.#waiting.delete(one);
      one.resolve();
    }
  }

  /** Resolves when the count has been reached. Rejects if it has not changed for a while. */
  async reach(count: number, silentMs = patienceMs): Promise<void> {
    if (this.#count >= count) return;
    const reached = Promise.withResolvers<void>();
    this.#waiting.add({ count, resolve: reached.resolve });
    const over = new AbortController();
    const silent = this.#silent(silentMs, over.signal).then(() => {
      throw new Error(`No change for ${silentMs} ms: ${this.#count} of ${count} ${this.#of}`);
    });
    silent.catch(() => undefined); // Rejected by the abort once the count is reached.
    await Promise.race([reached.promise, silent]).finally(() => over.abort());
  }

  async #silent(ms: number, signal: AbortSignal): Promise<void> {
    for (let before = -1; before !== this.#count;) {
      before = this.#count;
      await wait(ms, undefined, { signal });
    }
  }
}

/** Adds a timeout to a promise; the error includes `found()`. */
export async function inTime<T>(
  promise: Promise<T>,
  mostMs: number,
  found: () => string,
): Promise<T> {
  const done = new AbortController();
  const late = wait(mostMs, undefined, { signal: done.signal }).then(
    () => {
      throw new Error(`Timed out after ${mostMs} ms: ${found()}`);
    },
    async () => promise,
  );
  return Promise.race([promise, late]).finally(() => done.abort());
}
