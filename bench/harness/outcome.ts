// The outcome of a scenario: a table of figures, and the bounds that they must meet.
import type { Spread } from './round-statistics.ts';

export interface Scenario {
  /** The name for `--only`: that of its file. */
  name: string;
  title: string;
  /** What is measured, and against what, in a sentence or two. */
  about: string;
  run(size: Size): Promise<Outcome>;
}

export interface Size {
  rounds: number;
  /** Ten times the rows, where the question is whether costs grow with them. */
  isLarge: boolean;
  /** What is added to each round trip to PostgreSQL. */
  latencyMs: number;
  /** Another checkout of Ringback, to be measured beside this one. */
  against?: string | undefined;
}

export interface Outcome {
  rows: readonly Row[];
  checks: readonly Check[];
  /** What could not be measured here, and why. */
  skipped?: readonly string[];
}

export interface Row {
  name: string;
  cells: readonly Cell[];
}

export interface Cell {
  /** With its unit. */
  column: string;
  value: Spread;
}

export interface Check {
  what: string;
  value: Spread;
  bound: { atLeast: number } | { atMost: number };
  aim?: number;
}

export function isHeld({ value: { median }, bound }: Check): boolean {
  return 'atLeast' in bound ? median >= bound.atLeast : median <= bound.atMost;
}
