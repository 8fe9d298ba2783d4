import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/fast-check.ts';
import { isMultiple } from './decimal.ts';

describe('isMultiple', () => {
  const cases: [number, number, boolean][] = [
    [1.15, 0.01, true],
    [0.3, 0.1, true],
    [4.35, 0.01, true],
    [-0.3, 0.1, true],
    [1.155, 0.01, false],
    [1e21, 3, false],
    [12_391_239_123, 1e-8, true],
    [1e308, 0.123456789, false],
    [5e-324, 1e300, false],
    [0, 0.7, true],
    [2 ** 53 + 2, 3, false],
  ];
  for (const [number, factor, expected] of cases) {
    it(`${number} is ${expected ? 'a' : 'no'} multiple of ${factor}`, () => {
      assert.equal(isMultiple(number, factor), expected);
    });
  }

  it('agrees with integers of the same digits', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -1e9, max: 1e9 }),
        fc.integer({ min: 1, max: 500 }),
        fc.nat(9),
        (count, factor, scale) => {
          const decimals = [count, factor].map((one) => Number(`${one}e-${scale}`));
          assert.equal(isMultiple(decimals[0] ?? 0, decimals[1] ?? 1), count % factor === 0);
        },
      ),
    );
  });
});
