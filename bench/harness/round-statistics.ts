// Summarizes several rounds: medians, quantiles and spreads.

export interface Spread {
  median: number;
  low: number;
  high: number;
}

export function spreadOf(values: readonly number[]): Spread {
  return { median: medianOf(values), low: Math.min(...values), high: Math.max(...values) };
}

/**
 * With an even number of rounds, the mean of the two in the middle: the upper one would flatter.
 */
function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[sorted.length >> 1] ?? Number.NaN;
  return sorted.length % 2 === 1
    ? upper
    : ((sorted[(sorted.length >> 1) - 1] ?? upper) + upper) / 2;
}

export function quantile(values: Iterable<number>, share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Ratios of neighbouring rounds: the load of the machine changes more slowly than the rounds. */
export function ratiosOf(values: readonly number[], baseline: readonly number[]): Spread {
  return spreadOf(values.map((value, round) => value / (baseline[round] ?? Number.NaN)));
}
