// Many clients of one app subscribe at once on a database with some milliseconds of latency: the rate of publishes
// meanwhile, and the wait of the last client.
import { join } from 'node:path';
import { startRingback, subscribed, type Subscribed } from '../contenders/ringback.ts';
import { startChild, type ChildProgram } from '../harness/child-process.ts';
import type { Burst, Bursted } from '../harness/burst-clients.ts';
import { startDatabases, type Databases } from '../harness/databases.ts';
import { quantile, ratiosOf, spreadOf } from '../harness/round-statistics.ts';
import type { Load } from '../harness/load.ts';
import type { Check, Row, Scenario } from '../harness/outcome.ts';
import { inRounds } from '../harness/rounds.ts';
import { openStage, type Stage } from '../harness/measure.ts';

const receivers = 10;
const clients = 500;
const distancesMs = [1, 3, 5];
/** Publishes run in pieces, so that their duration is known when the storm ends. */
const piece = { requests: 250, connections: 32, perSecond: undefined };
const piecesAlone = 8;
const patienceMs = 30_000;
const burstProgram = join(import.meta.dirname, '..', 'harness', 'burst-clients.ts');

interface Stormed {
  /** Publishes per second without the storm and during it, and their 99th percentile during it. */
  alone: number;
  during: number;
  p99Ms: number;
  /** The slowest client, from its first try to its subscription. */
  lastMs: number;
  /** The number of 503 responses. */
  refused: number;
}

export const subscribeStorm: Scenario = {
  name: 'subscribe-storm',
  title: 'Publishing during a burst of subscribes',
  about:
    `${clients} clients of one app subscribe once each, all at the same moment, and try again after a second when they ` +
    `are refused; the same app publishes over ${piece.connections} connections meanwhile. The way to PostgreSQL and back ` +
    `takes ${distancesMs.join(', ')} ms more than on one machine.`,
  run: async ({ rounds, against }) => {
    await using made = new AsyncDisposableStack();
    const stage = made.use(await openStage(receivers));
    const databases = made.use(await startDatabases(0));
    const burst = made.use(startChild<Burst, Bursted>(burstProgram));
    const parts = new Map<string, () => Promise<Stormed>>();
    for (const distanceMs of distancesMs) {
      const options = { stage, databases, burst, distanceMs };
      if (against !== undefined) {
        parts.set(`before, ${nameOf(distanceMs)}`, async () => stormOnce(options, against));
      }
      parts.set(nameOf(distanceMs), async () => stormOnce(options));
    }
    const results = await inRounds(rounds, parts, 'by themselves');
    return {
      rows: [...results].map(([name, all]): Row => ({ name, cells: cellsOf(all) })),
      checks: distancesMs.flatMap((ms) => checksOf(nameOf(ms), results.get(nameOf(ms)) ?? [])),
    };
  },
};

function nameOf(distanceMs: number): string {
  return `${distanceMs} ms away`;
}

let databasesMade = 0;

interface StormOptions {
  stage: Stage;
  databases: Databases;
  burst: ChildProgram<Burst, Bursted>;
  distanceMs: number;
}

/** Uses a new database and a new process, so that all storms start alike. */
async function stormOnce(options: StormOptions, root?: string): Promise<Stormed> {
  const { stage, databases, distanceMs } = options;
  databasesMade += 1;
  const databaseUrl = await databases.createDatabase(`storm_${databasesMade}`, distanceMs);
  const name = nameOf(distanceMs);
  await using ringback = await subscribed(
    await startRingback({ name, databaseUrl, root }),
    stage.ports,
  );
  await publishing(stage, ringback, () => false); // Warm-up.
  let pieces = 0;
  const alone = await publishing(stage, ringback, () => (pieces += 1) < piecesAlone);
  const storm = startStorm(options, ringback);
  const during = await publishing(stage, ringback, () => !storm.isOver());
  const { lastMs, refused } = await storm.ended;
  return { alone: alone.perSecond, during: during.perSecond, p99Ms: during.p99Ms, lastMs, refused };
}

/** Publishes at least one piece. The rate counts accepted events; the latency counts every response. */
async function publishing(
  stage: Stage,
  { publish }: Subscribed,
  isToGoOn: () => boolean,
): Promise<{ perSecond: number; p99Ms: number }> {
  const load: Load = { ...publish, ...piece };
  const waits: number[] = [];
  let [accepted, tookMs] = [0, 0];
  do {
    const { statuses, sentMs, answeredMs } = await stage.load(load);
    accepted += statuses['202'] ?? 0;
    for (const [n, ms] of answeredMs.entries()) waits.push(ms - (sentMs[n] ?? ms));
    tookMs += Math.max(...answeredMs) - (sentMs[0] ?? 0);
  } while (isToGoOn());
  return { perSecond: (accepted * 1_000) / tookMs, p99Ms: quantile(waits, 0.99) };
}

interface Storm {
  isOver(): boolean;
  ended: Promise<Pick<Stormed, 'lastMs' | 'refused'>>;
}

function startStorm({ burst, stage }: StormOptions, { publish }: Subscribed): Storm {
  let isOver = false;
  const paths = Array.from({ length: clients }, (_, i) => {
    const callbackUrl = `http://127.0.0.1:${stage.ports[i % stage.ports.length] ?? 0}/`;
    const query = new URLSearchParams({ callbackUrl, event: `storm.${i}` });
    return `/subscribe?${query.toString()}`;
  });
  const headers = { 'x-api-key': publish.headers['x-api-key'] ?? '' };
  const asked = burst.ask({ port: publish.port, headers, paths, patienceMs });
  const ended = asked.then(({ tookMs, refused }) => {
    isOver = true;
    return { lastMs: Math.max(...tookMs), refused };
  });
  return { isOver: () => isOver, ended };
}

function cellsOf(all: readonly Stormed[]): Row['cells'] {
  const cell = (column: string, what: keyof Stormed): Row['cells'][number] => ({
    column,
    value: spreadOf(all.map((one) => one[what])),
  });
  return [
    cell('events/s alone', 'alone'),
    cell('events/s in the burst', 'during'),
    cell('answered p99 ms', 'p99Ms'),
    cell('last client ms', 'lastMs'),
    cell('refused at first', 'refused'),
  ];
}

function checksOf(name: string, all: readonly Stormed[]): Check[] {
  const of = (what: keyof Stormed): number[] => all.map((one) => one[what]);
  return [
    {
      what: `${name}: rate in the burst, of that alone`,
      value: ratiosOf(of('during'), of('alone')),
      bound: { atLeast: 0.5 },
    },
    {
      what: `${name}: publish p99, ms`,
      value: spreadOf(of('p99Ms')),
      bound: { atMost: 1_000 },
    },
    {
      what: `${name}: the last client, ms`,
      value: spreadOf(of('lastMs')),
      bound: { atMost: 10_000 },
    },
  ];
}
