// Whether this node can do its work now, and if not, why. Never says where the database is.
import type { Context } from './context.ts';
import type { Liveness } from './liveness.ts';

export type Readiness = { kind: 'ready' } | { kind: 'unready'; reason: string; cause?: unknown };

export interface ReadinessMeans {
  /** One that does not let a caller wait for long. */
  store: Pick<Context['store'], 'read'>;
  self: Pick<Liveness, 'isFresh'>;
}

export async function readiness({ store, self }: ReadinessMeans): Promise<Readiness> {
  try {
    await store.read('health', {});
  } catch (cause) {
    return { kind: 'unready', reason: 'the store does not answer', cause };
  }
  if (self.isFresh()) return { kind: 'ready' };
  return { kind: 'unready', reason: 'its heartbeat has not reached the store for too long' };
}
