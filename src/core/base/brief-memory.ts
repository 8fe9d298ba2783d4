// Caches answers of the store for a short time: how long another node may still act on what was changed here.
import { limits } from '../limits/limits.ts';
import type { MaybePromise } from './maybe-promise.ts';
import { NewestMap } from './newest-map.ts';
import type { World } from './world.ts';

export interface BriefMemory<K, V> {
  /** Synchronous if it is cached. */
  find: (key: K) => MaybePromise<V>;
  /** Whether the answer is cached, or being read. */
  isFresh: (key: K) => boolean;
  /** Forgets what was just changed on this node. */
  forget: (key: K) => void;
}

interface Remembered<V> {
  value: MaybePromise<V>;
  untilMs: number;
}

export function createBriefMemory<K, V>(
  world: Pick<World, 'elapsedMs'>,
  entriesMax: number,
  read: (key: K) => Promise<V>,
): BriefMemory<K, V> {
  const remembered = new NewestMap<K, Remembered<V>>(entriesMax);
  const fresh = (key: K): Remembered<V> | undefined => {
    const known = remembered.get(key);
    return known !== undefined && world.elapsedMs() < known.untilMs ? known : undefined;
  };
  return {
    find: (key) => {
      const known = fresh(key);
      if (known !== undefined) return known.value;
      const nowMs = world.elapsedMs();
      const asked = read(key);
      const entry: Remembered<V> = { value: asked, untilMs: nowMs + limits.keyCacheMs };
      asked.then(
        (value) => (entry.value = value),
        () => remembered.delete(key), // A failure is not remembered.
      );
      remembered.delete(key); // The newest entry is the last to be dropped.
      remembered.set(key, entry);
      return asked;
    },
    isFresh: (key) => fresh(key) !== undefined,
    forget: (key) => remembered.delete(key),
  };
}
