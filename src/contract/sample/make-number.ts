// Numbers within the bounds of a schema. The arithmetic is exact: `multipleOf: 0.1` gives 0.3, not 0.30000000000000004.
import { bounds } from '../document/bounds.ts';
import { decimalOf, isMultiple, scaled } from '../schema/decimal.ts';

export interface NumberRules {
  minimum: number;
  maximum: number;
  exclusiveMinimum: number;
  exclusiveMaximum: number;
  /** 1 for an integer, and every `multipleOf`. */
  factors: readonly number[];
}

/** Numbers to try, the best first. Each `variant` (0, 1, 2, …) starts with another one. */
export function numbersFor(rules: NumberRules, variant: number): number[] {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, factors } = rules;
  const least = Math.max(minimum, exclusiveMinimum);
  const most = Math.min(maximum, exclusiveMaximum);
  const given = [least, most, ...factors].filter(Number.isFinite).map(decimalOf);
  // One digit more than the bounds have: there may be no other number between them.
  const scale = Math.max(0, ...given.map((one) => one.scale)) + 1;
  const at = (number: number): bigint => scaled(decimalOf(number), scale);
  const step = factors.length === 0 ? 5n : factors.map(at).reduce(commonMultiple);
  // All numbers below count steps.
  const lower = Number.isFinite(least) ? ceil(at(least), step) : undefined;
  const upper = Number.isFinite(most) ? -ceil(-at(most), step) : undefined;
  const first = lower ?? (upper ?? 0n) - width(upper);
  const last = upper ?? first + 2n * width(lower);
  const nearest = lower ?? upper ?? 0n;
  const start = [ceil(at(1), step), 1n].find((it) => it >= first && it <= last) ?? nearest;
  const size = last > first ? last - first + 1n : 1n;
  const turned = (by: bigint): bigint => first + ((start - first + BigInt(variant) + by) % size);
  // A large number has few digits that are exact; the others must be zeros.
  const round = 10n ** BigInt(Math.max(0, String(start * step).length - 15));
  const counts = [0n, 1n, 2n, size / 2n, -1n].map(turned);
  const numbers = [...counts, ceil(start, round) * round, first, last]
    .map((count) => Number(`${count * step}e-${scale}`))
    .filter(
      (number) =>
        number >= minimum &&
        number <= maximum &&
        number > exclusiveMinimum &&
        number < exclusiveMaximum &&
        factors.every((factor) => isMultiple(number, factor)),
    );
  return [...new Set(numbers)].slice(0, bounds.sampleOptionsMax);
}

/** How far to look where there is no bound. A small step would change no digit of a large number. */
function width(bound = 0n): bigint {
  return 10_000n + (bound < 0n ? -bound : bound);
}

function ceil(number: bigint, step: bigint): bigint {
  return number > 0n ? (number + step - 1n) / step : number / step;
}

function commonMultiple(a: bigint, b: bigint): bigint {
  let [x, y] = [a, b];
  while (y !== 0n) [x, y] = [y, x % y];
  return (a / x) * b;
}
