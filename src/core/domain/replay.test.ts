import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { firstIdAt } from '../base/id.ts';
import { limits } from '../limits/limits.ts';
import { dueStepMs, nextStepMs, progressOf, stepMax } from './replay.ts';

describe('stepMax', () => {
  it('is what the rate allows in a quarter of a second, and at least one', () => {
    assert.deepEqual([1, 4, 5, 50, 1_000].map(stepMax), [1, 1, 2, 13, 250]);
    assert.equal(stepMax(limits.replayRateMax) <= limits.replayStepMax, true);
  });
});

describe('nextStepMs', () => {
  it('counts from the theoretical end of the last step, so that the rate is exact', () => {
    const at = { nextMs: 1_000_000, ratePerSecond: 7 };
    let { nextMs } = at;
    for (let sent = 0; sent < 700; sent += 2) {
      nextMs = nextStepMs({ ...at, nextMs }, nextMs + 30, 2);
    }
    assert.equal(Math.round(nextMs), 1_000_000 + 100_000);
  });

  it('does not catch up after a long delay', () => {
    const at = { nextMs: 1_000_000, ratePerSecond: 10 };
    assert.equal(nextStepMs(at, 9_000_000, 1), 9_000_000 - limits.replayCatchUpMs + 100);
  });

  it('is not delayed by a step that sent nothing', () => {
    assert.equal(nextStepMs({ nextMs: 1_000, ratePerSecond: 10 }, 1_200, 0), 1_000);
  });
});

describe('after the clock was set back', () => {
  const at = { nextMs: 9_000_000, ratePerSecond: 10 };

  it('makes the next step due now, and the one after it due as usual', () => {
    assert.equal(dueStepMs(at, 1_000_000), 1_000_000);
    assert.equal(nextStepMs(at, 1_000_000, 3), 1_000_300);
  });

  it('makes nothing due early after a small step back, as between the clocks of nodes', () => {
    for (const ratePerSecond of [1, 7, 1_000]) {
      const nextMs = nextStepMs({ ...at, ratePerSecond }, 9_000_000, stepMax(ratePerSecond));
      assert.equal(dueStepMs({ nextMs, ratePerSecond }, 9_000_000 - 500), nextMs);
    }
  });
});

describe('progressOf', () => {
  const walk = { firstEvent: firstIdAt(1_000), lastEvent: firstIdAt(2_000) };
  const at = (ms: number): number =>
    progressOf({ ...walk, state: 'running', cursor: { event: firstIdAt(ms), n: 0, below: 1 } });

  it('is the share of the time between the first and the last event that was walked', () => {
    assert.deepEqual([at(1_000), at(1_250), at(2_000)], [0, 0.25, 1]);
  });

  it('stays between 0 and 1, and is 1 when it is done', () => {
    assert.deepEqual([at(0), at(9_000)], [0, 1]);
    const cursor = { event: '', n: -1, below: 0 };
    const nothing = { firstEvent: '', lastEvent: '', cursor };
    assert.equal(progressOf({ ...nothing, state: 'done' }), 1);
    assert.equal(progressOf({ ...nothing, state: 'cancelled' }), 0);
  });
});
