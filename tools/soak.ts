// `npm run soak`: the tests of faults for longer. kill -9 of one process, again and again; a cluster
// whose database is away for twenty seconds; and a cluster under all faults at once. SEED=… runs a
// former one again.
import { realWorld } from '../src/core/world.ts';
import { chaos, summaryOf } from '../test/e2e/cluster-chaos.ts';
import { outage } from '../test/e2e/cluster-outage.ts';
import { killRounds } from '../test/e2e/kill.ts';

const rounds = 50;
const events = 50_000;
const awayMs = 20_000;
const seed = Number(process.env['SEED'] ?? realWorld().nowMs() % 1_000_000);

say(`${rounds} rounds of kill -9, seed ${seed}`);
say(JSON.stringify(await killRounds(rounds, seed), undefined, 2));
for (const how of ['killed', 'frozen'] as const) {
  say(`a database that is ${how} for ${awayMs} ms`);
  say(JSON.stringify(await outage(how, awayMs), undefined, 2));
}
say(`${events} events through a cluster under faults, seed ${seed}`);
say(summaryOf(await chaos(seed, events)));

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
