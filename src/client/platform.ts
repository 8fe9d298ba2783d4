// What the client uses from the platform: web standards, available in Node, browsers and elsewhere. The only file
// that accesses the clock, randomness and the network; tests replace them.

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Resolves after `ms`, or rejects as soon as the signal is aborted. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

export interface Platform {
  fetch: Fetch;
  sleep: Sleep;
  /** Milliseconds since 1970. */
  now: () => number;
  /** At least 0, below 1. */
  random: () => number;
  newIdempotencyKey: () => string;
}

export const webPlatform: Platform = {
  // Looked up at each call, so that a program can replace it later.
  fetch: async (url, init) => globalThis.fetch(url, init),
  sleep,
  now: () => Date.now(),
  random: () => Math.random(),
  newIdempotencyKey: () => crypto.randomUUID(),
};

async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const wake = (): void => {
      signal.removeEventListener('abort', stop);
      resolve();
    };
    const timer = setTimeout(wake, ms);
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    signal.addEventListener('abort', stop, { once: true });
  });
}
