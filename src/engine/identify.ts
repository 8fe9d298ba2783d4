// Who presents a key? Looks it up, briefly remembers the answer, and notes when it was last used.
// A key that cannot be one, by its checksum, is refused without asking the store.
import { limits } from '../core/limits.ts';
import { admits, hashKey, keyIdOf, type Key } from '../core/key.ts';
import type { Context } from './context.ts';

export interface Identifier {
  /** The key, if it opens the door now. Unknown, revoked, expired and wrong all look the same. */
  identify(presented: string): Promise<Key | undefined>;
  /** Forgets what it remembers of a key that was just changed here. */
  forget(keyId: string): void;
}

type Means = Pick<Context, 'world' | 'store'> & {
  /** Told when noting the last use failed; the request goes on. */
  onTouchError: (error: unknown) => void;
};

interface Remembered {
  key: Promise<Key | undefined>;
  untilMs: number;
}

export function createIdentifier(means: Means): Identifier {
  const { world, store } = means;
  const remembered = new Map<string, Remembered>();
  const touched = new Map<string, number>();

  const find = async (id: string): Promise<Key | undefined> => {
    const nowMs = world.monotonicMs();
    const known = remembered.get(id);
    if (known !== undefined && nowMs < known.untilMs) return known.key;
    const key = store.read('key', { id });
    key.catch(() => remembered.delete(id)); // A failure is not remembered.
    remember(remembered, id, { key, untilMs: nowMs + limits.keyCacheMs });
    return key;
  };

  const touch = (key: Key, nowMs: number): void => {
    const lastMs = Math.max(touched.get(key.id) ?? 0, key.usedMs ?? 0);
    if (nowMs - lastMs < limits.keyTouchMs) return;
    remember(touched, key.id, nowMs);
    store.edit('touchKeys', { ids: [key.id] }).catch(means.onTouchError);
  };

  return {
    identify: async (presented) => {
      const id = keyIdOf(presented);
      if (id === undefined) return undefined;
      const key = (await find(id)) ?? nobody;
      const nowMs = world.nowMs();
      if (!admits(key, hashKey(presented), nowMs)) return undefined;
      touch(key, nowMs);
      return key;
    },
    forget: (keyId) => remembered.delete(keyId),
  };
}

/** Keeps the newest entries only. */
function remember<V>(map: Map<string, V>, id: string, value: V): void {
  map.delete(id);
  map.set(id, value);
  if (map.size <= limits.keyCacheEntriesMax) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}

/** An unknown key is compared like a known one, so that the answer takes the same time. */
const nobody: Key = {
  id: '',
  appNo: 0,
  appId: '',
  name: '',
  scopes: [],
  hash: new Uint8Array(32),
  oldHash: undefined,
  oldUntilMs: undefined,
  createdMs: 0,
  expiresMs: 0,
  revokedMs: 0,
  usedMs: undefined,
};
