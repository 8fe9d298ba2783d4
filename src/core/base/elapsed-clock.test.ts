import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { elapsedClock } from './world.ts';

/** Both clocks, advanced by hand. */
function clocks() {
  const at = { wallMs: 1_800_000_000_000, monotonicMs: 500 };
  const elapsedMs = elapsedClock({ nowMs: () => at.wallMs, monotonicMs: () => at.monotonicMs });
  return {
    elapsedMs,
    pass: (ms: number) => {
      at.wallMs += ms;
      at.monotonicMs += ms;
    },
    suspend: (ms: number) => void (at.wallMs += ms),
    setWall: (ms: number) => void (at.wallMs += ms),
  };
}

describe('elapsedClock', () => {
  it('advances with the monotonic clock', () => {
    const { elapsedMs, pass } = clocks();
    const beganMs = elapsedMs();
    pass(1_234);
    assert.equal(elapsedMs() - beganMs, 1_234);
  });

  it('counts time in which the machine was suspended', () => {
    const { elapsedMs, pass, suspend } = clocks();
    const beganMs = elapsedMs();
    pass(100);
    suspend(10_000);
    assert.equal(elapsedMs() - beganMs, 10_100);
  });

  it('never goes back, and counts a suspension after the wall clock was set back', () => {
    const { elapsedMs, pass, suspend, setWall } = clocks();
    const beganMs = elapsedMs();
    setWall(-86_400_000);
    assert.equal(elapsedMs() - beganMs, 0);
    pass(5);
    suspend(10_000);
    assert.equal(elapsedMs() - beganMs, 10_005);
  });

  it('counts a wall clock that is set forward and back only once', () => {
    const { elapsedMs, setWall } = clocks();
    const beganMs = elapsedMs();
    setWall(3_600_000);
    assert.equal(elapsedMs() - beganMs, 3_600_000);
    setWall(-3_600_000);
    assert.equal(elapsedMs() - beganMs, 3_600_000);
  });

  it('does not accumulate the rounding noise of the wall clock', () => {
    let monotonicMs = 0;
    const elapsedMs = elapsedClock({
      nowMs: () => 1_800_000_000_000 + Math.floor(monotonicMs),
      monotonicMs: () => monotonicMs,
    });
    for (; monotonicMs < 1_000; monotonicMs += 0.1) elapsedMs();
    assert.equal(elapsedMs(), monotonicMs);
  });
});
