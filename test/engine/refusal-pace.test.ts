// How long refusals wait, with a clock that the test moves. Over sockets: test/api/admission.test.ts.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { limits } from '../../src/core/limits/limits.ts';
import { RefusalPace } from '../../src/engine/admission/admission.ts';
import { frozenWorld, type FrozenWorld } from '../api/frozen-world.ts';

const { refusalsAtOnceMax, refusalEveryMs, refusalDelayMaxMs } = limits;

interface Stage {
  world: FrozenWorld;
  /** So many refusals: how long each of them waits. */
  refuse: (count: number) => number[];
}

function stage(): Stage {
  const world = frozenWorld();
  let sleptMs = 0;
  const pace = new RefusalPace({
    ...world,
    sleep: async (ms) => {
      sleptMs = ms;
    },
  });
  const refuse = (count: number): number[] =>
    Array.from({ length: count }, () => {
      sleptMs = 0;
      void pace.wait();
      return sleptMs;
    });
  return { world, refuse };
}

describe('refusals', () => {
  it('are answered at once while they are few', () => {
    const { refuse } = stage();
    assert.deepEqual(new Set(refuse(refusalsAtOnceMax)), new Set([0]));
  });

  it('wait one behind the other once there are many, and none longer than the limit', () => {
    const { refuse } = stage();
    refuse(refusalsAtOnceMax);
    const [first, second, third] = refuse(3);
    assert.deepEqual(
      [first, second, third],
      [1, 2, 3].map((n) => n * refusalEveryMs),
    );
    assert.equal(Math.max(...refuse(10_000)), refusalDelayMaxMs);
  });

  it('are answered at once again after a time without refusals', () => {
    const { world, refuse } = stage();
    refuse(10_000);
    world.advance(refusalDelayMaxMs + 10 * refusalEveryMs);
    assert.deepEqual(new Set(refuse(10)), new Set([0]));
    world.advance(1_000_000);
    const waits = refuse(refusalsAtOnceMax + 1);
    assert.equal(waits.filter((ms) => ms > 0).length, 1, 'a long pause lets no more through');
  });
});
