// How late this process notes things. A test that holds others to a second must know when it stood
// still itself: on a busy machine that takes longer than what it measures.

/** When something was not there. Wall clock, which all processes of the machine share. */
export interface Absence {
  fromMs: number;
  toMs: number;
}

export function nowMs(): number {
  return Date.now();
}

const tickMs = 20;
/** Punctual for so long, it has caught up. */
const caughtUpMs = 5 * tickMs;

export class Lag implements Disposable {
  readonly #lags: Absence[] = [];
  readonly #watch: NodeJS.Timeout;

  constructor() {
    let lastMs = nowMs();
    this.#watch = setInterval(() => {
      const now = nowMs();
      if (now - lastMs > 2 * tickMs) this.#lags.push({ fromMs: lastMs, toMs: now });
      lastMs = now;
    }, tickMs);
  }

  /**
   * How much later than it happened something may have been noted that was noted then. Absences that follow each
   * other count together: each turn of the event loop accepts one connection only, so what comes on a new one may
   * wait for many late turns.
   */
  at(atMs: number): number {
    let sinceMs = atMs;
    for (const { fromMs, toMs } of this.#lags.toReversed()) {
      if (fromMs > atMs) continue;
      if (toMs + caughtUpMs < sinceMs) break;
      sinceMs = fromMs;
    }
    return atMs - sinceMs + tickMs;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#watch);
  }
}
