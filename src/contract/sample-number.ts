// Numbers for a schema: within the bounds, a multiple where one is asked for, small where they may be.
import { bounds } from './bounds.ts';

export interface NumberRules {
  isInteger: boolean;
  minimum: number;
  maximum: number;
  exclusiveMinimum: number;
  exclusiveMaximum: number;
  factors: readonly number[];
}

/** Numbers to try, the best first. `variant` 1, 2, … gives others than 0 does. */
export function numbersFor(rules: NumberRules, variant: number): number[] {
  const { isInteger, factors } = rules;
  const least = Math.max(rules.minimum, rules.exclusiveMinimum);
  const most = Math.min(rules.maximum, rules.exclusiveMaximum);
  const steps = new Set([...factors, ...(isInteger ? [1] : [])]);
  if (steps.size > 1) steps.add(common([...steps]));
  const tries = [...steps].flatMap((step) => multiples(step, { least, most, variant }));
  const between = [
    (Number.isFinite(least) ? least : most - 1) + variant,
    least + (most - least) / (variant + 2),
    most,
    variant + 1.5,
  ];
  const found = [variant + 1, ...tries, ...between].filter(fits);
  return [...new Set(found)].slice(0, bounds.sampleOptionsMax);

  function fits(number: number): boolean {
    return (
      Number.isFinite(number) &&
      number >= rules.minimum &&
      number <= rules.maximum &&
      number > rules.exclusiveMinimum &&
      number < rules.exclusiveMaximum &&
      (!isInteger || Number.isInteger(number)) &&
      factors.every((factor) => Number.isInteger(number / factor))
    );
  }
}

interface Range {
  least: number;
  most: number;
  variant: number;
}

/** From the least upwards, or where there is no least, from the most downwards. */
function multiples(step: number, { least, most, variant }: Range): number[] {
  const isBelow = least === -Infinity && most < 1;
  const first = isBelow ? Math.floor(most / step) : Math.ceil(Math.max(least, -1e15) / step);
  const start = least < 1 && most >= step && !isBelow ? Math.max(first, 1) : first;
  const count = bounds.sampleOptionsMax;
  return Array.from({ length: count }, (_none, index) => {
    const by = (index + variant) * (isBelow ? -1 : 1);
    return (start + by) * step;
  });
}

/** The least common multiple, where the factors are whole; else their product. */
function common(factors: readonly number[]): number {
  return factors.reduce((a, b) => {
    if (!Number.isInteger(a) || !Number.isInteger(b)) return a * b;
    let [x, y] = [a, b];
    while (y !== 0) [x, y] = [y, x % y];
    return (a / x) * b;
  }, 1);
}
