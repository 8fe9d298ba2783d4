// What the console's overview costs with a long history: a week with a million deliveries, filled
// by plain SQL, then requested over HTTP. Prints medians and maxima, and the ratio to a trivial
// read. Run: node bench/parts/overview.ts [deliveries]
import { strict as assert } from 'node:assert';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';
import { idMaker } from '../../src/core/base/id.ts';
import { minuteMs, minuteOf } from '../../src/core/telemetry/statistics.ts';
import { realWorld } from '../../src/core/base/world.ts';
import { databaseIn } from '../../src/store/open/open.ts';
import { ensurePartitions } from '../../src/store/postgres/schema/partitions.ts';
import { start, type Running } from '../../test/api/harness.ts';
import { startPostgres } from '../../test/postgres/server.ts';
import { median } from './store-driver.ts';

const deliveries = Number(process.argv[2] ?? 1_000_000);
const subscriptions = 50;
const weekMs = 7 * 24 * 60 * minuteMs;
const rowsAtOnce = 5_000;
const rounds = 15;

const world = realWorld();
const untilMs = world.nowMs();
const clock = { ms: 0 };
const newId = idMaker({ ...world, nowMs: () => clock.ms });
const key = 'k'.repeat(40);

/** An event and its delivery. */
interface Filled {
  id: string;
  atMs: number;
  lane: number;
  slice: number;
  /** As in `delivery_done`; 0: pending. One in fifty is dead, one in a hundred pending. */
  state: number;
}

function* filled(): Generator<Filled[]> {
  for (let from = 0; from < deliveries; from += rowsAtOnce) {
    const count = Math.min(rowsAtOnce, deliveries - from);
    yield Array.from({ length: count }, (_, i) => {
      const at = from + i;
      clock.ms = Math.floor(untilMs - weekMs + (weekMs * at) / deliveries);
      const state = at % 100 === 0 ? 0 : at % 50 === 1 ? 2 : 1;
      const lane = 1 + (at % subscriptions);
      return { id: newId(), atMs: clock.ms, lane, slice: 1 + Math.floor(at / 4_096), state };
    });
  }
}

/**
 * A row for every minute of the week for the app, and for every half hour for each subscription.
 */
function statisticsSql(series: (name: string, to: number) => string): string[] {
  const [first, last] = [minuteOf(untilMs - weekMs), minuteOf(untilMs)];
  const minutes = last - first;
  const perMinute = Math.ceil(deliveries / minutes);
  const each = Math.ceil(perMinute / subscriptions);
  return [
    `insert into stat_app (app, minute, writer, published, made, delivered, dead, l3, l9)
     select 1, ${first} + i, 0, ${perMinute}, ${perMinute}, ${perMinute}, 0, ${perMinute}, 1
     from ${series('i', minutes)}`,
    `insert into stat_app (app, minute, writer, published, made, delivered, dead)
     select 1, 0, 0, ${deliveries}, ${deliveries}, count(*) - count(nullif(state, 1)),
       count(nullif(state, 1)) from delivery_done`,
    `insert into stat_subscription (subscription, minute, made, delivered, l3)
     select s, (${first} / 30 + i) * 30, 30 * ${each}, 30 * ${each}, 30 * ${each}
     from ${series('i', Math.floor(minutes / 30))}, ${series('s', subscriptions)}`,
  ];
}

function fillSqlite(path: string): void {
  const db = new DatabaseSync(path);
  db.exec('pragma journal_mode = wal; pragma synchronous = off');
  const event = db.prepare(
    `insert into event (id, app, name, slice, created_ms, deliveries, payload)
     values (?, 1, 'order.created', ?, ?, 1, x'7b7d')`,
  );
  const live = db.prepare(
    `insert into delivery_live (event, n, app, lane, callback, due_ms, tries, attempts, slice)
     values (?, 0, 1, ?, ?, 9000000000000, 1, 1, ?)`,
  );
  const done = db.prepare(
    `insert into delivery_done
       (event, n, app, lane, callback, state, attempts, code, slice, ended_ms)
     values (?, 0, 1, ?, ?, ?, 1, 200, ?, ?)`,
  );
  const attempt = db.prepare(
    `insert into attempt (event, n, k, node, started_ms, took_ms, code)
     values (?, 0, 1, 1, ?, 4, 200)`,
  );
  for (const rows of filled()) {
    db.exec('begin');
    for (const { id, atMs, lane, slice, state } of rows) {
      event.run(id, slice, atMs);
      if (state === 0) live.run(id, lane, lane, slice);
      else done.run(id, lane, lane, state, slice, atMs);
      attempt.run(id, atMs);
    }
    db.exec('commit');
  }
  const series = (name: string, to: number): string =>
    `(with recursive s (${name}) as (select 1 union all select ${name} + 1 from s where ${name} < ${to})
      select ${name} from s)`;
  for (const sql of statisticsSql(series)) db.exec(sql);
  db.close();
}

