// `npm run soak`: what the tests do, for longer: kill -9 of one process, a cluster under all faults, and the
// two databases side by side. SEED=… runs former rounds again; a sequence that the databases disagree on
// prints its own seed.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { realWorld } from '../src/core/world.ts';
import { chaos, summaryOf } from '../test/e2e/cluster-chaos.ts';
import { killRounds } from '../test/e2e/kill.ts';

const rounds = 50;
const events = 50_000;
const sequences = 10_000;

const seed = Number(process.env['SEED'] ?? realWorld().nowMs() % 1_000_000);
process.stdout.write(`${rounds} rounds of kill -9, seed ${seed}\n`);
process.stdout.write(`${JSON.stringify(await killRounds(rounds, seed), undefined, 2)}\n`);

process.stdout.write(`${events} events through a cluster under faults, seed ${seed}\n`);
process.stdout.write(`${summaryOf(await chaos(seed, events))}\n`);

process.stdout.write(`${sequences} sequences on SQLite and PostgreSQL\n`);
const differential = fileURLToPath(new URL('../test/store/differential.test.ts', import.meta.url));
const { status } = spawnSync(process.execPath, ['--test', differential], {
  stdio: 'inherit',
  env: { ...process.env, RINGBACK_SEQUENCES: String(sequences) },
});
process.exitCode = status ?? 1;
