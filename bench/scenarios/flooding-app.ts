// One app publishes far more than the service can take: its effect on an app that publishes little.
import { strict as assert } from 'node:assert';
import { inBatches, startRingback, subscribed } from '../contenders/ringback.ts';
import { secondApp } from '../contenders/second-app.ts';
import {
  checksOf,
  interferenceOf,
  rowsOf,
  type Interference,
} from '../harness/app-interference.ts';
import type { Check, Scenario } from '../harness/outcome.ts';
import { inRounds } from '../harness/rounds.ts';
import { measure, openStage, type Stage } from '../harness/measure.ts';
import type { Contender } from '../contenders/contender.ts';
import { startDatabases } from '../harness/databases.ts';

const receivers = 10;
const sending = { requests: 2_000, connections: 32, perSecond: 200, warmUpPath: '/healthz' };
/** Each connection sends again as soon as it is answered; most requests are refused. */
const flood = { requests: 5_000, connections: 512, perSecond: undefined };

export const floodingApp: Scenario = {
  name: 'flooding-app',
  title: 'One app while another floods the service',
  about:
    `${sending.perSecond} events per second of one app to ${receivers} receivers, while another app ` +
    `publishes batches of 100 over ${flood.connections} connections without a pause, more than ten times ` +
    'the capacity of the service; compared with a service without the other app. The connections of the first app ' +
    'exist when the measurement begins; what it takes to open them beside the flood is a column of its own. A refused ' +
    'publish of the first app fails the run.',
  run: async ({ rounds, latencyMs }) => {
    await using made = new AsyncDisposableStack();
    const stage = made.use(await openStage(receivers));
    const flooded = made.use(await openStage(receivers));
    const postgres = made.use(await startDatabases(latencyMs));
    const databases = new Map<string, (no: string) => Promise<{ databaseUrl?: string }>>([
      ['SQLite', async () => ({})],
      ['PostgreSQL', async (no) => ({ databaseUrl: await postgres.createDatabase(no) })],
    ]);
    const parts = new Map<string, () => Promise<Interference>>();
    for (const [database, place] of databases) {
      const [without, beside] = namesOf(database);
      for (const name of [without, beside]) {
        const ringback = made.use(await startRingback({ name, ...(await place(name.slice(-5))) }));
        const first = inBatches(await subscribed(ringback, flooded.ports));
        const second = await secondApp(ringback, { name, ports: stage.ports });
        parts.set(name, async () => {
          await using flooding = name === beside ? startFlood(flooded, first) : undefined;
          const { loaded, arrivals } = await measure(stage, second, sending);
          await flooding?.[Symbol.asyncDispose]();
          return interferenceOf(loaded, arrivals);
        });
      }
    }
    const results = await inRounds(rounds, parts);
    return {
      rows: rowsOf(results),
      checks: [...databases.keys()].flatMap((database): Check[] => {
        const [without, beside] = namesOf(database);
        return checksOf(database, results.get(beside), results.get(without));
      }),
    };
  },
};

function namesOf(database: string): [without: string, beside: string] {
  return [`${database}, alone`, `${database}, beside a flood`];
}

/** Floods until disposed. Some requests must have been refused, or it was no flood. */
function startFlood(stage: Stage, { publish }: Contender): AsyncDisposable {
  const over = new AbortController();
  let refused = 0;
  const flooding = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const { statuses } = await stage.load({ ...publish, ...flood });
      refused += statuses['503'] ?? 0;
    }
  };
  const ended = flooding();
  return {
    [Symbol.asyncDispose]: async () => {
      over.abort();
      await ended;
      assert(refused > 0, 'Nothing of the flood was turned away');
    },
  };
}
