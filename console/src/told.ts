// What the stream tells while deliveries are being read: the answer may be older, and must not undo it.
// Nothing is kept longer than one reading takes.
import type { Delivery } from './shapes.ts';

export type Told = {
  readonly note: (changed: readonly Delivery[]) => void;
  /** Reads, and lays over the answer what was told since the reading began. */
  readonly over: <T>(
    read: () => Promise<T>,
    lay: (answer: T, told: readonly Delivery[]) => T,
  ) => Promise<T>;
};

export function keepTold(): Told {
  /** One for each reading under way, by id. Four frames a second and limits.requestMs bound them. */
  const underWay = new Set<Map<string, Delivery>>();
  return {
    note: (changed) => {
      for (const told of underWay) for (const one of changed) told.set(one.id, one);
    },
    over: async (read, lay) => {
      const told = new Map<string, Delivery>();
      underWay.add(told);
      try {
        return lay(await read(), [...told.values()]);
      } finally {
        underWay.delete(told);
      }
    },
  };
}
