// Numbers and times as displayed.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { english } from '../../console/src/english.ts';
import * as format from '../../console/src/format.ts';
import { setWords } from '../../console/src/words.ts';

setWords(english);

describe('percent', () => {
  it('shows 100% and 0% only for exact values', () => {
    const shares = [1, 0.999999, 0.9912, 0.985, 0.5, 0.0001, 0.0000001, 0];
    const said = shares.map(format.percent);
    assert.deepEqual(said, ['100%', '99.99%', '99.12%', '98.5%', '50.0%', '0.01%', '0.01%', '0%']);
  });
});

describe('duration', () => {
  it('uses at most two units, without overflow', () => {
    const ms = [
      0, 999, 1_000, 9_949, 9_950, 59_400, 59_999, 65_000, 3_600_000, 90_061_000, 180_000_000,
    ];
    assert.deepEqual(ms.map(format.duration), [
      '0 ms',
      '999 ms',
      '1.0 s',
      '9.9 s',
      '10 s',
      '59 s',
      '1 min',
      '1 min 5 s',
      '1 h',
      '25 h 1 min',
      '2 d 2 h',
    ]);
  });
});

describe('ago', () => {
  it('distinguishes the past and the future', () => {
    assert.equal(format.ago(10_000, 10_500), 'just now');
    assert.equal(format.ago(10_000, 15_000), '5 s ago');
    assert.equal(format.ago(200_000, 10_000), 'in 3 min');
  });
});

describe('countdown', () => {
  it('counts to the second, and ends', () => {
    assert.equal(format.countdown(95_000, 1_000), 'in 1 min 34 s');
    assert.equal(format.countdown(1_001, 1_000), 'in 1 s');
    assert.equal(format.countdown(1_000, 1_000), 'now');
  });
});

describe('count, bytes and ids', () => {
  it('are short and exact', () => {
    assert.equal(format.count(1_234_567), '1,234,567');
    assert.equal(format.compactCount(12_345), '12.3K');
    assert.equal(format.plural(1, 'delivery', 'deliveries'), '1 delivery');
    assert.equal(format.plural(0, 'attempt'), '0 attempts');
    assert.deepEqual([0, 1, 1_536, 2_097_152].map(format.bytes), [
      '0 bytes',
      '1 byte',
      '1.5 KiB',
      '2.0 MiB',
    ]);
    assert.equal(format.shortId('dlv_01jc4t6v8m3q5r7w9x1y2z3a4b_0'), 'dlv_01jc4t…3a4b_0');
    assert.equal(format.shortId('rbk_4fKz09Qm'), 'rbk_4fKz09Qm');
  });
});
