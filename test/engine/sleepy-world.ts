// A world in which waiting lasts as long as the test says.
import { realWorld, type World } from '../../src/core/base/world.ts';

export interface Nap {
  ms: number;
  wake: () => void;
}

export interface SleepyWorld {
  world: World;
  clock: { ms: number };
  /** The next sleep that begins, or has begun and was not taken. */
  nextNap: () => Promise<Nap>;
  /** Ignores the sleeps that have begun so far. */
  passOver: () => void;
}

/** A world in which each sleep is handed to the test, which ends it. */
export function sleepyWorld(): SleepyWorld {
  const clock = { ms: 1_800_000_000_000 };
  const naps: Nap[] = [];
  const waiting: ((nap: Nap) => void)[] = [];
  const world: World = {
    nowMs: () => clock.ms,
    monotonicMs: () => clock.ms,
    elapsedMs: () => clock.ms,
    randomBytes: (count) => realWorld().randomBytes(count),
    sleep: async (ms, signal) => {
      const slept = Promise.withResolvers<void>();
      if (signal?.aborted === true) throw new Error('aborted');
      signal?.addEventListener('abort', () => slept.reject(new Error('aborted')));
      const nap = { ms, wake: slept.resolve };
      const taker = waiting.shift();
      if (taker === undefined) naps.push(nap);
      else taker(nap);
      return slept.promise;
    },
  };
  const nextNap = async (): Promise<Nap> => {
    const nap = naps.shift();
    return nap ?? new Promise((resolve) => waiting.push(resolve));
  };
  return { world, clock, nextNap, passOver: () => void naps.splice(0) };
}
