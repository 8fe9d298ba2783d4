// What sending needs to know of a callback: where it goes and how it is signed. Remembered until the
// subscription changes; a read that a change overtook is made again, so nobody gets an old answer.
import { limits } from '../core/limits.ts';
import type { Target } from '../store/delivery-verbs.ts';
import type { Store } from '../store/store.ts';

export interface TargetCache {
  find(callback: number): Promise<Target | undefined>;
  /** Whether what was found is still so: something may have changed before the finder went on. */
  isCurrent(target: Target): boolean;
  /** Something about the subscription changed. */
  forget(subscription: string): void;
}

export function createTargetCache(store: Pick<Store, 'read'>): TargetCache {
  const known = new Map<number, Target>();
  const reads = new Map<number, Promise<Target | undefined>>();
  /** For each read under way: the subscriptions that changed since it began. */
  const watches = new Set<Set<string>>();

  const read = async (callback: number): Promise<Target | undefined> => {
    const changed = new Set<string>();
    watches.add(changed);
    try {
      for (;;) {
        changed.clear();
        const [target] = await store.read('targets', { callbacks: [callback] });
        if (target !== undefined && changed.has(target.subscription)) continue;
        if (target !== undefined) keep(known, callback, target);
        return target;
      }
    } finally {
      watches.delete(changed);
    }
  };

  return {
    find: async (callback) => {
      const target = known.get(callback);
      if (target !== undefined) return target;
      const underWay = reads.get(callback);
      if (underWay !== undefined) return underWay;
      const reading = read(callback).finally(() => reads.delete(callback));
      reads.set(callback, reading);
      return reading;
    },
    isCurrent: (target) => known.get(target.callback) === target,
    forget: (subscription) => {
      for (const changed of watches) changed.add(subscription);
      for (const [callback, target] of known) {
        if (target.subscription === subscription) known.delete(callback);
      }
    },
  };
}

function keep(known: Map<number, Target>, callback: number, target: Target): void {
  known.set(callback, target);
  if (known.size <= limits.targetCacheEntriesMax) return;
  const [oldest] = known.keys();
  if (oldest !== undefined) known.delete(oldest);
}
