// `npm run bench`: runs every scenario in turn, each with its baseline in the same run; prints tables
// and bounds, and writes docs/benchmarks.md. Exits with 1 if a bound was not met.
//   --only one-to-one,idle   only these, without writing the page
//   --keep                   with --only: puts their figures into the page, in place of earlier ones
//   --page                   only writes the page again, from the figures of the last run
//   --against ../before      another checkout takes part in subscribe-storm, too
//   --rounds 3               of each, after a warm-up
//   --latency 1              ms that are added to each round trip to PostgreSQL, for all contenders
//   --large                  ten times the rows where costs could grow with them
import { parseArgs } from 'node:util';
import { realWorld } from '../src/core/base/world.ts';
import { checkout, machine } from '../test/proof/report/place.ts';
import { isHeld, type Scenario } from './harness/outcome.ts';
import { printOutcome } from './harness/print-outcome.ts';
import { keepRun, keepScenarios, writePages } from './report/files.ts';
import type { ScenarioRun } from './report/page.ts';
import { scenarios } from './scenarios/all.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    keep: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '5' },
    latency: { type: 'string', default: '1' },
    large: { type: 'boolean', default: false },
    page: { type: 'boolean', default: false },
    against: { type: 'string' },
  },
});

const world = realWorld();

if (values.page) writePages();
else await bench();

async function bench(): Promise<void> {
  const beganMs = world.monotonicMs();
  const rounds = Number(values.rounds);
  const latencyMs = Number(values.latency);
  const runs: ScenarioRun[] = [];
  for (const scenario of chosen(values.only?.split(','))) {
    const { name, title, about } = scenario;
    console.log(`\n${title}\n${about}`);
    const { large: isLarge, against } = values;
    const outcome = await scenario.run({ rounds, isLarge, latencyMs, against });
    console.log(printOutcome(outcome));
    runs.push({ name, title, about, outcome });
    if (!outcome.checks.every(isHeld)) process.exitCode = 1;
  }
  if (values.only !== undefined && !values.keep) return;
  const date = new Date(world.nowMs()).toISOString().slice(0, 10);
  const measured = { ...checkout(), date, machine: machine(), rounds, latencyMs };
  const tookMs = Math.round(world.monotonicMs() - beganMs);
  if (values.only === undefined) keepRun({ ...measured, tookMs, scenarios: runs });
  else {
    const order = scenarios.map(({ name }) => name);
    keepScenarios(
      runs.map((one) => ({ ...one, measured })),
      order,
    );
  }
  writePages();
  console.log('Wrote docs/benchmarks.md.');
}

function chosen(only: readonly string[] | undefined): readonly Scenario[] {
  const unknown = only?.filter((name) => !scenarios.some((each) => each.name === name)) ?? [];
  if (unknown.length > 0) {
    const names = scenarios.map(({ name }) => name).join(', ');
    throw new Error(`There is no scenario ${unknown.join(', ')}: expected some of ${names}`);
  }
  return scenarios.filter(({ name }) => only === undefined || only.includes(name));
}
