// `node bench/compare.ts ../before [../other]`: measures other checkouts beside this one, one event to one receiver, and
// prints the events per second and the CPU time of an event in each as ratios to this checkout. Every measurement has a
// new process, and rounds alternate between the checkouts.
//   --on sqlite           the database: sqlite or postgres
//   --rounds 20           of each
//   --requests 20000      events of a measurement, after half as many to warm up
//   --latency 1           ms that are added to each round trip to PostgreSQL
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { onDatabases } from './contenders/on-databases.ts';
import { startDatabases } from './harness/databases.ts';
import { measure, openStage, type Measured } from './harness/measure.ts';
import { printOutcome } from './harness/print-outcome.ts';
import { inRounds } from './harness/rounds.ts';
import { ratiosOf, spreadOf } from './harness/round-statistics.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    on: { type: 'string', default: 'sqlite' },
    rounds: { type: 'string', default: '20' },
    requests: { type: 'string', default: '20000' },
    latency: { type: 'string', default: '1' },
  },
});
const { on } = values;
if (positionals.length === 0) throw new Error('Usage: node bench/compare.ts CHECKOUT…');
if (on !== 'sqlite' && on !== 'postgres') {
  throw new Error(`Cannot measure on ${on}: expected sqlite or postgres`);
}

const sending = { requests: Number(values.requests), connections: 64 };
const warmUp = { ...sending, requests: sending.requests / 2 };
const here = 'this checkout';
const roots = new Map<string, string | undefined>([
  [here, undefined],
  ...positionals.map((root): [string, string] => [basename(root), root]),
]);
await using made = new AsyncDisposableStack();
const stage = made.use(await openStage(10));
const databases = made.use(await startDatabases(Number(values.latency)));
const startOn = onDatabases(stage.ports, databases)[on];
const results = await inRounds(
  Number(values.rounds),
  new Map([...roots].map(([name, root]) => [name, async () => measureNew(name, root)])),
  'by themselves',
);
const valuesOf = (name: string, what: 'eventsPerSecond' | 'cpuUs'): number[] =>
  (results.get(name) ?? []).map((measured) => measured[what]);
console.log(
  printOutcome({
    rows: [...roots.keys()].map((name) => ({
      name,
      cells: (['eventsPerSecond', 'cpuUs'] as const).flatMap((what) => {
        const column = what === 'cpuUs' ? 'CPU µs an event' : 'events/s';
        const [own, base] = [valuesOf(name, what), valuesOf(here, what)];
        return [
          { column, value: spreadOf(own) },
          { column: `${column}, of this checkout`, value: ratiosOf(own, base) },
        ];
      }),
    })),
    checks: [],
  }),
);

async function measureNew(name: string, root: string | undefined): Promise<Measured> {
  await using contender = await startOn(name, root)();
  await measure(stage, contender, warmUp);
  return await measure(stage, contender, sending); // Awaited, because the contender is disposed on return.
}
