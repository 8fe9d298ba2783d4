// What sending needs to know of a callback: where it goes and how it is signed. Remembered until a lease
// speaks of a later version, or the subscription changes here; a read that a change overtook is made
// again, so nobody gets an old answer.
import { limits } from '../core/limits.ts';
import { NewestMap } from '../core/newest-map.ts';
import type { World } from '../core/world.ts';
import type { Target } from '../store/delivery-verbs.ts';
import { StoreUnavailable, type Store } from '../store/store.ts';

export interface TargetCache {
  /** The target as of the version that a lease speaks of, or later, where it is at hand. */
  known(callback: number, version: number): Target | undefined;
  /** The same, if need be from the store; undefined: there is none. */
  find(callback: number, version: number): Promise<Target | undefined>;
  /** What a read says that began at `sinceMs` (monotonic) or later; Infinity: one that begins now. */
  look(callback: number, sinceMs: number): Promise<Look>;
  /** Whether what was found is still so: something may have changed before the finder went on. */
  isCurrent(target: Target): boolean;
  /** The app that a callback belongs to, for ever, if it was found before. */
  appOf(callback: number): number | undefined;
  /** Something about the subscription changed. */
  forget(subscription: string): void;
}

export interface Look {
  target: Target | undefined;
  /** Monotonic: when the read began that says so. */
  readMs: number;
}

interface Reading {
  beganMs: number;
  look: Promise<Look>;
}

export interface TargetCacheMeans {
  store: Pick<Store, 'read'>;
  world: Pick<World, 'monotonicMs'>;
}

export function createTargetCache({ store, world }: TargetCacheMeans): TargetCache {
  const readTarget = createReadTarget(store);
  const known = new NewestMap<number, Look & { target: Target }>(limits.targetCacheEntriesMax);
  const owners = new NewestMap<number, number>(limits.targetCacheEntriesMax);
  const readings = new Map<number, Reading>();
  /** For each read under way: the subscriptions that changed since it began. */
  const watches = new Set<Set<string>>();

  const read = async (callback: number): Promise<Look> => {
    const changed = new Set<string>();
    watches.add(changed);
    try {
      for (;;) {
        changed.clear();
        const readMs = world.monotonicMs();
        const target = await readTarget(callback);
        if (target === undefined) return { target, readMs };
        if (changed.has(target.subscription)) continue;
        keep(known, callback, { target, readMs });
        owners.set(callback, target.appNo);
        return { target, readMs };
      }
    } finally {
      watches.delete(changed);
    }
  };

  const begin = (callback: number): Reading => {
    const look = read(callback).finally(() => {
      if (readings.get(callback) === reading) readings.delete(callback);
    });
    const reading = { beganMs: world.monotonicMs(), look };
    readings.set(callback, reading);
    return reading;
  };

  const knownAs = (callback: number, version: number): Target | undefined =>
    upTo(known.get(callback)?.target, version);

  return {
    known: knownAs,
    find: async (callback, version) => {
      const seen = knownAs(callback, version);
      if (seen !== undefined) return seen;
      const first = await (readings.get(callback) ?? begin(callback)).look;
      if (first.target === undefined || upTo(first.target, version)) return first.target;
      // That one may have begun before the lease was written.
      const { target } = await begin(callback).look;
      if (target === undefined || upTo(target, version)) return target;
      const found = `the store reads version ${target.version}, the lease is of ${version}`;
      throw new Error(`Cannot use callback ${callback}: ${found}`);
    },
    look: async (callback, sinceMs) => {
      const seen = known.get(callback);
      if (seen !== undefined && seen.readMs >= sinceMs) return seen;
      const underWay = readings.get(callback);
      if (underWay !== undefined && underWay.beganMs >= sinceMs) return underWay.look;
      return begin(callback).look;
    },
    isCurrent: ({ callback, version }) => known.get(callback)?.target.version === version,
    appOf: (callback) => owners.get(callback),
    forget: (subscription) => {
      for (const changed of watches) changed.add(subscription);
      for (const [callback, { target }] of known) {
        if (target.subscription === subscription) known.delete(callback);
      }
    },
  };
}

/**
 * Those that are asked for in one turn are read together: of a fan-out to 100,000 each is another one, and was a
 * message to the store and back.
 */
function createReadTarget(
  store: Pick<Store, 'read'>,
): (callback: number) => Promise<Target | undefined> {
  let next: { callbacks: Set<number>; found: Promise<Map<number, Target>> } | undefined;
  const readAll = async (callbacks: ReadonlySet<number>): Promise<Map<number, Target>> => {
    await Promise.resolve(); // Until everybody of this turn has asked.
    next = undefined;
    const targets = await store.read('targets', { callbacks: [...callbacks] });
    return new Map(targets.map((target) => [target.callback, target]));
  };
  return async (callback) => {
    if (next === undefined) {
      const callbacks = new Set<number>();
      next = { callbacks, found: readAll(callbacks) };
    }
    const { callbacks, found } = next;
    callbacks.add(callback);
    try {
      return (await found).get(callback);
    } catch (error) {
      if (callbacks.size === 1 || error instanceof StoreUnavailable) throw error;
      // One of them cannot be read, which must not hold the others.
      const [target] = await store.read('targets', { callbacks: [callback] });
      return target;
    }
  };
}

function upTo(target: Target | undefined, version: number): Target | undefined {
  return target !== undefined && target.version >= version ? target : undefined;
}

/** Of two reads the one may end last that began first. */
function keep(
  known: Map<number, Look & { target: Target }>,
  callback: number,
  look: Look & { target: Target },
): void {
  if ((known.get(callback)?.target.version ?? 0) > look.target.version) return;
  known.set(callback, look);
}
