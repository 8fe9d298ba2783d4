// A world whose clocks move only when the test moves them. Randomness is real, and a sleep ends
// only when it is aborted, so that no test depends on how long it takes.
import { elapsedClock, realWorld, type World } from '../../src/core/base/world.ts';

export interface FrozenWorld extends World {
  /** Moves both clocks. */
  advance: (ms: number) => void;
  /** The machine is suspended: only the wall clock advances. */
  suspend: (ms: number) => void;
}

export function frozenWorld(startMs = Date.parse('2026-03-01T12:00:00Z')): FrozenWorld {
  let passedMs = 0;
  let suspendedMs = 0;
  const clocks = {
    nowMs: () => startMs + passedMs + suspendedMs,
    monotonicMs: () => passedMs,
  };
  return {
    ...clocks,
    elapsedMs: elapsedClock(clocks),
    randomBytes: (count) => realWorld().randomBytes(count),
    sleep: async (_ms, signal) => untilAborted(signal),
    advance: (ms) => {
      passedMs += ms;
    },
    suspend: (ms) => {
      suspendedMs += ms;
    },
  };
}

async function untilAborted(signal: AbortSignal | undefined): Promise<void> {
  const aborted = Promise.withResolvers<void>();
  const stop = (): void => aborted.reject(new Error('aborted'));
  if (signal?.aborted === true) stop();
  signal?.addEventListener('abort', stop);
  return aborted.promise;
}
