// `npm run soak`: the kill -9 test for longer. SEED=… runs a former one again.
import { killRounds } from '../test/e2e/kill.ts';
import { realWorld } from '../src/core/world.ts';

const rounds = 50;
const seed = Number(process.env['SEED'] ?? realWorld().nowMs() % 1_000_000);
process.stdout.write(`${rounds} rounds of kill -9, seed ${seed}\n`);
process.stdout.write(`${JSON.stringify(await killRounds(rounds, seed), undefined, 2)}\n`);
