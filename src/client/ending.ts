// One signal for all reasons to end something: the client's, the call's, a time limit. It holds on to
// nothing when it is over, so that a client's signal can live as long as the program.
import type { Sleep } from './platform.ts';

export interface Ending {
  signal: AbortSignal;
  /** Ends it in so long, unless it is over by then or this is called again. */
  within(ms: number, sleep: Sleep): void;
  /** What `within` said holds no more. */
  untimed(): void;
  /** It is late: what `within` said has come. */
  isLate(): boolean;
  /** Rejects when the signal is aborted; else as the promise does. */
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
      // Not `withResolvers`: programs that publish run on Node 20, too.
      const heard = new AbortController();
      const aborted = new Promise<never>((_resolve, reject) => {
        const options = { once: true, signal: heard.signal };
        signal.addEventListener('abort', () => reject(signal.reason), options);
      });
      try {
        return await Promise.race([promise, aborted]);
      } finally {
        heard.abort();
      }
    },
    over: () => {
      timer?.abort();
      for (const stop of stops) stop();
    },
  };
}
