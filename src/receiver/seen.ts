// Handling an event once, though it may come several times: Ringback repeats what it has no answer to, and
// a forger what he has heard. An id counts as seen when its handler has succeeded, and never before.
import { receiverLimits } from './limits.ts';

/** Where ids of handled events are kept: in memory (`rememberIds`), or wherever all processes look. */
export interface SeenIds {
  /** Whether the event was handled. Where this throws, the callback is answered 500 and comes again. */
  has: (id: string) => boolean | Promise<boolean>;
  /** Called after the handler has succeeded. */
  remember: (id: string) => unknown;
}

/** Keeps the last ids in the memory of this process: a restart forgets them. */
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

/** Two copies at the same time are one: whoever comes second waits, and is answered like the first. */
export function shareWork<T>(): (id: string, work: () => Promise<T>) => Promise<T> {
  const underWay = new Map<string, Promise<T>>();
  return async (id, work) => {
    const first = underWay.get(id);
    if (first !== undefined) return first;
    const started = work().finally(() => underWay.delete(id));
    underWay.set(id, started);
    return started;
  };
}
