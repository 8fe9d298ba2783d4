// What sending needs to know of a callback: where it goes and how it is signed. Remembered until a lease
// speaks of a later version, or the subscription changes here.
//
// A fan-out to very many asks for each once, and all of them would pass through the memory: what is asked for now
// and then would be gone, and what has passed is old by then, so that V8 must look through all that is old to be
// rid of it. So few are remembered of those that come anew, and not for long. Whoever had to go, and is asked for
// again while at least its name is known, joins those who stay (the "2Q" of databases). All others
// that are plain are packed.
import { limits } from '../core/limits.ts';
import { NewestMap } from '../core/newest-map.ts';
import { PackedTargets } from './packed-targets.ts';
import type { KnownTarget } from './prepared.ts';
import { TargetReads, type Found, type Look, type TargetReadsMeans } from './target-reads.ts';

export interface TargetCache {
  /** The target as of the version that a lease speaks of, or later, where it is at hand. */
  known(callback: number, version: number): KnownTarget | undefined;
  /** The same, if need be from the store; undefined: there is none. */
  find(callback: number, version: number): Promise<KnownTarget | undefined>;
  /** What a read says that began at `sinceMs` (by `elapsedMs`) or later; Infinity: one that begins now. */
  look(callback: number, sinceMs: number): Promise<Look>;
  /** Whether what was found is known to be still so. What is forgotten is not known. */
  isCurrent(target: KnownTarget): boolean;
  /** The app that a callback belongs to, if it was found not too long ago. */
  appOf(callback: number): number | undefined;
  /** Something about the subscription changed. */
  forget(subscription: string): void;
}

export type TargetCacheMeans = Omit<TargetReadsMeans, 'onFound'>;

export function createTargetCache(means: TargetCacheMeans): TargetCache {
  /** Of callbacks that were forgotten: their apps. */
  const owners = new NewestMap<number, number>(limits.targetCacheEntriesMax);
  const packed = new PackedTargets();
  const dropped = (callback: number, found: Found): void => {
    owners.set(callback, found.target.appNo);
    packed.add(found);
  };
  const staying = new NewestMap<number, Found>(limits.targetCacheEntriesMax, dropped);
  const passing = new NewestMap<number, Found>(limits.targetsSeenOnceMax, dropped);
  const keep = (found: Found): Found => {
    const { callback } = found.target;
    const stays = staying.has(callback) || (!passing.has(callback) && owners.delete(callback));
    (stays ? staying : passing).set(callback, found);
    return found;
  };
  const here = (callback: number): Found | undefined =>
    staying.get(callback) ?? passing.get(callback);
  const known = (callback: number): Found | undefined => here(callback) ?? unpacked(callback);
  const unpacked = (callback: number): Found | undefined => {
    const found = packed.get(callback);
    return found && keep(found);
  };
  const onFound = (found: Found): void => {
    const { callback, version } = found.target;
    // Of two reads the one may end last that began first.
    if ((known(callback)?.target.version ?? 0) > version) return;
    packed.delete(callback);
    keep(found);
  };
  const reads = new TargetReads({ ...means, onFound });
  const knownAs = (callback: number, version: number): KnownTarget | undefined =>
    upTo(known(callback)?.target, version);

  return {
    known: knownAs,
    find: async (callback, version) => {
      const seen = knownAs(callback, version);
      if (seen !== undefined) return seen;
      const first = await reads.look(callback, reads.underWay(callback) ?? reads.begin(callback));
      if (first.target === undefined || upTo(first.target, version)) return first.target;
      // That one may have begun before the lease was written.
      const { target } = await reads.look(callback, reads.begin(callback));
      if (target === undefined || upTo(target, version)) return target;
      const found = `the store reads version ${target.version}, the lease is of ${version}`;
      throw new Error(`Cannot use callback ${callback}: ${found}`);
    },
    look: async (callback, sinceMs) => {
      const seen = known(callback);
      if (seen !== undefined && seen.readMs >= sinceMs) return seen;
      const underWay = reads.underWay(callback);
      const isLateEnough = underWay !== undefined && underWay.beganMs >= sinceMs;
      return reads.look(callback, isLateEnough ? underWay : reads.begin(callback));
    },
    isCurrent: ({ callback, version }) => known(callback)?.target.version === version,
    appOf: (callback) =>
      here(callback)?.target.appNo ?? owners.get(callback) ?? unpacked(callback)?.target.appNo,
    forget: (subscription) => {
      reads.changed(subscription);
      packed.forget(subscription);
      for (const some of [staying, passing]) {
        for (const [callback, found] of some) {
          if (found.target.subscription !== subscription) continue;
          some.delete(callback);
          owners.set(callback, found.target.appNo);
        }
      }
    },
  };
}

function upTo(target: KnownTarget | undefined, version: number): KnownTarget | undefined {
  return target !== undefined && target.version >= version ? target : undefined;
}
