// The arithmetic of the chart.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { axisTop, labelledSteps, stepAt } from '../../console/src/components/chart-scale.ts';

describe('axisTop', () => {
  it('is round, and never below the largest value', () => {
    const tops = [0, 3, 4, 5, 9, 10, 11, 99, 585, 1_000_001].map(axisTop);
    assert.deepEqual(tops, [4, 4, 4, 6, 10, 10, 20, 100, 600, 2_000_000]);
  });
});

describe('stepAt', () => {
  it('is always one of the steps', () => {
    const places = [-5, 0, 49, 50, 99, 100, 500].map((x) => stepAt(x, { width: 100, size: 2 }));
    assert.deepEqual(places, [0, 0, 0, 1, 1, 1, 1]);
    assert.equal(stepAt(10, { width: 0, size: 2 }), 0);
  });
});

describe('labelledSteps', () => {
  it('leaves room for the text of each', () => {
    assert.deepEqual(labelledSteps(6, { width: 300, everyPx: 100 }), [0, 2, 4]);
    assert.deepEqual(labelledSteps(2, { width: 1_000, everyPx: 100 }), [0, 1]);
    assert.deepEqual(labelledSteps(5, { width: 0, everyPx: 100 }), []);
  });
});
