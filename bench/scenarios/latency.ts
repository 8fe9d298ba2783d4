// Latency at half load: from the request to its answer, and from the answer to the receiver,
// compared to a bare request to the same receiver.
import { strict as assert } from 'node:assert';
import { startDatabases } from '../harness/databases.ts';
import { bodiesFor, startRingback, subscribed, type Ringback } from '../contenders/ringback.ts';
import { quantile, spreadOf } from '../harness/round-statistics.ts';
import type { Check, Row, Scenario } from '../harness/outcome.ts';
import { inRounds } from '../harness/rounds.ts';
import { measure, openStage, type Stage } from '../harness/measure.ts';
import { answerMs } from '../harness/latency-during-load.ts';

const receivers = 10;
const full = { requests: 10_000, connections: 64 };
const half = { requests: 10_000, connections: 256 };

interface Times {
  /** From the request to its answer. */
  answered: Quantiles;
  /** From the answer to the receiver, or there and back for the bare request. */
  arrived: Quantiles;
}

interface Quantiles {
  p50: number;
  p99: number;
}

export const latency: Scenario = {
  name: 'latency',
  title: 'Latency at half load',
  about:
    'Events at half the rate that the same service handled just before, one to one, sent at fixed times ' +
    'regardless of responses. Milliseconds from the request to its response, and from the response to the ' +
    'arrival at the receiver, compared with bare requests to the same receivers at the same rate.',
  run: async ({ rounds, latencyMs }) => {
    await using made = new AsyncDisposableStack();
    const stage = made.use(await openStage(receivers));
    const { ports } = stage;
    const postgres = made.use(await startDatabases(latencyMs));
    const databaseUrl = await postgres.createDatabase('ringback');
    const contenders = [
      await subscribed(made.use(await startRingback({ name: 'Ringback on SQLite' })), ports),
      await subscribed(
        made.use(await startRingback({ name: 'Ringback on PostgreSQL', databaseUrl })),
        ports,
      ),
    ];
    const parts = new Map<string, () => Promise<Times>>();
    for (const contender of contenders) {
      const most = await rateOf(stage, contender);
      const perSecond = Math.round(most / 2);
      parts.set(contender.name, async () => timesOf(stage, contender, perSecond));
      parts.set(bareOf(contender), async () => bareTimes(stage, perSecond));
    }
    const results = await inRounds(rounds, parts);
    return {
      rows: [...results].map(([name, all]): Row => ({ name, cells: cellsOf(all) })),
      checks: contenders.flatMap((each) =>
        checksOf(each.name, results.get(each.name) ?? [], results.get(bareOf(each)) ?? []),
      ),
    };
  },
};

function bareOf({ name }: Ringback): string {
  return `bare request at the rate of ${name}`;
}

/** Measured twice; the first one is the warm-up. */
async function rateOf(stage: Stage, contender: Ringback): Promise<number> {
  await measure(stage, contender, full);
  return (await measure(stage, contender, full)).eventsPerSecond;
}

async function timesOf(stage: Stage, contender: Ringback, perSecond: number): Promise<Times> {
  const { loaded, arrivals } = await measure(stage, contender, { ...half, perSecond });
  const { answeredMs } = loaded;
  return {
    answered: quantilesOf(answerMs(loaded)),
    arrived: quantilesOf(arrivals.atMs.map((at, n) => at - (answeredMs[n] ?? at))),
  };
}

async function bareTimes(stage: Stage, perSecond: number): Promise<Times> {
  const [port] = stage.ports;
  assert(port !== undefined);
  const headers = { 'content-type': 'application/json' };
  const to = { port, path: '/', headers, bodies: bodiesFor([port]) };
  const took = quantilesOf(answerMs(await stage.load({ ...to, ...half, perSecond })));
  return { answered: took, arrived: took };
}

function quantilesOf(values: Float64Array): Quantiles {
  return { p50: quantile(values, 0.5), p99: quantile(values, 0.99) };
}

function cellsOf(all: readonly Times[]): Row['cells'] {
  return [
    { column: 'answered p50 ms', value: spreadOf(all.map(({ answered }) => answered.p50)) },
    { column: 'p99', value: spreadOf(all.map(({ answered }) => answered.p99)) },
    { column: 'arrived p50 ms', value: spreadOf(all.map(({ arrived }) => arrived.p50)) },
    { column: 'arrived p99', value: spreadOf(all.map(({ arrived }) => arrived.p99)) },
  ];
}

function checksOf(name: string, ours: readonly Times[], bare: readonly Times[]): Check[] {
  const more = ours.map(({ arrived }, i) => arrived.p99 - (bare[i]?.arrived.p99 ?? 0));
  return [
    {
      what: `${name}: from the answer to the receiver, p50 in ms`,
      value: spreadOf(ours.map(({ arrived }) => arrived.p50)),
      bound: { atMost: 5 },
    },
    {
      what: `${name}: from the answer to the receiver, p99 in ms more than a bare request`,
      value: spreadOf(more),
      bound: { atMost: 50 },
    },
  ];
}
