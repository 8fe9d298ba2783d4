import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { nextDueMs, readRetryAfter } from './retry.ts';

const nowMs = Date.UTC(2026, 10, 15, 12, 0, 0);
const hourMs = 3_600_000;
const waitsMs = [5_000, 300_000];
const usual = { tries: 0, waitsMs, nowMs, askedMs: undefined, randomFraction: 0.5 };

describe('nextDueMs', () => {
  it('follows the schedule', () => {
    assert.equal(nextDueMs(usual), nowMs + 5_000);
    assert.equal(nextDueMs({ ...usual, tries: 1 }), nowMs + 300_000);
  });

  it('returns undefined when the schedule is exhausted', () => {
    assert.equal(nextDueMs({ ...usual, tries: 2 }), undefined);
    assert.equal(nextDueMs({ ...usual, waitsMs: [] }), undefined);
  });

  it('applies a jitter of a fifth to both sides, in whole milliseconds', () => {
    assert.equal(nextDueMs({ ...usual, randomFraction: 0 }), nowMs + 4_000);
    assert.equal(nextDueMs({ ...usual, randomFraction: 0.999_999 }), nowMs + 6_000);
    assert(Number.isInteger(nextDueMs({ ...usual, waitsMs: [3], randomFraction: 0.3 })));
  });

  it('waits longer if the receiver asks, but never less', () => {
    assert.equal(nextDueMs({ ...usual, askedMs: nowMs + hourMs }), nowMs + hourMs);
    assert.equal(nextDueMs({ ...usual, askedMs: nowMs + 1 }), nowMs + 5_000);
    assert.equal(nextDueMs({ ...usual, askedMs: nowMs - hourMs }), nowMs + 5_000);
  });

  it('waits at most a day, whatever the receiver asks', () => {
    assert.equal(nextDueMs({ ...usual, askedMs: nowMs * 100 }), nowMs + 24 * hourMs);
  });

  it('makes no more attempts than the schedule has, whatever the receiver asks', () => {
    assert.equal(nextDueMs({ ...usual, tries: 2, askedMs: nowMs + hourMs }), undefined);
  });
});

describe('readRetryAfter', () => {
  const read = (value: string) => readRetryAfter([['Retry-After', value]], nowMs);

  it('reads seconds', () => {
    assert.equal(read('120'), nowMs + 120_000);
    assert.equal(read(' 0 '), nowMs);
  });

  it('finds the header whatever its case, and takes the first', () => {
    const headers = [
      ['date', 'x'],
      ['RETRY-AFTER', '1'],
      ['retry-after', '2'],
    ] as const;
    assert.equal(readRetryAfter(headers, nowMs), nowMs + 1_000);
    assert.equal(readRetryAfter([], nowMs), undefined);
  });

  it('reads all three forms of a date as GMT', () => {
    const dateMs = Date.UTC(2026, 10, 15, 13, 0, 0);
    for (const text of [
      'Sun, 15 Nov 2026 13:00:00 GMT',
      'Sunday, 15-Nov-26 13:00:00 GMT',
      'Sun Nov 15 13:00:00 2026',
    ]) {
      assert.equal(read(text), dateMs, text);
    }
  });

  it('reads absurd numbers as a distant time, and never as none', () => {
    const farMs = read('999999999999999');
    assert(farMs !== undefined && farMs > nowMs && Number.isFinite(farMs));
  });

  it('ignores what is neither', () => {
    for (const text of ['', '-5', '1.5', '1e3', '0x10', '9'.repeat(40), 'soon', 'Soon, maybe']) {
      assert.equal(read(text), undefined, text);
    }
  });
});
