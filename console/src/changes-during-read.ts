// Keeps changes from the stream that arrive while a request is in flight: the response may be older
// and must not undo them. Nothing is kept longer than one request.
import type { Delivery } from '../../src/client/contract/delivery.ts';

export type ChangeTracker = {
  readonly record: (changed: readonly Delivery[]) => void;
  /** Loads, then merges the changes recorded since the request began. */
  readonly read: <T>(
    load: () => Promise<T>,
    merge: (answer: T, changes: readonly Delivery[]) => T,
  ) => Promise<T>;
};

export function trackChanges(): ChangeTracker {
  /** One map per request in flight, by ID. Bounded by four frames a second and limits.requestMs. */
  const reads = new Set<Map<string, Delivery>>();
  return {
    record: (changed) => {
      for (const changes of reads) for (const one of changed) changes.set(one.id, one);
    },
    read: async (load, merge) => {
      const changes = new Map<string, Delivery>();
      reads.add(changes);
      try {
        return merge(await load(), [...changes.values()]);
      } finally {
        reads.delete(changes);
      }
    },
  };
}
