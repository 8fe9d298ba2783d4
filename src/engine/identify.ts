// Who calls? Looks up a key, or the session of somebody who signed in with one, briefly remembers the
// answer, and notes when it was last used. What cannot be a key or a token is refused without asking.
import { admits, readKey, type Key, type PresentedKey } from '../core/key.ts';
import { limits } from '../core/limits.ts';
import { NewestMap } from '../core/newest-map.ts';
import { noQuotas } from '../core/quotas.ts';
import { hashToken, type Session } from '../core/session.ts';
import { followed, type Soon } from '../core/soon.ts';
import type { Context } from './context.ts';

export interface Identifier {
  /**
   * The key, if it opens the door now. Unknown, revoked, expired and wrong all look the same. `read` is what is
   * presented, where somebody has read it before. At once, where the key is remembered.
   */
  identify(presented: string, read?: PresentedKey): Soon<Key | undefined>;
  /** The session with this token and its key, if both still hold. */
  identifySession(token: string): Promise<{ key: Key; session: Session } | undefined>;
  /** The same for somebody who only stays connected: that is no use, and prolongs nothing. */
  lookAtSession(token: string): Promise<{ key: Key; session: Session } | undefined>;
  /** Forgets what it remembers of a key that was just changed here. */
  forget(keyId: string): void;
  /** Forgets a session that was just ended here. */
  forgetSession(session: Pick<Session, 'hash'>): void;
}

type Means = Pick<Context, 'world' | 'store'> & {
  /** Told when noting the last use failed; the request goes on. */
  onTouchError: (error: unknown) => void;
};

export function createIdentifier(means: Means): Identifier {
  const { world, store } = means;
  const keys = createMemory(world, async (id) => store.read('key', { id }));
  const sessions = createMemory(world, async (id) =>
    store.read('session', { hash: Buffer.from(id, 'hex') }),
  );
  const touched = new NewestMap<string, number>(limits.keyCacheEntriesMax);
  const prolonged = new NewestMap<string, number>(limits.keyCacheEntriesMax);

  const touch = (key: Key, nowMs: number): void => {
    const lastMs = Math.max(touched.get(key.id) ?? 0, key.usedMs ?? 0);
    if (nowMs - lastMs < limits.keyTouchMs) return;
    remember(touched, key.id, nowMs);
    store.edit('touchKeys', { ids: [key.id] }).catch(means.onTouchError);
  };

  /** While it is used a session goes on. */
  const prolong = (session: Session, nowMs: number): Session => {
    const { hash, createdMs } = session;
    const expiresMs = Math.min(nowMs + limits.sessionMs, createdMs + limits.sessionLongestMs);
    if (expiresMs - session.expiresMs < limits.sessionProlongMs) return session;
    const id = idOf(session);
    remember(prolonged, id, expiresMs);
    store.edit('prolongSession', { hash, expiresMs }).catch((error: unknown) => {
      prolonged.delete(id);
      means.onTouchError(error);
    });
    return { ...session, expiresMs };
  };

  /** As the store has it, or as this node has just handed it over. */
  const findSession = async (hash: Uint8Array): Promise<Session | undefined> => {
    const id = idOf({ hash });
    const session = await sessions.find(id);
    if (session === undefined) return undefined;
    return { ...session, expiresMs: Math.max(session.expiresMs, prolonged.get(id) ?? 0) };
  };

  const lookAtSession: Identifier['lookAtSession'] = async (token) => {
    const hash = hashToken(token);
    if (hash === undefined) return undefined;
    const session = await findSession(hash);
    if (session === undefined || session.expiresMs <= store.nowMs()) return undefined;
    const key = await keys.find(session.keyId);
    if (key === undefined || !admits(key, session.keyHash, world.nowMs())) return undefined;
    return { key, session };
  };

  return {
    identify: (presented, read = readKey(presented)) => {
      const { id, hash } = read;
      if (id === undefined) return undefined;
      return followed(keys.find(id), (key = nobody) => {
        const nowMs = world.nowMs();
        if (!admits(key, hash, nowMs)) return undefined;
        touch(key, nowMs);
        return key;
      });
    },
    identifySession: async (token) => {
      const found = await lookAtSession(token);
      if (found === undefined) return undefined;
      touch(found.key, world.nowMs());
      return { key: found.key, session: prolong(found.session, store.nowMs()) };
    },
    lookAtSession,
    forget: (keyId) => keys.forget(keyId),
    forgetSession: (session) => sessions.forget(idOf(session)),
  };
}

function idOf({ hash }: Pick<Session, 'hash'>): string {
  return Buffer.from(hash).toString('hex');
}

interface Memory<V> {
  find: (id: string) => Soon<V | undefined>;
  forget: (id: string) => void;
}

interface Remembered<V> {
  value: Soon<V | undefined>;
  untilMs: number;
}

/** What the store said a moment ago, also that there is none. */
function createMemory<V>(
  world: Means['world'],
  read: (id: string) => Promise<V | undefined>,
): Memory<V> {
  const remembered = new NewestMap<string, Remembered<V>>(limits.keyCacheEntriesMax);
  return {
    find: (id) => {
      const nowMs = world.elapsedMs();
      const known = remembered.get(id);
      if (known !== undefined && nowMs < known.untilMs) return known.value;
      const asked = read(id);
      const entry: Remembered<V> = { value: asked, untilMs: nowMs + limits.keyCacheMs };
      asked.then(
        (value) => (entry.value = value),
        () => remembered.delete(id), // A failure is not remembered.
      );
      remember(remembered, id, entry);
      return asked;
    },
    forget: (id) => remembered.delete(id),
  };
}

/** As the newest entry. */
function remember<V>(map: NewestMap<string, V>, id: string, value: V): void {
  map.delete(id);
  map.set(id, value);
}

/** An unknown key is compared like a known one, so that the answer takes the same time. */
const nobody: Key = {
  id: '',
  appNo: 0,
  appId: '',
  appQuotas: noQuotas,
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
