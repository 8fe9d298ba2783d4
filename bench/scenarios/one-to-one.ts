// End to end, one event to one receiver: from the first publish to the last arrival.
import type { Contender } from '../contenders/contender.ts';
import { startBullMq, startForwarder, startPgBoss } from '../contenders/others.ts';
import { startRingback, subscribed } from '../contenders/ringback.ts';
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
  run: async ({ rounds, against, latencyMs }) => {
    await using made = new AsyncDisposableStack();
    const stage = made.use(await openStage(receivers));
    const postgres = made.use(await startDatabases(latencyMs));
    const redis = await startRedis();
    if (redis !== undefined) made.use(redis);
    const starts = startsOf({ ports: stage.ports, postgres, redis, against });
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

type Start = () => Promise<Contender>;

interface Surroundings {
  ports: readonly number[];
  postgres: Databases;
  redis: Redis | undefined;
  /** Another checkout to measure beside this one. */
  against: string | undefined;
}

/**
 * Contenders to compare are neighbours: a round takes a minute and a half, most of it for pg-boss.
 */
function startsOf({ ports, postgres, redis, against }: Surroundings): Map<string, Start> {
  let databases = 0;
  // A database is dropped with its contender, because the server would vacuum it during the turns
  // of the others.
  const onDatabase = async (start: (url: string) => Promise<Contender>): Promise<Contender> => {
    databases += 1;
    const name = `bench_${databases}`;
    const contender = await start(await postgres.createDatabase(name));
    const end = async (): Promise<void> => {
      await contender[Symbol.asyncDispose]();
      await postgres.dropDatabase(name);
    };
    return { ...contender, [Symbol.asyncDispose]: end };
  };
  const onSqlite =
    (name: string, root?: string): Start =>
    async () =>
      subscribed(await startRingback({ name, root }), ports);
  const onPostgres =
    (name: string, root?: string): Start =>
    async () =>
      onDatabase(async (databaseUrl) =>
        subscribed(await startRingback({ name, root, databaseUrl }), ports),
      );
  const before = (on: string, start: (name: string, root: string) => Start): [string, Start][] =>
    against === undefined ? [] : [[`before, on ${on}`, start(`before, on ${on}`, against)]];
  const starts = new Map<string, Start>([
    [pgBoss, async () => onDatabase(async (url) => startPgBoss(ports, url))],
    ...before('PostgreSQL', onPostgres),
    [clustered, onPostgres(clustered)],
    [forwarder, async () => startForwarder(ports)],
    [embedded, onSqlite(embedded)],
    ...before('SQLite', onSqlite),
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
