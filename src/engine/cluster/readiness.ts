// Whether this node can work now, and if not, why. The reason never reveals where the database is.
import { limits } from '../../core/limits/limits.ts';
import type { World } from '../../core/base/world.ts';
import type { Context } from '../context.ts';
import type { Liveness } from './liveness.ts';

export type Readiness = { kind: 'ready' } | { kind: 'unready'; reason: string; cause?: unknown };

export interface ReadinessDeps {
  /** A store with deadlines, so that a probe does not wait for long. */
  store: Pick<Context['store'], 'read' | 'edit'>;
  self: Pick<Liveness, 'isFresh' | 'no'>;
  world: Pick<World, 'monotonicMs'>;
  /** How many batches the store has failed to write. */
  failures: () => number;
}

/** Anyone may probe at any rate: the store is asked once for all probes at about the same time. */
export function createReadiness(deps: ReadinessDeps): () => Promise<Readiness> {
  const { store, self, world } = deps;
  const isWritable = createWriteCheck(deps);
  let asked: { sinceMs: number; found: Promise<Readiness> } | undefined;
  let isAsking = false;
  const ask = async (): Promise<Readiness> => {
    isAsking = true;
    // Both at once, so that a probe waits only for the slower one.
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
 * A store that can be read may be unable to write, for example on a full disk. A heartbeat is a
 * write that always changes a row: one success counts for a while, or until a batch fails.
 */
function createWriteCheck({ store, self, world, failures }: ReadinessDeps): () => Promise<void> {
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