async function fillPostgres(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query('set search_path to ringback; set synchronous_commit to off');
  await ensurePartitions(client, { fromMs: untilMs - weekMs, toMs: untilMs });
  const piece = `
    with x as materialized (
      select * from unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::int[])
        as x (id, at_ms, lane, slice, state)),
    events as (
      insert into event (id, app, name, slice, created_ms, deliveries, payload)
      select id, 1, 'order.created', slice, at_ms, 1, '{}' from x),
    live as (
      insert into delivery_live (event, n, app, lane, callback, due_ms, tries, attempts, slice)
      select id, 0, 1, lane, lane, 9000000000000, 1, 1, slice from x where state = 0),
    done as (
      insert into delivery_done
        (event, n, app, lane, callback, state, attempts, code, slice, ended_ms)
      select id, 0, 1, lane, lane, state, 1, 200, slice, at_ms from x where state > 0)
    insert into attempt (event, n, k, node, started_ms, took_ms, code)
    select id, 0, 1, 1, at_ms, 4, 200 from x`;
  for (const rows of filled()) {
    await client.query(piece, [
      rows.map(({ id }) => id),
      rows.map(({ atMs }) => atMs),
      rows.map(({ lane }) => lane),
      rows.map(({ slice }) => slice),
      rows.map(({ state }) => state),
    ]);
  }
  const series = (name: string, to: number): string => `generate_series(1, ${to}) as ${name}`;
  for (const sql of statisticsSql(series)) await client.query(sql);
  await client.query('vacuum analyze');
  await client.end();
}

async function subscribeAll(service: Running): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < subscriptions; i += 1) {
    const body = { callbackUrl: 'http://127.0.0.1:9000/' };
    const { status, json } = await service.call({ method: 'POST', path: '/subscribe', body });
    assert.equal(status, 201);
    ids.push(String(json['subscriberId']));
  }
  return ids;
}

async function measure(service: Running, ids: readonly string[]): Promise<void> {
  const paths = {
    'a trivial read': '/keys?limit=1',
    'GET /stats?range=15m': '/stats?range=15m',
    'GET /stats?range=1h': '/stats?range=1h',
    'GET /stats?range=24h': '/stats?range=24h',
    'GET /stats?range=7d': '/stats?range=7d',
    'GET /stats of a subscription, 7d': `/stats?range=7d&subscriberId=${ids[0]}`,
    'GET /stats/subscriptions, 50, 24h': `/stats/subscriptions?range=24h&subscriberIds=${ids.join()}`,
    'GET /deliveries': '/deliveries',
  };
  const times = new Map(Object.keys(paths).map((name) => [name, new Array<number>()]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, path] of Object.entries(paths)) {
      const startMs = world.monotonicMs();
      const { status, text } = await service.call({ path });
      assert.equal(status, 200, text);
      if (round > 0) times.get(name)?.push(world.monotonicMs() - startMs);
    }
  }
  const trivial = median(times.get('a trivial read') ?? []);
  for (const [name, all] of times) {
    const [middle, most] = [median(all), Math.max(...all)];
    const worth = (middle / trivial).toFixed(1);
    console.log(`  ${name}: ${middle.toFixed(1)} ms (slowest ${most.toFixed(1)}), ratio ${worth}`);
  }
}

/**
 * Creates the app `default` and its subscriptions first, so that the rows can refer to them by
 * number.
 */
async function compare(
  name: string,
  { env, fill }: { env: Record<string, string>; fill: () => Promise<void> | void },
): Promise<void> {
  const whole = {
    ...env,
    RINGBACK_API_KEY: key,
    RINGBACK_ENCRYPTION_KEY: Buffer.alloc(32).toString('base64'),
  };
  const before = await start({ env: whole });
  const ids = await subscribeAll(before);
  await before[Symbol.asyncDispose]();
  const startMs = world.monotonicMs();
  await fill();
  const tookS = ((world.monotonicMs() - startMs) / 1000).toFixed(0);
  console.log(`${name}: ${deliveries} deliveries of a week, filled in ${tookS} s`);
  await using service = await start({ env: whole });
  await measure(service, ids);
}

const dataDir = await mkdtemp(join(tmpdir(), 'ringback-bench-'));
try {
  const env = { RINGBACK_DATA: dataDir };
  await compare('SQLite', { env, fill: () => fillSqlite(databaseIn(dataDir)) });
} finally {
  await rm(dataDir, { recursive: true });
}
await using postgres = await startPostgres();
const url = await postgres.createDatabase('overview');
await compare('PostgreSQL', { env: { DATABASE_URL: url }, fill: async () => fillPostgres(url) });
