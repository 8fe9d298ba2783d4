import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { fc } from '../../../test/fast-check.ts';
import { minuteMs, ranges, spanBetween, spanOf, stepsMax, stepsOf } from './stats-span.ts';

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
