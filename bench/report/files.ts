// Files of a benchmark run in docs/: its figures, and the page and chart made from them.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { barChart } from './chart.ts';
import { benchPage, type BenchRun, type ScenarioRun } from './page.ts';

const docs = join(import.meta.dirname, '..', '..', 'docs');
const runPath = join(docs, 'benchmarks', 'run.json');
const chartPath = join(docs, 'benchmarks', 'one-to-one.svg');
export const pagePath = join(docs, 'benchmarks.md');

export function keepRun(run: BenchRun): void {
  mkdirSync(join(docs, 'benchmarks'), { recursive: true });
  writeFileSync(runPath, `${JSON.stringify(run, undefined, 1)}\n`);
}

/** In place of what the last run has of them. `order`: of the page. */
export function keepScenarios(later: readonly ScenarioRun[], order: readonly string[]): void {
  const run = readRun();
  const all = [...run.scenarios, ...later];
  const newest = new Map(all.map((one) => [one.name, one]));
  const found = order.flatMap((name) => newest.get(name) ?? []);
  keepRun({ ...run, scenarios: found });
}

function readRun(): BenchRun {
  return JSON.parse(readFileSync(runPath, 'utf8')) as BenchRun;
}

/** The page and chart by path, as generated from the stored figures. */
export function pagesOfFiles(): Map<string, string> {
  const run = readRun();
  return new Map([
    [pagePath, benchPage(run)],
    [chartPath, chartOf(run)],
  ]);
}

export function writePages(): void {
  for (const [path, text] of pagesOfFiles()) writeFileSync(path, text);
}

function chartOf(run: BenchRun): string {
  const rows = run.scenarios.find(({ name }) => name === 'one-to-one')?.outcome.rows ?? [];
  const bars = rows.map(({ name, cells }) => {
    const { median = 0, low = 0, high = 0 } = cells[0]?.value ?? {};
    return { name, value: median, low, high, isOurs: name.startsWith('Ringback') };
  });
  return barChart('Events per second, one to one', bars);
}
