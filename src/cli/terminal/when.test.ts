import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { exactTime, readTime, relativeTime, tookTime } from './when.ts';

const nowMs = Date.parse('2026-03-01T12:00:00.000Z');
const at = (ms: number): string => new Date(nowMs + ms).toISOString();

describe('relativeTime', () => {
  it('shows the distance in either direction, and a date beyond a month', () => {
    const cases: [number, string][] = [
      [0, 'now'],
      [-999, 'now'],
      [-1_000, '1 s ago'],
      [-59_999, '59 s ago'],
      [-60_000, '1 min ago'],
      [-3_599_999, '59 min ago'],
      [-7_200_000, '2 h ago'],
      [-3 * 86_400_000, '3 d ago'],
      [-40 * 86_400_000, '2026-01-20'],
      [5_000, 'in 5 s'],
      [90_000, 'in 1 min'],
    ];
    for (const [ms, expected] of cases) assert.equal(relativeTime(at(ms), nowMs), expected);
  });

  it('shows nothing without a time, and an invalid one unchanged', () => {
    assert.equal(relativeTime(undefined, nowMs), '');
    assert.equal(relativeTime(null, nowMs), '');
    assert.equal(relativeTime('soon', nowMs), 'soon');
  });
});

describe('exactTime', () => {
  it('appends the relative time', () => {
    assert.equal(exactTime(at(-5_000), nowMs), '2026-03-01T11:59:55.000Z (5 s ago)');
    assert.equal(exactTime(at(-40 * 86_400_000), nowMs), '2026-01-20T12:00:00.000Z');
    assert.equal(exactTime(undefined, nowMs), undefined);
  });
});

describe('tookTime', () => {
  it('uses larger units for longer times', () => {
    assert.deepEqual([3, 1_540, 125_000].map(tookTime), ['3 ms', '1.5 s', '2 min']);
  });
});

describe('readTime', () => {
  const read = (text: string): string => readTime({ flag: 'since', text }, nowMs);

  it('reads durations before now, and times with a zone', () => {
    assert.equal(read('1h'), '2026-03-01T11:00:00.000Z');
    assert.equal(read('7d'), '2026-02-22T12:00:00.000Z');
    assert.equal(read('2026-02-01T00:00:00+02:00'), '2026-01-31T22:00:00.000Z');
    assert.equal(read('2026-02-01'), '2026-02-01T00:00:00.000Z');
    assert.equal(read('2024-02-29T23:00:00-02:00'), '2024-03-01T01:00:00.000Z');
    assert.equal(read('99999d'), '1970-01-01T00:00:00.000Z');
  });

  it('refuses anything else and says what was expected', () => {
    const strange = ['', 'yesterday', '1 h', '2026-13-01', '2026-02-01T10:00', '-1h'];
    const never = ['2026-02-31', '2026-02-30T12:00:00Z', '2026-04-31T00:00:00+02:00'];
    for (const text of [...strange, ...never]) {
      assert.throws(() => read(text), { message: /^Cannot read --since ".*": expected how long/ });
    }
  });
});
