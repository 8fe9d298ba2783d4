// `npm run soak`: the tests of faults for longer: kill -9 of one process, and a cluster under all faults.
// SEED=… runs a former one again.
import { realWorld } from '../src/core/world.ts';
import { chaos, summaryOf } from '../test/e2e/cluster-chaos.ts';
import { killRounds } from '../test/e2e/kill.ts';

const rounds = 50;
const events = 50_000;
const seed = Number(process.env['SEED'] ?? realWorld().nowMs() % 1_000_000);
process.stdout.write(`${rounds} rounds of kill -9, seed ${seed}\n`);
process.stdout.write(`${JSON.stringify(await killRounds(rounds, seed), undefined, 2)}\n`);
process.stdout.write(`${events} events through a cluster under faults, seed ${seed}\n`);
process.stdout.write(`${summaryOf(await chaos(seed, events))}\n`);
