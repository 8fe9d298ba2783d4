import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { nextWaitMs, readRetryAfter } from './retry.ts';

const nowMs = Date.UTC(2026, 10, 15, 12, 0, 0);
const hourMs = 3_600_000;
const waitsMs = [5_000, 300_000];
const usual = { tries: 0, waitsMs, askedMs: undefined, randomFraction: 0.5 };

describe('nextWaitMs', () => {
  it('follows the schedule', () => {
    assert.equal(nextWaitMs(usual), 5_000);
    assert.equal(nextWaitMs({ ...usual, tries: 1 }), 300_000);
  });

  it('returns undefined when the schedule is exhausted', () => {
    assert.equal(nextWaitMs({ ...usual, tries: 2 }), undefined);
    assert.equal(nextWaitMs({ ...usual, waitsMs: [] }), undefined);
  });

  it('applies a jitter of a fifth to both sides, in whole milliseconds', () => {
    assert.equal(nextWaitMs({ ...usual, randomFraction: 0 }), 4_000);
    assert.equal(nextWaitMs({ ...usual, randomFraction: 0.999_999 }), 6_000);
    assert(Number.isInteger(nextWaitMs({ ...usual, waitsMs: [3], randomFraction: 0.3 })));
  });

  it('waits longer if the receiver asks, but never less', () => {
    assert.equal(nextWaitMs({ ...usual, askedMs: hourMs }), hourMs);
    assert.equal(nextWaitMs({ ...usual, askedMs: 1 }), 5_000);
    assert.equal(nextWaitMs({ ...usual, askedMs: -hourMs }), 5_000);
  });

  it('waits at most a day, whatever the receiver asks', () => {
    assert.equal(nextWaitMs({ ...usual, askedMs: 100 * 24 * hourMs }), 24 * hourMs);
  });

  it('makes no more attempts than the schedule has, whatever the receiver asks', () => {
    assert.equal(nextWaitMs({ ...usual, tries: 2, askedMs: hourMs }), undefined);
  });
});

describe('readRetryAfter', () => {
  const read = (value: string) => readRetryAfter([['Retry-After', value]], nowMs);

  it('reads seconds', () => {
    assert.equal(read('120'), 120_000);
    assert.equal(read(' 0 '), 0);
  });

  it('finds the header whatever its case, and takes the first', () => {
    const headers = [
      ['date', 'x'],
      ['RETRY-AFTER', '1'],
      ['retry-after', '2'],
    ] as const;
    assert.equal(readRetryAfter(headers, nowMs), 1_000);
    assert.equal(readRetryAfter([], nowMs), undefined);
  });

  it('reads all three forms of a date as GMT', () => {
    const dateMs = Date.UTC(2026, 10, 15, 13, 0, 0);
    for (const text of [
      'Sun, 15 Nov 2026 13:00:00 GMT',
      'Sunday, 15-Nov-26 13:00:00 GMT',
      'Sun Nov 15 13:00:00 2026',
    ]) {
      assert.equal(read(text), dateMs - nowMs, text);
    }
  });

  it('reads absurd numbers as a long wait, and never as none', () => {
    const waitMs = read('999999999999999');
    assert(waitMs !== undefined && waitMs > 1e15 && Number.isFinite(waitMs));
  });

  it('ignores what is neither', () => {
    for (const text of ['', '-5', '1.5', '1e3', '0x10', '9'.repeat(40), 'soon', 'Soon, maybe']) {
      assert.equal(read(text), undefined, text);
    }
  });
});
