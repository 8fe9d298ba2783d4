// A count that tests wait on: things that happened, and a promise for each number of them. It gives
// up after a while, so that a test that waits in vain says so instead of hanging.
import { setTimeout as wait } from 'node:timers/promises';

/** Far more than anything here takes, on the slowest machine. */
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

  /** Resolves when there are so many. */
  async reach(count: number, mostMs = patienceMs): Promise<void> {
    if (this.#count >= count) return;
    const reached = Promise.withResolvers<void>();
    this.#waiting.add({ count, resolve: reached.resolve });
    await inTime(reached.promise, mostMs, () => `${this.#count} of ${count} ${this.#of}`);
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
