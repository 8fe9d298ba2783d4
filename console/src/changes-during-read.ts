// What the stream tells while deliveries are being read: the answer may be older, and must not undo it.
// Nothing is kept longer than one reading takes.
import type { Delivery } from '../../src/client/contract/delivery.ts';

export type ChangeTracker = {
  readonly record: (changed: readonly Delivery[]) => void;
  /** Reads, and lays over the answer what was changes since the reading began. */
  readonly read: <T>(
    load: () => Promise<T>,
    merge: (answer: T, changes: readonly Delivery[]) => T,
  ) => Promise<T>;
};

export function trackChanges(): ChangeTracker {
  /** One for each reading under way, by id. Four frames a second and limits.requestMs bound them. */
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
