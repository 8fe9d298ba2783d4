// Whether this node can do its work now, and if not, why. Never says where the database is.
import { limits } from '../core/limits.ts';
import type { World } from '../core/world.ts';
import type { Context } from './context.ts';
import type { Liveness } from './liveness.ts';

export type Readiness = { kind: 'ready' } | { kind: 'unready'; reason: string; cause?: unknown };

export interface ReadinessMeans {
  /** One that does not let a caller wait for long. */
  store: Pick<Context['store'], 'read' | 'edit'>;
  self: Pick<Liveness, 'isFresh' | 'no'>;
  world: Pick<World, 'monotonicMs'>;
  /** How many batches the store could not write, so far. */
  failures: () => number;
}

/** Anybody may ask, and as often: the store is asked once for all who come at about the same time. */
export function createReadiness(means: ReadinessMeans): () => Promise<Readiness> {
  const { store, self, world } = means;
  const isWritable = createWriteCheck(means);
  let asked: { sinceMs: number; found: Promise<Readiness> } | undefined;
  let isAsking = false;
  const ask = async (): Promise<Readiness> => {
    isAsking = true;
    // Both at once, so that whoever asks waits for the slower one only.
    const written = isWritable().then(
      (): Readiness => ({ kind: 'ready' }),
      (cause: unknown): Readiness => unready('the store is not accepting writes', cause),
    );
    try {
      await store.read('health', {});
      return await written;
    } catch (cause) {
      return unready('the store does not respond', cause);
    } finally {
      isAsking = false;
    }
  };
  return async () => {
    const nowMs = world.monotonicMs();
    const isKnown = asked !== undefined && nowMs - asked.sinceMs < limits.readyKnownMs;
    if (asked === undefined || !(isKnown || isAsking)) asked = { sinceMs: nowMs, found: ask() };
    const found = await asked.found;
    if (found.kind === 'unready' || self.isFresh()) return found;
    return { kind: 'unready', reason: 'no heartbeat has reached the store for too long' };
  };
}

/**
 * A store that can be read may be unable to write, on a full disk for one. A heartbeat is a write that
 * always changes something: one that succeeded is believed for a while, or until any batch fails.
 */
function createWriteCheck({ store, self, world, failures }: ReadinessMeans): () => Promise<void> {
  let proven = { sinceMs: -Infinity, failures: 0 };
  return async () => {
    const found = { sinceMs: world.monotonicMs(), failures: failures() };
    const isProven =
      found.sinceMs - proven.sinceMs < limits.writableKnownMs && found.failures === proven.failures;
    if (isProven) return;
    await store.edit('heartbeat', { node: self.no() });
    proven = found;
  };
}

function unready(reason: string, cause: unknown): Readiness {
  return { kind: 'unready', reason, cause };
}
