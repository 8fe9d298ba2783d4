import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { fc } from '../../../test/fast-check.ts';
import { rescale, takeFromQuota, type QuotaDecision } from './quotas.ts';

/** Asks for counts at given times, and returns the results. */
function ask(
  perSecond: number,
  askings: readonly { atMs: number; count: number }[],
): QuotaDecision[] {
  let paidMs = 0;
  return askings.map(({ atMs, count }) => {
    const taking = takeFromQuota({ perSecond, paidMs, nowMs: atMs }, count);
    if (taking.kind === 'taken') paidMs = taking.paidMs;
    return taking;
  });
}

const kinds = (takings: readonly QuotaDecision[]): string[] => takings.map(({ kind }) => kind);

describe('takeFromQuota', () => {
  it('admits a burst of one second, and then one whenever one is paid off', () => {
    const burst = Array.from({ length: 3 }, () => ({ atMs: 5_000, count: 1 }));
    const takings = ask(3, [...burst, { atMs: 5_000, count: 1 }, { atMs: 5_334, count: 1 }]);
    assert.deepEqual(kinds(takings), ['taken', 'taken', 'taken', 'refused', 'taken']);
  });

  it('returns how many are left, and when the burst is full again', () => {
    const [first, second] = ask(100, [
      { atMs: 0, count: 30 },
      { atMs: 100, count: 1 },
    ]);
    assert.deepEqual(first, { kind: 'taken', paidMs: 300, left: 70, wholeMs: 300 });
    assert.deepEqual(second, { kind: 'taken', paidMs: 310, left: 79, wholeMs: 210 });
  });

  it('returns the exact time to wait', () => {
    const [, refused] = ask(10, [
      { atMs: 0, count: 10 },
      { atMs: 0, count: 4 },
    ]);
    assert.deepEqual(refused, { kind: 'refused', waitMs: 400, wholeMs: 1_000 });
    const times = [399, 400].map(
      (atMs) =>
        ask(10, [
          { atMs: 0, count: 10 },
          { atMs, count: 4 },
        ])[1],
    );
    assert.deepEqual(
      times.map((taking) => taking?.kind),
      ['refused', 'taken'],
    );
  });

  it('admits more than a burst when nothing is owed, and pays it off afterwards', () => {
    const takings = ask(10, [
      { atMs: 0, count: 50 },
      { atMs: 4_000, count: 1 },
      { atMs: 4_100, count: 1 },
      { atMs: 4_200, count: 50 },
      { atMs: 5_100, count: 50 },
    ]);
    assert.deepEqual(kinds(takings), ['taken', 'refused', 'taken', 'refused', 'taken']);
    assert.deepEqual(takings[3], { kind: 'refused', waitMs: 900, wholeMs: 900 });
  });

  it('never admits more than the rate and one burst, over any time span', () => {
    const gap = fc.integer({ min: 0, max: 700 });
    const askings = fc.array(fc.record({ gap, count: fc.integer({ min: 1, max: 7 }) }));
    fc.assert(
      fc.property(fc.integer({ min: 7, max: 50 }), askings, (perSecond, gaps) => {
        let atMs = 0;
        const asked = gaps.map(({ gap: each, count }) => ({ atMs: (atMs += each), count }));
        const takings = ask(perSecond, asked);
        const taken = asked.filter((_, index) => takings[index]?.kind === 'taken');
        for (const [from, first] of taken.entries()) {
          let sum = 0;
          for (const each of taken.slice(from)) {
            sum += each.count;
            const most = perSecond * (1 + (each.atMs - first.atMs) / 1_000);
            assert.ok(sum <= most + 1e-6, `${sum} in ${each.atMs - first.atMs} ms`);
          }
        }
      }),
    );
  });
});

describe('rescale', () => {
  const owed = { perSecond: 2, paidMs: 501_000 };

  it('keeps the debt at a higher rate, which pays it off sooner', () => {
    assert.deepEqual(rescale(owed, 1_000, 100_000), { perSecond: 100_000, paidMs: 1_010 });
    assert.deepEqual(rescale(owed, 1_000, 2), owed);
  });

  it('never extends the debt at a lower rate, nor restores one that is paid off', () => {
    assert.deepEqual(rescale(owed, 1_000, 1), { perSecond: 1, paidMs: 501_000 });
    assert.deepEqual(rescale(owed, 600_000, 4), { perSecond: 4, paidMs: 600_000 });
  });
});
