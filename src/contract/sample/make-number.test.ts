import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/fast-check.ts';
import { type NumberRules, numbersFor } from './make-number.ts';

const unbounded: NumberRules = {
  minimum: -Infinity,
  maximum: Infinity,
  exclusiveMinimum: -Infinity,
  exclusiveMaximum: Infinity,
  factors: [],
};

describe('numbersFor', () => {
  const cases: [Partial<NumberRules>, number | undefined][] = [
    [{}, 1],
    [{ factors: [0.1], minimum: 0.25 }, 1],
    [{ factors: [0.1], minimum: 0.3, maximum: 0.3 }, 0.3],
    [{ factors: [0.01], minimum: 1.145, maximum: 1.155 }, 1.15],
    [{ factors: [0.01], exclusiveMinimum: 4.34, exclusiveMaximum: 4.36 }, 4.35],
    [{ factors: [0.1, 0.25], minimum: 0.1, maximum: 0.9 }, 0.5],
    [{ factors: [0.01], minimum: 1e12 + 0.005 }, 1_000_000_000_000.01],
    [{ factors: [1, 0.4], minimum: 3 }, 4],
    [{ factors: [1e-8], maximum: 3e-8 }, 1e-8],
    [{ factors: [1, 1e15], minimum: 1e20 }, 1e20],
    [{ factors: [1], maximum: -3 }, -3],
    [{ factors: [1], minimum: -5, maximum: 10 }, 1],
    [{ exclusiveMinimum: 1e300 }, 2e300],
    [{ exclusiveMinimum: 0, maximum: 0.1 }, 0.05],
    [{ factors: [0.5], minimum: 0.6, maximum: 0.9 }, undefined],
    [{ minimum: 5, maximum: 4 }, undefined],
  ];
  for (const [rules, expected] of cases) {
    it(JSON.stringify(rules), () => {
      assert.equal(numbersFor({ ...unbounded, ...rules }, 0)[0], expected);
    });
  }

  it('writes the multiples of a decimal factor without rounding errors', () => {
    const factors = fc.constantFrom(0.1, 0.01, 0.001, 0.05, 0.25, 0.3, 1e-6);
    const count = fc.integer({ min: -1e6, max: 1e6 });
    fc.assert(
      fc.property(factors, count, fc.nat(20), (factor, lowest, variant) => {
        const exponent = String(factor).split('e-')[1] ?? String(factor).split('.')[1]?.length;
        const digits = Math.round(factor * 10 ** Number(exponent));
        const at = (steps: number): number => Number(`${steps * digits}e-${exponent}`);
        const rules = {
          ...unbounded,
          factors: [factor],
          minimum: at(lowest),
          maximum: at(lowest + 3),
        };
        const expected = [0, 1, 2, 3].map((more) => at(lowest + more));
        const found = numbersFor(rules, variant);
        assert.deepEqual(
          found.toSorted((a, b) => a - b),
          expected,
        );
      }),
    );
  });

  it('finds as many different numbers as the bounds allow', () => {
    const rules = { ...unbounded, factors: [1], minimum: -50, maximum: 49 };
    const firsts = Array.from({ length: 100 }, (_none, variant) => numbersFor(rules, variant)[0]);
    assert.equal(new Set(firsts).size, 100);
  });
});
