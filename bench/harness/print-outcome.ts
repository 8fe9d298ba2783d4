// Prints an outcome as text for a terminal.
import type { Spread } from './round-statistics.ts';
import { isHeld, type Check, type Outcome } from './outcome.ts';

export function printOutcome({ rows, checks, skipped = [] }: Outcome): string {
  const columns = [...new Set(rows.flatMap(({ cells }) => cells.map(({ column }) => column)))];
  const lines = rows.map(({ name, cells }) => [
    name,
    ...columns.map((column) => {
      const cell = cells.find((each) => each.column === column);
      return cell === undefined ? '' : printSpread(cell.value);
    }),
  ]);
  const table = [['', ...columns], ...lines];
  const widths = ['', ...columns].map((_, i) =>
    Math.max(...table.map((row) => row[i]?.length ?? 0)),
  );
  return [
    ...table.map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('   ')
        .trimEnd(),
    ),
    ...checks.map((check) => `${isHeld(check) ? 'held    ' : 'NOT HELD'} ${printCheck(check)}`),
    ...skipped.map((reason) => `skipped  ${reason}`),
  ].join('\n');
}

export function printCheck({ what, value, bound, aim }: Check): string {
  const expected = 'atLeast' in bound ? `at least ${bound.atLeast}` : `at most ${bound.atMost}`;
  const aimed = aim === undefined ? '' : `, aim ${aim}`;
  return `${what}: ${printSpread(value)}, expected ${expected}${aimed}`;
}

/** The median and the range. */
export function printSpread({ median, low, high }: Spread): string {
  return low === high
    ? printNumber(median)
    : `${printNumber(median)} (${printNumber(low)} to ${printNumber(high)})`;
}

export function printNumber(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString('en-US', { maximumFractionDigits: digits });
}
