// End to end, one event to one receiver: from the first publish to the last arrival.
import type { Contender } from '../contenders/contender.ts';
import { startBullMq, startForwarder, startPgBoss } from '../contenders/others.ts';
import { startRingback, subscribed } from '../contenders/ringback.ts';
import { ratiosOf, spreadOf } from '../harness/figures.ts';
import type { Check, Scenario } from '../harness/outcome.ts';
import { startRedis } from '../harness/redis.ts';
import { inRounds } from '../harness/rounds.ts';
import { measure, openStage } from '../harness/stage.ts';
import { startPostgres, type Postgres } from '../../test/postgres/server.ts';

const receivers = 10;
const sending = { requests: 20_000, connections: 64 };

export const oneToOne: Scenario = {
  name: 'one-to-one',
  title: 'End to end, one to one',
  about:
    `${sending.requests} events of 500 bytes, each published by a request of its own over ` +
    `${sending.connections} connections and heard by one of ${receivers} receivers. Events per second from the ` +
    'first request to the last arrival.',
  run: async ({ rounds, against }) => {
    await using made = new AsyncDisposableStack();
    const stage = made.use(await openStage(receivers));
    const { ports } = stage;
    const postgres = made.use(await startPostgres());
    const redis = await startRedis();
    if (redis !== undefined) made.use(redis);
    const embedded = { name: 'Ringback on SQLite' };
    const clustered = {
      name: 'Ringback on PostgreSQL',
      databaseUrl: await postgres.createDatabase('ringback'),
    };
    const contenders: Contender[] = [
      made.use(await startForwarder(ports)),
      await subscribed(made.use(await startRingback(embedded)), ports),
      await subscribed(made.use(await startRingback(clustered)), ports),
      ...(await others(made, against, { ports, postgres })),
      made.use(await startPgBoss(ports, await postgres.createDatabase('boss'))),
      ...(redis === undefined ? [] : [made.use(await startBullMq(ports, redis.url))]),
    ];
    const results = await inRounds(
      rounds,
      new Map(contenders.map((each) => [each.name, async () => measure(stage, each, sending)])),
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
    return {
      rows: [...results].map(([name, all]) => ({
        name,
        cells: [
          { column: 'events/s', value: spreadOf(rates(name)) },
          {
            column: 'of the bare forwarder',
            value: ratiosOf(rates(name), rates('bare forwarder')),
          },
          { column: 'CPU µs an event', value: spreadOf(all.map(({ cpuUs }) => cpuUs)) },
        ],
      })),
      checks: [
        check(embedded.name, 'bare forwarder', { atLeast: 0.55, aim: 0.7 }),
        check(clustered.name, 'bare forwarder', { atLeast: 0.45, aim: 0.6 }),
        check(clustered.name, 'pg-boss', { atLeast: 3 }),
        ...(redis === undefined
          ? []
          : [check(embedded.name, 'BullMQ', { atLeast: 1.5, aim: 2.5 })]),
      ],
      skipped: redis === undefined ? ['BullMQ: no redis-server was found'] : [],
    };
  },
};

/** The same of another checkout. */
async function others(
  made: AsyncDisposableStack,
  root: string | undefined,
  { ports, postgres }: { ports: readonly number[]; postgres: Postgres },
): Promise<Contender[]> {
  if (root === undefined) return [];
  const databaseUrl = await postgres.createDatabase('before');
  const embedded = made.use(await startRingback({ name: 'before, on SQLite', root }));
  const clustered = made.use(
    await startRingback({ name: 'before, on PostgreSQL', root, databaseUrl }),
  );
  return [await subscribed(embedded, ports), await subscribed(clustered, ports)];
}
