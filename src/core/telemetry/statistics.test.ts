import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { fc } from '../../../test/fast-check.ts';
import {
  addStatistics,
  bucketCount,
  bucketEdges,
  bucketOf,
  latencyOf,
  minuteMs,
  noStatistics,
  pendingOf,
  percentileMs,
  ranges,
  spanBetween,
  spanOf,
  stepsMax,
  stepsOf,
  successRateOf,
} from './statistics.ts';

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

const tookMs = fc.oneof(fc.nat(20), fc.nat(2_000), fc.nat(15_000), fc.nat(100_000));

describe('bucketOf', () => {
  it('returns the bucket that holds the time, upper bounds included', () => {
    fc.assert(
      fc.property(tookMs, (ms) => {
        const bucket = bucketOf(ms);
        const { fromMs, toMs } = bucketEdges(bucket);
        assert(bucket === 0 || ms > fromMs);
        assert(bucket === bucketCount - 1 || ms <= toMs);
      }),
    );
  });

  it('handles both ends', () => {
    assert.equal(bucketOf(0), 0);
    assert.equal(bucketOf(1), 0);
    assert.equal(bucketOf(2), 1);
    assert.equal(bucketOf(15_000), 24);
    assert.equal(bucketOf(15_001), 25);
    assert.equal(bucketCount, 26);
  });
});

describe('percentileMs', () => {
  it('lies in the bucket of the exact percentile, for any times', () => {
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(fc.array(tookMs, { minLength: 1, maxLength: 300 }), share, (times, part) => {
        const sorted = times.toSorted((a, b) => a - b);
        const exact = sorted[Math.max(Math.ceil(part * sorted.length), 1) - 1] ?? 0;
        const found = percentileMs(countsOf(times), part);
        assert(found !== undefined);
        const { fromMs, toMs } = bucketEdges(bucketOf(exact));
        assert(found >= fromMs && found <= toMs, `${found} is not where ${exact} is`);
      }),
    );
  });

  it('never decreases with the share', () => {
    fc.assert(
      fc.property(fc.array(tookMs, { minLength: 1 }), (times) => {
        const counts = countsOf(times);
        const found = [0, 0.25, 0.5, 0.75, 0.95, 1].map((part) => percentileMs(counts, part) ?? 0);
        assert.deepEqual(
          found,
          found.toSorted((a, b) => a - b),
        );
      }),
    );
  });

  it('interpolates within a bucket', () => {
    // A hundred values between 100 and 150 ms.
    const counts = countsOf(Array.from({ length: 100 }, () => 120));
    assert.equal(percentileMs(counts, 0.5), 125);
    assert.equal(percentileMs(counts, 0.95), 148);
    assert.equal(percentileMs(counts, 1), 150);
  });

  it('is the last bound for longer times, and undefined without any', () => {
    assert.equal(percentileMs(countsOf([60_000]), 0.5), 15_000);
    assert.equal(percentileMs(countsOf([]), 0.5), undefined);
  });
});

function countsOf(times: readonly number[]): number[] {
  const counts = Array.from({ length: bucketCount }, () => 0);
  for (const ms of times) counts[bucketOf(ms)] = (counts[bucketOf(ms)] ?? 0) + 1;
  return counts;
}

const dayMs = 24 * 60 * minuteMs;
const timeMs = fc.integer({ min: Date.UTC(2000, 0), max: Date.UTC(2100, 0) });

describe('spanOf', () => {
  it('ends with the current step and begins at a multiple of the step', () => {
    const lengthsMs = { '15m': 15 * minuteMs, '1h': 60 * minuteMs, '24h': dayMs, '7d': 7 * dayMs };
    fc.assert(
      fc.property(timeMs, fc.constantFrom(...ranges), (nowMs, range) => {
        const span = spanOf(range, nowMs);
        const stepMs = span.stepMinutes * minuteMs;
        assert(span.untilMinute * minuteMs > nowMs);
        assert(span.untilMinute * minuteMs - stepMs <= nowMs);
        assert.equal((span.fromMinute * minuteMs) % stepMs, 0);
        assert.equal((span.untilMinute - span.fromMinute) * minuteMs, lengthsMs[range]);
      }),
    );
  });

  it('has the documented number of steps', () => {
    const steps = ranges.map((range) => [spanOf(range, 0).stepMinutes, stepsOf(spanOf(range, 0))]);
    assert.deepEqual(steps, [
      [1, 15],
      [1, 60],
      [30, 48],
      [180, 56],
    ]);
  });
});

describe('spanBetween', () => {
  it('covers the requested span, in a bounded number of steps of whole minutes', () => {
    fc.assert(
      fc.property(timeMs, timeMs, (a, b) => {
        const [fromMs, untilMs] = [Math.min(a, b), Math.max(a, b) + 1];
        const span = spanBetween(fromMs, untilMs);
        const { fromMinute, untilMinute, stepMinutes } = span;
        assert(fromMinute * minuteMs <= fromMs && untilMinute * minuteMs >= untilMs);
        assert(Number.isInteger(stepMinutes) && stepMinutes >= 1);
        assert(stepsOf(span) >= 1 && stepsOf(span) <= stepsMax);
        assert.equal(fromMinute % stepMinutes, 0);
        assert.equal(untilMinute % stepMinutes, 0);
      }),
    );
  });

  it('has no step that begins or ends in a year with more than four digits', () => {
    const [first, last] = ['0000-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z'].map(Date.parse);
    assert(first !== undefined && last !== undefined);
    for (const [fromMs, untilMs] of [
      [first, last],
      [first, first + minuteMs],
      [first, Date.UTC(2026, 0)],
      [Date.UTC(2026, 0), last],
      [last - 3 * dayMs, last],
    ] as const) {
      const span = spanBetween(fromMs, untilMs);
      assert(stepsOf(span) >= 1);
      assert(span.fromMinute * minuteMs >= first && span.untilMinute * minuteMs <= last);
    }
  });

  it('uses the shortest steps that are few enough', () => {
    const steps = [1, 119 * minuteMs, 121 * minuteMs, dayMs, 7 * dayMs, 30 * dayMs, 400 * dayMs];
    assert.deepEqual(
      steps.map((ms) => spanBetween(0, ms).stepMinutes),
      [1, 1, 2, 15, 120, 360, 4 * 24 * 60],
    );
  });
});
