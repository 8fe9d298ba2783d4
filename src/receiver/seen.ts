// Handles each event once, although it may arrive several times: Ringback retries until it gets a response, and an
// attacker may replay a callback. An id counts as seen only after its handler has succeeded.
import { receiverLimits } from './limits.ts';

/** Stores the ids of handled events: in memory (`rememberIds`), or somewhere all processes share. */
export interface SeenIds {
  /** Whether the event was handled. If this throws, the response is 500 and the callback is sent again. */
  has: (id: string) => boolean | Promise<boolean>;
  /** Called after the handler succeeded. */
  remember: (id: string) => unknown;
}

/** Keeps the most recent ids in the memory of this process: a restart loses them. */
export function rememberIds({
  max = receiverLimits.idsRememberedMax,
}: { max?: number } = {}): SeenIds {
  if (!Number.isSafeInteger(max) || max < 1) {
    throw new TypeError(`Cannot remember ${max} ids: expected a whole number of at least 1`);
  }
  const ids = new Set<string>();
  return {
    has: (id) => ids.has(id),
    remember: (id) => {
      ids.delete(id); // Becomes the newest.
      ids.add(id);
      const [oldest] = ids;
      if (ids.size > max && oldest !== undefined) ids.delete(oldest);
    },
  };
}

/** Concurrent copies are handled once: the later one waits and gets the same response. */
export function shareWork<T>(): (id: string, work: () => Promise<T>) => Promise<T> {
  const inFlight = new Map<string, Promise<T>>();
  return async (id, work) => {
    const first = inFlight.get(id);
    if (first !== undefined) return first;
    const started = work().finally(() => inFlight.delete(id));
    inFlight.set(id, started);
    return started;
  };
}
