// 640 receivers of one app accept requests and never answer: the effect on another app.
import { startRingback, type Ringback } from '../contenders/ringback.ts';
import { secondApp } from '../contenders/second-app.ts';
import {
  checksOf,
  interferenceOf,
  rowsOf,
  type Interference,
} from '../harness/app-interference.ts';
import { plainPayload } from '../harness/numbered-payloads.ts';
import type { Check, Scenario } from '../harness/outcome.ts';
import { inRounds } from '../harness/rounds.ts';
import { measure, openStage } from '../harness/measure.ts';
import { startDatabases } from '../harness/databases.ts';
import { crowd } from './many-subscriptions.ts';

const receivers = 10;
const holes = 640;
/** For each silent receiver: more than can time out during a measurement. */
const eventsToHoles = 3;
const hangingMin = 64;
const sending = { requests: 20_000, connections: 64 };

export const hangingApp: Scenario = {
  name: 'hanging-app',
  title: 'One app while 640 receivers of another hang',
  about:
    `Events of one app to ${receivers} receivers, while another app has ${holes} receivers that accept the ` +
    'request and never respond, with further deliveries pending for all of them; compared with a service ' +
    'without the other app.',
  run: async ({ rounds, latencyMs }) => {
    await using made = new AsyncDisposableStack();
    const stage = made.use(await openStage(receivers));
    const silent = made.use(await openStage(1));
    await silent.behave(['says_nothing']);
    const postgres = made.use(await startDatabases(latencyMs));
    const databases = new Map<string, (no: string) => Promise<{ databaseUrl?: string }>>([
      ['SQLite', async () => ({})],
      ['PostgreSQL', async (no) => ({ databaseUrl: await postgres.createDatabase(no) })],
    ]);
    const parts = new Map<string, () => Promise<Interference>>();
    for (const [database, place] of databases) {
      for (const name of namesOf(database)) {
        const isBeside = name !== namesOf(database)[0];
        const at = await place(isBeside ? 'beside' : 'alone');
        const ringback = made.use(await startRingback({ name, ...at }));
        const second = await secondApp(ringback, { name, ports: stage.ports });
        if (isBeside)
          await crowd(ringback, { count: holes, port: silent.ports[0] ?? 0, event: 'hole' });
        parts.set(name, async () => {
          if (isBeside) await hang(ringback);
          const { loaded, arrivals } = await measure(stage, second, sending);
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
  return [`${database}, alone`, `${database}, beside receivers that hang`];
}

async function hang({ call }: Ringback): Promise<void> {
  for (let event = 0; event < eventsToHoles; event += 1) {
    const { eventId } = await call('POST', '/events', { event: 'hole', payload: plainPayload() });
    await fannedOut(call, String(eventId));
  }
  for (;;) {
    const { items } = await call('GET', '/deliveries?state=running&limit=500');
    if (Array.isArray(items) && items.length >= hangingMin) return;
  }
}

/** Otherwise the other app's own publishes would be measured, too. */
async function fannedOut(call: Ringback['call'], id: string): Promise<void> {
  for (;;) {
    const { deliveries } = await call('GET', `/events/${id}`);
    if (deliveries !== null) return;
  }
}
