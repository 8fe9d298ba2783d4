// Tests metrics as values: buckets, and a bounded number of label sets.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { limits } from '../limits/limits.ts';
import { counters, createHistogram, observe } from './metric.ts';

describe('observe', () => {
  it('counts a value in the first bucket whose bound it does not exceed', () => {
    const histogram = createHistogram([1, 2]);
    for (const value of [0, 1, 1.5, 2, 2.1]) observe(histogram, value);
    assert.deepEqual(histogram.counts, [2, 2, 1]);
    assert.equal(histogram.sum, 6.6);
  });
});

describe('counters', () => {
  it('keeps label sets apart, and names them', () => {
    const all = counters('a', 'b');
    all.of('x', 'y').count += 1;
    all.of('x', 'z').count += 1;
    all.of('x', 'y').count += 1;
    assert.deepEqual(all.all(), [
      { labels: { a: 'x', b: 'y' }, it: { count: 2 } },
      { labels: { a: 'x', b: 'z' }, it: { count: 1 } },
    ]);
  });

  it('counts excess label sets together as other', () => {
    const all = counters('a');
    for (let i = 0; i < limits.seriesMax + 10; i += 1) all.of(`v${i}`).count += 1;
    const found = all.all();
    assert.equal(found.length, limits.seriesMax + 1);
    assert.deepEqual(found.at(-1), { labels: { a: 'other' }, it: { count: 10 } });
  });
});
