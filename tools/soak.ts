// `npm run soak`: longer versions of the tests: kill -9 of one process; a cluster whose database is
// down for twenty seconds; a cluster under all faults at once; ten times the capacity; all
// randomized tests with another seed; both databases compared. SEED=… repeats former rounds.
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { realWorld } from '../src/core/base/world.ts';
import { chaos, summaryOf } from '../test/e2e/cluster-chaos.ts';
import { outage } from '../test/e2e/cluster-outage.ts';
import { killRounds } from '../test/e2e/kill.ts';
import { overload } from '../test/e2e/overload.ts';

const rounds = 50;
const events = 50_000;
const awayMs = 20_000;
const floodMs = 60_000;
const sequences = 10_000;
const seed = Number(process.env['SEED'] ?? realWorld().nowMs() % 1_000_000);

say(`${rounds} rounds of kill -9, seed ${seed}`);
say(JSON.stringify(await killRounds(rounds, seed), undefined, 2));
for (const how of ['killed', 'frozen'] as const) {
  say(`a database that is ${how} for ${awayMs} ms`);
  say(JSON.stringify(await outage(how, awayMs), undefined, 2));
}
say(`${events} events through a cluster under faults, seed ${seed}`);
say(summaryOf(await chaos(seed, events)));
say(`ten times the capacity for ${floodMs} ms`);
say(JSON.stringify(await overload({ forMs: floodMs }), undefined, 2));
say(
  `all that is drawn at random, and ${sequences} sequences on SQLite and PostgreSQL, seed ${seed}`,
);
process.exitCode = runRandomTests();

function runRandomTests(): number {
  const cwd = join(import.meta.dirname, '..');
  const files = globSync('{src,test}/**/*.test.ts', { cwd }).filter((path) =>
    /fast-check\.ts'|\/contracts\.ts'/.test(readFileSync(join(cwd, path), 'utf8')),
  );
  const setup = '--test-global-setup=test/postgres/global-setup.ts';
  const { status } = spawnSync(process.execPath, ['--test', setup, ...files], {
    cwd,
    stdio: 'inherit',
    env: { ...process.env, SEED: String(seed), RINGBACK_SEQUENCES: String(sequences) },
  });
  return status ?? 1;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
