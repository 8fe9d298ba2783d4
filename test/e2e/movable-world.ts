// The real world with a wall clock that can be advanced. Sleeps and the monotonic clock stay real.
import { realWorld, type World } from '../../src/core/base/world.ts';

export interface MovableWorld extends World {
  moveOn: (ms: number) => void;
}

export function movableWorld(): MovableWorld {
  const world = realWorld();
  let movedMs = 0;
  return {
    ...world,
    nowMs: () => world.nowMs() + movedMs,
    moveOn: (ms) => {
      movedMs += ms;
    },
  };
}
