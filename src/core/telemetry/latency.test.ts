import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { fc } from '../../../test/fast-check.ts';
import { bucketCount, bucketEdges, bucketOf, percentileMs } from './latency.ts';

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
