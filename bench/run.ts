// `npm run bench`: every scenario in turn, each with its baseline in the same run; prints tables and bounds.
// Ends with 1 when a bound was not held.
//   --only one-to-one,idle   these alone
//   --rounds 3               of each, after one to warm up
//   --large                  ten times the rows where costs could grow with them
import { parseArgs } from 'node:util';
import { isHeld, type Outcome, type Scenario } from './harness/outcome.ts';
import { printOutcome } from './harness/print.ts';
import { scenarios } from './scenarios/all.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    large: { type: 'boolean', default: false },
  },
});

for (const scenario of chosen(values.only?.split(','))) {
  console.log(`\n${scenario.title}\n${scenario.about}`);
  const size = { rounds: Number(values.rounds), isLarge: values.large };
  const outcome: Outcome = await scenario.run(size);
  console.log(printOutcome(outcome));
  if (!outcome.checks.every(isHeld)) process.exitCode = 1;
}

function chosen(only: readonly string[] | undefined): readonly Scenario[] {
  const unknown = only?.filter((name) => !scenarios.some((each) => each.name === name)) ?? [];
  if (unknown.length > 0) {
    const names = scenarios.map(({ name }) => name).join(', ');
    throw new Error(`There is no scenario ${unknown.join(', ')}: expected some of ${names}`);
  }
  return scenarios.filter(({ name }) => only === undefined || only.includes(name));
}
