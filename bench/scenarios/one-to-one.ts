// End to end, one event to one receiver: from the first publish to the last arrival.
import { onDatabases, type Start } from '../contenders/on-databases.ts';
import { startBullMq, startForwarder, startPgBoss } from '../contenders/others.ts';
import { ratiosOf, spreadOf } from '../harness/round-statistics.ts';
import type { Check, Row, Scenario } from '../harness/outcome.ts';
import { startRedis, type Redis } from '../harness/redis.ts';
import { inRounds } from '../harness/rounds.ts';
import { measure, openStage, type Measured, type Stage } from '../harness/measure.ts';
import { startDatabases, type Databases } from '../harness/databases.ts';

const receivers = 10;
const sending = { requests: 20_000, connections: 64 };
/** Before this many, an event of Ringback takes half as much again. */
const warmUp = { ...sending, requests: 30_000 };
const forwarder = 'bare forwarder';
const embedded = 'Ringback on SQLite';
const clustered = 'Ringback on PostgreSQL';
const pgBoss = 'pg-boss';
const bullMq = 'BullMQ';

export const oneToOne: Scenario = {
  name: 'one-to-one',
  title: 'End to end, one to one',
  about:
    `${sending.requests} events of 500 bytes, each published by its own request over ${sending.connections} ` +
    `connections and delivered to one of ${receivers} receivers. Events per second from the first request ` +
    `to the last arrival, with a new process in each round, after a warm-up of ${warmUp.requests} events.`,
  run: async ({ rounds, latencyMs }) => {
    await using made = new AsyncDisposableStack();
    const stage = made.use(await openStage(receivers));
    const postgres = made.use(await startDatabases(latencyMs));
    const redis = await startRedis();
    if (redis !== undefined) made.use(redis);
    const starts = startsOf(stage.ports, postgres, redis);
    const results = await inRounds(
      roundsOf(rounds),
      new Map([...starts].map(([name, start]) => [name, async () => measureNew(stage, start)])),
      'by themselves',
    );
    const rates = (name: string): number[] =>
      (results.get(name) ?? []).map(({ eventsPerSecond }) => eventsPerSecond);
    const check = (
      name: string,
      other: string,
      bound: { atLeast: number; aim?: number },
    ): Check => ({
      what: `${name}, of ${other}`,
      value: ratiosOf(rates(name), rates(other)),
      bound: { atLeast: bound.atLeast },
      ...(bound.aim === undefined ? {} : { aim: bound.aim }),
    });
    const row = (name: string): Row => ({
      name,
      cells: [
        { column: 'events/s', value: spreadOf(rates(name)) },
        { column: 'of the bare forwarder', value: ratiosOf(rates(name), rates(forwarder)) },
        {
          column: 'CPU µs an event',
          value: spreadOf((results.get(name) ?? []).map(({ cpuUs }) => cpuUs)),
        },
      ],
    });
    const shown = new Set([forwarder, embedded, clustered, ...results.keys()]);
    return {
      rows: [...shown].map(row),
      checks: [
        check(embedded, forwarder, { atLeast: 0.55, aim: 0.7 }),
        check(clustered, forwarder, { atLeast: 0.45, aim: 0.6 }),
        check(clustered, pgBoss, { atLeast: 3 }),
        ...(redis === undefined ? [] : [check(embedded, bullMq, { atLeast: 1.5, aim: 2.5 })]),
      ],
      skipped: redis === undefined ? ['BullMQ: no redis-server was found'] : [],
    };
  },
};

/**
 * More rounds, because the ratios are close to their bounds: medians of five rounds on PostgreSQL
 * were 0.57 and 0.45.
 */
function roundsOf(rounds: number): number {
  return 2 * rounds - 1;
}

/**
 * Contenders to compare are neighbours: a round takes a minute and a half, most of it for pg-boss.
 */
function startsOf(
  ports: readonly number[],
  postgres: Databases,
  redis: Redis | undefined,
): Map<string, Start> {
  const on = onDatabases(ports, postgres);
  const starts = new Map<string, Start>([
    [pgBoss, async () => on.onDatabase(async (url) => startPgBoss(ports, url))],
    [clustered, on.postgres(clustered)],
    [forwarder, async () => startForwarder(ports)],
    [embedded, on.sqlite(embedded)],
  ]);
  if (redis !== undefined) starts.set(bullMq, async () => startBullMq(ports, redis.url));
  return starts;
}

/**
 * A new process in each round: two processes of one program differ by up to a tenth for as long as
 * they live.
 */
async function measureNew(stage: Stage, start: Start): Promise<Measured> {
  await using contender = await start();
  await measure(stage, contender, warmUp);
  return await measure(stage, contender, sending); // Awaited, because the contender is disposed on return.
}
