// One abort signal for all reasons to end something: the client's, the call's, a timeout. It keeps no references
// once it is over, so that a client's signal can live as long as the program.
import type { Sleep } from './platform.ts';

export interface Ending {
  signal: AbortSignal;
  /** Aborts after this time, unless it has ended or this is called again. */
  within(ms: number, sleep: Sleep): void;
  /** Cancels the timeout set by `within`. */
  untimed(): void;
  /** Whether the timeout set by `within` has passed. */
  isLate(): boolean;
  /** Rejects if the signal is aborted; otherwise settles like the promise. */
  race<T>(promise: Promise<T>): Promise<T>;
  over(): void;
}

export function createEnding(signals: readonly (AbortSignal | undefined)[]): Ending {
  const controller = new AbortController();
  const { signal } = controller;
  let timer: AbortController | undefined;
  let isLate = false;
  const stops = signals.flatMap((given) => {
    if (given === undefined) return [];
    const stop = (): void => controller.abort(given.reason);
    if (given.aborted) stop();
    given.addEventListener('abort', stop, { once: true });
    return [() => given.removeEventListener('abort', stop)];
  });
  return {
    signal,
    within: (ms, sleep) => {
      timer?.abort();
      const mine = new AbortController();
      timer = mine;
      const end = (): void => {
        if (mine.signal.aborted) return;
        isLate = true;
        controller.abort(new DOMException('it took too long', 'TimeoutError'));
      };
      sleep(ms, mine.signal).then(end, () => undefined);
    },
    untimed: () => timer?.abort(),
    isLate: () => isLate,
    race: async (promise) => {
      if (signal.aborted) {
        promise.catch(() => undefined); // Its result is no longer needed.
        throw signal.reason;
      }
      // Not `withResolvers`: publishers may run on Node 20.
      const listening = new AbortController();
      const aborted = new Promise<never>((_resolve, reject) => {
        const options = { once: true, signal: listening.signal };
        signal.addEventListener('abort', () => reject(signal.reason), options);
      });
      try {
        return await Promise.race([promise, aborted]);
      } finally {
        listening.abort();
      }
    },
    over: () => {
      timer?.abort();
      for (const stop of stops) stop();
    },
  };
}
