// Identifies callers: looks up an API key, or the session of a user who signed in with one, caches
// the answer briefly, and records the last use. Text that cannot be a key or a token is refused
// without asking the store.
import { admits, readKey, type Key, type PresentedKey } from '../../core/domain/key.ts';
import { limits } from '../../core/limits/limits.ts';
import { createBriefMemory } from '../../core/base/brief-memory.ts';
import { NewestMap } from '../../core/base/newest-map.ts';
import { noQuotas } from '../../core/load/quotas.ts';
import { hashToken, keyInSession, type Session } from '../../core/domain/session.ts';
import { whenReady, type MaybePromise } from '../../core/base/maybe-promise.ts';
import type { Context } from '../context.ts';

export interface Identifier {
  /**
   * The key, if it is valid now. Unknown, revoked, expired and wrong keys are indistinguishable.
   * `read` is the parsed key if the caller has it already. Synchronous if the key is cached.
   */
  identify(presented: string, read?: PresentedKey): MaybePromise<Key | undefined>;
  /** The session with this token and its key, if both are still valid, and it is of this kind. */
  identifySession(
    token: string,
    of?: 'console' | 'portal',
  ): Promise<{ key: Key; session: Session } | undefined>;
  /**
   * The same for a client that only stays connected: this does not count as use and does not extend
   * the session.
   */
  lookAtSession: Identifier['identifySession'];
  /** Forgets a cached key that was just changed on this node. */
  forget(keyId: string): void;
  /** Forgets a cached session that was just ended on this node. */
  forgetSession(session: Pick<Session, 'hash'>): void;
}

type Deps = Pick<Context, 'world' | 'store'> & {
  /** Called when recording the last use failed; the request goes on. */
  onTouchError: (error: unknown) => void;
};

const keptMax = limits.keyCacheEntriesMax;

export function createIdentifier(deps: Deps): Identifier {
  const { world, store } = deps;
  const keys = createBriefMemory(world, keptMax, async (id: string) => store.read('key', { id }));
  const sessions = createBriefMemory(world, keptMax, async (id: string) =>
    store.read('session', { hash: Buffer.from(id, 'hex') }),
  );
  const touched = new NewestMap<string, number>(keptMax);
  const prolonged = new NewestMap<string, number>(keptMax);

  const touch = (key: Key, nowMs: number): void => {
    const lastMs = Math.max(touched.get(key.id) ?? 0, key.usedMs ?? 0);
    if (nowMs - lastMs < limits.keyTouchMs) return;
    remember(touched, key.id, nowMs);
    store.edit('touchKeys', { ids: [key.id] }).catch(deps.onTouchError);
  };

  /** A session of the console is extended while it is in use. */
  const prolong = (session: Session, nowMs: number): Session => {
    const { hash, createdMs } = session;
    const expiresMs = Math.min(nowMs + limits.sessionMs, createdMs + limits.sessionLongestMs);
    const isSoon = expiresMs - session.expiresMs < limits.sessionProlongMs;
    if (isSoon || session.portal !== undefined) return session;
    const id = idOf(session);
    remember(prolonged, id, expiresMs);
    store.edit('prolongSession', { hash, expiresMs }).catch((error: unknown) => {
      prolonged.delete(id);
      deps.onTouchError(error);
    });
    return { ...session, expiresMs };
  };

  /** With the expiry time from the store, or a later one that this node has just written. */
  const findSession = async (id: string): Promise<Session | undefined> => {
    const session = await sessions.find(id);
    if (session === undefined) return undefined;
    return { ...session, expiresMs: Math.max(session.expiresMs, prolonged.get(id) ?? 0) };
  };

  const lookAtSession: Identifier['lookAtSession'] = async (token, of = 'console') => {
    const hash = hashToken(token);
    if (hash === undefined) return undefined;
    const session = await findSession(idOf({ hash }));
    if (session === undefined || !isOpen(session, of, store.nowMs())) return undefined;
    const key = await keys.find(session.keyId);
    if (key === undefined || !admits(key, session.keyHash, world.nowMs())) return undefined;
    return { key: keyInSession(key, session), session };
  };

  return {
    identify: (presented, read = readKey(presented)) => {
      const { id, hash } = read;
      if (id === undefined) return undefined;
      return whenReady(keys.find(id), (key = absentKey) => {
        const nowMs = world.nowMs();
        if (!admits(key, hash, nowMs)) return undefined;
        touch(key, nowMs);
        return key;
      });
    },
    identifySession: async (token, of) => {
      const found = await lookAtSession(token, of);
      if (found === undefined) return undefined;
      touch(found.key, world.nowMs());
      return { key: found.key, session: prolong(found.session, store.nowMs()) };
    },
    lookAtSession,
    forget: (keyId) => keys.forget(keyId),
    forgetSession: (session) => sessions.forget(idOf(session)),
  };
}

function isOpen(session: Session, of: 'console' | 'portal', nowMs: number): boolean {
  return session.expiresMs > nowMs && (session.portal === undefined) === (of === 'console');
}

function idOf({ hash }: Pick<Session, 'hash'>): string {
  return Buffer.from(hash).toString('hex');
}

/** Inserts as the newest entry. */
function remember<V>(map: NewestMap<string, V>, id: string, value: V): void {
  map.delete(id);
  map.set(id, value);
}

/** An unknown key is compared like a known one, so that the answer takes the same time. */
const absentKey: Key = {
  id: '',
  appNo: 0,
  appId: '',
  appQuotas: noQuotas,
  appHasEventTypes: false,
  name: '',
  scopes: [],
  customer: undefined,
  hash: new Uint8Array(32),
  oldHash: undefined,
  oldUntilMs: undefined,
  createdMs: 0,
  expiresMs: 0,
  revokedMs: 0,
  usedMs: undefined,
};
