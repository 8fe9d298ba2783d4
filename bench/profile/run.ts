// `npm run bench:profile`: where the microseconds of an event go. Runs a service under Node's
// profiler, one event to one receiver; then prints, for each of its threads, our functions that took
// most, including what they called in libraries and in Node.
//   --postgres    on PostgreSQL
//   --rounds 5    of 20,000 events, after one to warm up, which is in the profile too
//   --top 40      lines for each thread
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startPostgres } from '../../test/postgres/server.ts';
import { startRingback, subscribed } from '../contenders/ringback.ts';
import { printNumber } from '../harness/print-outcome.ts';
import { measure, openStage } from '../harness/measure.ts';
import { ownersIn, type Profile } from './owners.ts';

const receivers = 10;
const sending = { requests: 20_000, connections: 64 };
/** The sampling interval, in microseconds. */
const intervalUs = 500;

const { values } = parseArgs({
  options: {
    postgres: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '5' },
    top: { type: 'string', default: '40' },
  },
});

await using made = new AsyncDisposableStack();
const folder = await mkdtemp(join(tmpdir(), 'ringback-profile-'));
made.defer(async () => rm(folder, { recursive: true, force: true }));
const stage = made.use(await openStage(receivers));
const postgres = values.postgres ? made.use(await startPostgres()) : undefined;
const databaseUrl = await postgres?.createDatabase('ringback');
const nodeArgs = ['--cpu-prof', `--cpu-prof-dir=${folder}`, `--cpu-prof-interval=${intervalUs}`];
const ringback = await subscribed(
  await startRingback({
    name: 'Ringback',
    nodeArgs,
    isSource: true,
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
  }),
  stage.ports,
);
made.use(ringback);
const rounds = 1 + Number(values.rounds);
for (let round = 0; round < rounds; round += 1) {
  const { eventsPerSecond, cpuUs } = await measure(stage, ringback, sending);
  console.log(`${printNumber(eventsPerSecond)} events/s, ${printNumber(cpuUs)} µs of CPU an event`);
}
await ringback.kill('SIGTERM'); // Each thread writes its profile when it ends.

const events = rounds * sending.requests;
for (const file of (await readdir(folder)).sort()) {
  const profile = JSON.parse(await readFile(join(folder, file), 'utf8')) as Profile;
  const owners = ownersIn(profile);
  if (owners.every(({ us, what }) => what === '(idle)' || us / events < 1)) continue;
  console.log(`\nA thread, µs an event`);
  for (const { what, us, within } of owners.slice(0, Number(values.top))) {
    const most = within.slice(0, 3).map(([name, each]) => `${name} ${printNumber(each / events)}`);
    console.log(`${printNumber(us / events).padStart(8)}  ${what}  (${most.join(', ')})`);
  }
}
