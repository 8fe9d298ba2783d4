// Whether this node can do its work now, and if not, why. Never says where the database is.
import { limits } from '../core/limits.ts';
import type { World } from '../core/world.ts';
import type { Context } from './context.ts';
import type { Liveness } from './liveness.ts';

export type Readiness = { kind: 'ready' } | { kind: 'unready'; reason: string; cause?: unknown };

export interface ReadinessMeans {
  /** One that does not let a caller wait for long. */
  store: Pick<Context['store'], 'read'>;
  self: Pick<Liveness, 'isFresh'>;
  world: Pick<World, 'monotonicMs'>;
}

/** Anybody may ask, and as often: the store is asked once for all who come at about the same time. */
export function createReadiness({ store, self, world }: ReadinessMeans): () => Promise<Readiness> {
  let asked: { sinceMs: number; found: Promise<Readiness> } | undefined;
  let isAsking = false;
  const ask = async (): Promise<Readiness> => {
    isAsking = true;
    try {
      await store.read('health', {});
      return { kind: 'ready' };
    } catch (cause) {
      return { kind: 'unready', reason: 'the store does not answer', cause };
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
    return { kind: 'unready', reason: 'its heartbeat has not reached the store for too long' };
  };
}
