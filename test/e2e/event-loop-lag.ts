// Measures the lag of this process's event loop. A test with a time limit of a second must subtract its own lag, which
// can exceed the measured times on a busy machine.

/** A span in which something was unavailable, in wall-clock time, which all processes share. */
export interface Absence {
  fromMs: number;
  toMs: number;
}

export function nowMs(): number {
  return Date.now();
}

const tickMs = 20;
/** Once timers have been on time for this long, the process has caught up. */
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
   * How late this process may have been when it recorded something at `atMs`. Consecutive lags add up, because each turn
   * of the event loop accepts only one connection, so a new connection may wait for many slow turns.
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
