// A world in which figures of subscriptions are written every few milliseconds, so that a test can wait for them.
import { realWorld, type World } from '../../src/core/base/world.ts';
import { limits } from '../../src/core/limits/limits.ts';

export function hastyWorld(): World {
  const world = realWorld();
  return {
    ...world,
    sleep: async (ms: number, signal?: AbortSignal) =>
      world.sleep(ms === limits.statisticsEveryMs ? 5 : ms, signal),
  };
}
