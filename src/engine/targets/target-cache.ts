// A cache of targets: where callbacks go and how they are signed. An entry is valid until a lease
// names a later version or the subscription changes on this node.
//
// A fan-out to very many subscriptions asks for each target once. In a plain LRU it would evict the
// targets in regular use, and its own would grow old, so that V8 had to collect them from the old
// generation. So targets seen once go into a small queue; one that was evicted from it and is asked
// for again while its name is still known joins the main cache (the "2Q" algorithm of databases).
// Evicted targets without settings of their own are packed.
import { limits } from '../../core/limits/limits.ts';
import { NewestMap } from '../../core/base/newest-map.ts';
import { PackedTargets } from './packed-targets.ts';
import type { KnownTarget } from './prepared-target.ts';
import {
  TargetReads,
  type FoundTarget,
  type TargetSnapshot,
  type TargetReadsDeps,
} from './target-reads.ts';

export interface TargetCache {
  /** The cached target of this version or a later one. */
  known(callback: number, version: number): KnownTarget | undefined;
  /** The same, read from the store if necessary; undefined: it does not exist. */
  find(callback: number, version: number): Promise<KnownTarget | undefined>;
  /**
   * The result of a read that began at `sinceMs` (by `elapsedMs`) or later; Infinity: of one that
   * begins now.
   */
  readSince(callback: number, sinceMs: number): Promise<TargetSnapshot>;
  /** Whether the target is known to be current. False if it was evicted. */
  isCurrent(target: KnownTarget): boolean;
  /** The app of a callback, if its target was found recently. */
  appOf(callback: number): number | undefined;
  /** The subscription has changed. */
  forget(subscription: string): void;
}

export type TargetCacheDeps = Omit<TargetReadsDeps, 'onFound'>;

export function createTargetCache(deps: TargetCacheDeps): TargetCache {
  /** The apps of evicted callbacks. */
  const owners = new NewestMap<number, number>(limits.targetCacheEntriesMax);
  const packed = new PackedTargets();
  const dropped = (callback: number, found: FoundTarget): void => {
    owners.set(callback, found.target.appNo);
    packed.add(found);
  };
  const repeated = new NewestMap<number, FoundTarget>(limits.targetCacheEntriesMax, dropped);
  const seenOnce = new NewestMap<number, FoundTarget>(limits.targetsSeenOnceMax, dropped);
  const remember = (found: FoundTarget): FoundTarget => {
    const { callback } = found.target;
    const stays = repeated.has(callback) || (!seenOnce.has(callback) && owners.delete(callback));
    (stays ? repeated : seenOnce).set(callback, found);
    return found;
  };
  const cached = (callback: number): FoundTarget | undefined =>
    repeated.get(callback) ?? seenOnce.get(callback);
  const find = (callback: number): FoundTarget | undefined => cached(callback) ?? unpack(callback);
  const unpack = (callback: number): FoundTarget | undefined => {
    const found = packed.get(callback);
    return found && remember(found);
  };
  const onFound = (found: FoundTarget): void => {
    const { callback, version } = found.target;
    // Of two reads, the one that began first may end last.
    if ((find(callback)?.target.version ?? 0) > version) return;
    packed.delete(callback);
    remember(found);
  };
  const reads = new TargetReads({ ...deps, onFound });
  const cachedAs = (callback: number, version: number): KnownTarget | undefined =>
    ifRecentEnough(find(callback)?.target, version);

  return {
    known: cachedAs,
    find: async (callback, version) => {
      const seen = cachedAs(callback, version);
      if (seen !== undefined) return seen;
      const first = await reads.read(callback, reads.inFlight(callback) ?? reads.begin(callback));
      if (first.target === undefined || ifRecentEnough(first.target, version)) return first.target;
      // That read may have begun before the lease was written.
      const { target } = await reads.read(callback, reads.begin(callback));
      if (target === undefined || ifRecentEnough(target, version)) return target;
      const found = `the store reads version ${target.version}, the lease is of ${version}`;
      throw new Error(`Cannot use callback ${callback}: ${found}`);
    },
    readSince: async (callback, sinceMs) => {
      const seen = find(callback);
      if (seen !== undefined && seen.readMs >= sinceMs) return seen;
      const inFlight = reads.inFlight(callback);
      const isLateEnough = inFlight !== undefined && inFlight.beganMs >= sinceMs;
      return reads.read(callback, isLateEnough ? inFlight : reads.begin(callback));
    },
    isCurrent: ({ callback, version }) => find(callback)?.target.version === version,
    appOf: (callback) =>
      cached(callback)?.target.appNo ?? owners.get(callback) ?? unpack(callback)?.target.appNo,
    forget: (subscription) => {
      reads.changed(subscription);
      packed.forget(subscription);
      for (const some of [repeated, seenOnce]) {
        for (const [callback, found] of some) {
          if (found.target.subscription !== subscription) continue;
          some.delete(callback);
          owners.set(callback, found.target.appNo);
        }
      }
    },
  };
}

function ifRecentEnough(target: KnownTarget | undefined, version: number): KnownTarget | undefined {
  return target !== undefined && target.version >= version ? target : undefined;
}
