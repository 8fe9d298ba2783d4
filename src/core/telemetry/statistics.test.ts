import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { addStatistics, latencyOf, noStatistics, pendingOf, successRateOf } from './statistics.ts';

describe('addFigures', () => {
  it('adds every count and every bucket', () => {
    const [sum, more] = [noStatistics(), noStatistics()];
    sum.counts.made = 2;
    more.counts.made = 3;
    more.counts.dead = 1;
    more.took[4] = 7;
    addStatistics(sum, more);
    addStatistics(sum, more);
    assert.equal(sum.counts.made, 8);
    assert.equal(sum.counts.dead, 2);
    assert.equal(sum.took[4], 14);
    assert.equal(more.took[4], 7);
  });
});

describe('pendingOf', () => {
  it('is the number of deliveries that were made or revived and have not ended', () => {
    const { counts } = noStatistics();
    Object.assign(counts, { published: 9, made: 10, revived: 1, delivered: 4, dead: 2 });
    assert.equal(pendingOf({ ...counts, cancelled: 1, retried: 5 }), 4);
  });
});

describe('successRateOf', () => {
  it('is the share of attempts that succeeded', () => {
    const { counts } = noStatistics();
    assert.equal(successRateOf({ ...counts, delivered: 6, retried: 3, dead: 1 }), 0.6);
  });

  it('is undefined without an attempt', () => {
    assert.equal(successRateOf({ ...noStatistics().counts, cancelled: 3 }), undefined);
  });
});

describe('latencyOf', () => {
  it('returns both percentiles, or neither', () => {
    assert.deepEqual(latencyOf(noStatistics()), { p50Ms: undefined, p95Ms: undefined });
    const figures = noStatistics();
    figures.took[0] = 100;
    assert.deepEqual(latencyOf(figures), { p50Ms: 1, p95Ms: 1 });
  });
});
