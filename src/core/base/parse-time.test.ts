import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/fast-check.ts';
import { durationMs, instantMs, isoDurationMs, printDuration } from './parse-time.ts';

describe('durationMs', () => {
  it('reads a number with a unit', () => {
    const texts = ['0s', '500ms', '15s', '5m', '2h', '30d', '007s'];
    const expected = [0, 500, 15_000, 300_000, 7_200_000, 2_592_000_000, 7_000];
    assert.deepEqual(texts.map(durationMs), expected);
  });

  it('refuses anything else', () => {
    const odd = [
      '',
      '5',
      's',
      '5 s',
      ' 5s',
      '5s ',
      '-5s',
      '1.5s',
      '5S',
      '5w',
      '1e3s',
      '5s5m',
      '٥s',
    ];
    for (const text of [...odd, '1000000000d', '5s\n', 'P1D']) {
      assert.equal(durationMs(text), undefined, text);
    }
  });
});

describe('isoDurationMs', () => {
  it('reads whole units in their order', () => {
    const day = 86_400_000;
    const cases: [string, number][] = [
      ['P7D', 7 * day],
      ['P1Y2M3W4D', (365 + 60 + 21 + 4) * day],
      ['PT1H2M3S', 3_723_000],
      ['P1DT12H', 1.5 * day],
      ['P0D', 0],
    ];
    for (const [text, ms] of cases) assert.equal(isoDurationMs(text), ms, text);
  });

  it('refuses anything else', () => {
    const odd = ['', 'P', 'PT', 'P1', 'P1DT', '7d', 'P1H', 'PT1D', 'P1D2Y', 'P1.5D', '-P1D', 'p1d'];
    for (const text of [...odd, 'P1D\n', 'P1234567D', 'P٧D', ' P1D']) {
      assert.equal(isoDurationMs(text), undefined, text);
    }
  });
});

describe('printDuration', () => {
  it('uses the largest unit that divides evenly', () => {
    const all = [0, 1, 1500, 60_000, 90_000, 5_400_000, 86_400_000, 604_800_000].map(printDuration);
    assert.deepEqual(all, ['0s', '1ms', '1500ms', '1m', '90s', '90m', '1d', '7d']);
  });

  it('round-trips through durationMs', () => {
    const ms = fc.oneof(
      fc.nat(999_999_999),
      fc.nat(604_800).map((seconds) => seconds * 1000),
    );
    fc.assert(fc.property(ms, (value) => durationMs(printDuration(value)) === value));
  });
});

describe('instantMs', () => {
  it('reads times whose UTC year has four digits', () => {
    for (const text of ['0000-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z']) {
      const ms = instantMs(text);
      assert(ms !== undefined);
      assert.equal(new Date(ms).toISOString(), text);
    }
  });

  it('refuses times that an offset moves out of these years, and leap seconds', () => {
    for (const text of [
      '9999-12-31T23:59:59-23:59',
      '0000-01-01T00:00:00+00:01',
      '2016-12-31T23:59:60Z',
    ]) {
      assert.equal(instantMs(text), undefined, text);
    }
  });
});
