// A count that tests wait on: things that happened, and a promise for each number of them. It gives
// up when nothing more happens, so that a test that waits in vain says so instead of hanging.
import { setTimeout as wait } from 'node:timers/promises';

/** Far longer than anything takes between two things that are counted, on the slowest machine. */
export const patienceMs = 180_000;

export class Tally {
  readonly #of: string;
  readonly #waiting = new Set<{ count: number; resolve: () => void }>();
  #count = 0;

  /** `of`: what is counted, for the message. */
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

  /** Resolves when there are so many. Rejects when the count has not changed for a while. */
  async reach(count: number, silentMs = patienceMs): Promise<void> {
    if (this.#count >= count) return;
    const reached = Promise.withResolvers<void>();
    this.#waiting.add({ count, resolve: reached.resolve });
    const over = new AbortController();
    const silent = this.#silent(silentMs, over.signal).then(() => {
      throw new Error(`For ${silentMs} ms nothing came: ${this.#count} of ${count} ${this.#of}`);
    });
    silent.catch(() => undefined); // Aborted once there are enough.
    await Promise.race([reached.promise, silent]).finally(() => over.abort());
  }

  async #silent(ms: number, signal: AbortSignal): Promise<void> {
    for (let before = -1; before !== this.#count;) {
      before = this.#count;
      await wait(ms, undefined, { signal });
    }
  }
}

/** The promise, or after a while an error that says what was there by then. */
export async function inTime<T>(
  promise: Promise<T>,
  mostMs: number,
  found: () => string,
): Promise<T> {
  const done = new AbortController();
  const late = wait(mostMs, undefined, { signal: done.signal }).then(
    () => {
      throw new Error(`Waited ${mostMs} ms in vain: ${found()}`);
    },
    async () => promise,
  );
  return Promise.race([promise, late]).finally(() => done.abort());
}
