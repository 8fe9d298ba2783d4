// docs/benchmarks.md, made from the figures of a run. Nothing on the page is written by hand but sentences.
import { isHeld, type Check, type Outcome } from '../harness/outcome.ts';
import { printNumber, printSpread } from '../harness/print.ts';

export interface BenchRun {
  commit: string;
  isChanged: boolean;
  date: string;
  machine: string;
  rounds: number;
  /** Added to each round trip to PostgreSQL; absent in runs of before. */
  latencyMs?: number;
  tookMs: number;
  scenarios: readonly ScenarioRun[];
}

export interface ScenarioRun {
  name: string;
  title: string;
  about: string;
  outcome: Outcome;
}

export function benchPage(run: BenchRun): string {
  const checks = run.scenarios.flatMap(({ outcome }) => outcome.checks);
  const held = checks.filter(isHeld).length;
  return `# Benchmarks

\`npm run bench\` measures Ringback as a user would, beside what a user would pick instead, and writes this page. Machines
differ, and so do their moods: only ratios within one run say something. Load, receivers and databases take their
part of the same ${run.machine.split(',')[0] ?? ''}.

| | |
|---|---|
| bounds held | **${held} of ${checks.length}** |
| commit | \`${run.commit}\`${run.isChanged ? ', with changes' : ''} |
| run | ${run.date}, at least ${run.rounds} rounds of each after a warm-up, ${Math.round(run.tookMs / 60_000)} min, ${run.machine} |
${distanceOf(run)}
A figure is the median of its rounds, in brackets the lowest and the highest. Ratios are taken round by round.

![Events per second, one to one](benchmarks/one-to-one.svg)

${run.scenarios.map(section).join('\n')}
Made by \`npm run bench\` from [the figures of the run](benchmarks/run.json). How to find out where the time goes:
[performance](performance.md).
`;
}

function distanceOf({ latencyMs = 0 }: BenchRun): string {
  if (latencyMs === 0) return '';
  return `| PostgreSQL | ${latencyMs} ms added to each round trip, for all that use it |\n`;
}

function section({ title, about, outcome }: ScenarioRun): string {
  const { skipped = [] } = outcome;
  const parts = [
    tableOf(outcome),
    boundsOf(outcome.checks),
    skipped.map((one) => `- Not measured: ${one}\n`).join(''),
  ];
  return `## ${title}\n\n${about}\n\n${parts.filter((part) => part !== '').join('\n')}`;
}

function tableOf({ rows }: Outcome): string {
  if (rows.length === 0) return '';
  const columns = [...new Set(rows.flatMap(({ cells }) => cells.map(({ column }) => column)))];
  const lines = rows.map(({ name, cells }) => {
    const found = columns.map((column) => {
      const cell = cells.find((each) => each.column === column);
      return cell === undefined ? '' : printSpread(cell.value);
    });
    return `| ${[name, ...found].join(' | ')} |`;
  });
  return `| | ${columns.join(' | ')} |\n|---|${columns.map(() => '---:|').join('')}\n${lines.join('\n')}\n`;
}

function boundsOf(checks: readonly Check[]): string {
  if (checks.length === 0) return '';
  const lines = checks.map((check) => {
    const { what, value, bound, aim } = check;
    const expected = 'atLeast' in bound ? `at least ${bound.atLeast}` : `at most ${bound.atMost}`;
    const aimed = aim === undefined ? '' : `, aim ${printNumber(aim)}`;
    return `| ${what} | ${printSpread(value)} | ${expected}${aimed} | ${isHeld(check) ? 'held' : '**not held**'} |`;
  });
  return `| bound | measured | expected | |\n|---|---:|---|---|\n${lines.join('\n')}\n`;
}
