// The effect of one app on another: the rate at which its events arrive, and how long they take,
// compared to a run without the other; with the bounds for both.
import { quantile, ratiosOf, spreadOf } from './round-statistics.ts';
import type { Cell, Check, Row } from './outcome.ts';
import type { Loaded } from './load.ts';
import type { Arrivals } from './receivers.ts';

export interface Interference {
  rate: number;
  /** From publish to arrival, in ms. */
  p99: number;
  /** Of the connections, from opening one to its first answer, in ms; only if they were warmed up. */
  openedMs: readonly number[];
}

export function interferenceOf(
  { sentMs, openedMs }: Loaded,
  { atMs, lastMs }: Arrivals,
): Interference {
  const waits = atMs.map((at, n) => at - (sentMs[n] ?? at));
  const tookMs = lastMs - (sentMs[0] ?? 0);
  return { rate: (atMs.length * 1_000) / tookMs, p99: quantile(waits, 0.99), openedMs };
}

export function rowsOf(results: ReadonlyMap<string, readonly Interference[]>): Row[] {
  return [...results].map(([name, interference]) => ({
    name,
    cells: [
      { column: 'events/s', value: spreadOf(interference.map(({ rate }) => rate)) },
      { column: 'arrived p99 ms', value: spreadOf(interference.map(({ p99 }) => p99)) },
      ...openedCells(interference),
    ],
  }));
}

function openedCells(interference: readonly Interference[]): Cell[] {
  const slowest = interference.map(({ openedMs }) => Math.max(...openedMs));
  if (!slowest.every(Number.isFinite)) return [];
  return [{ column: 'slowest new connection ms', value: spreadOf(slowest) }];
}

export function checksOf(
  database: string,
  beside: readonly Interference[] = [],
  without: readonly Interference[] = [],
): Check[] {
  const of = (interference: readonly Interference[], what: 'rate' | 'p99'): number[] =>
    interference.map((one) => one[what]);
  const over = beside.map(({ p99 }, i) => p99 - 1.2 * (without[i]?.p99 ?? 0));
  return [
    {
      what: `${database}: rate, of that without`,
      value: ratiosOf(of(beside, 'rate'), of(without, 'rate')),
      bound: { atLeast: 0.9 },
    },
    {
      what: `${database}: p99, ms over 1.2 of that without`,
      value: spreadOf(over),
      bound: { atMost: 100 },
    },
  ];
}
