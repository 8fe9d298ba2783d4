// What a delivery costs in the store on PostgreSQL, as ratios within one run: against SQLite, group
// commit against single transactions, a claim out of a long backlog against a short one, and with
// an open transaction of someone else. fsync is on. Prints medians. Run: node
// bench/parts/store-postgres.ts
import { strict as assert } from 'node:assert';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { limits } from '../../src/core/limits/limits.ts';
import { createBatcher } from '../../src/store/batch/batcher.ts';
import { openCluster, openEmbedded } from '../../src/store/open/open.ts';
import { openPostgres } from '../../src/store/postgres/batch/adapter.ts';
import { startPostgres } from '../../test/postgres/server.ts';
import {
  drive,
  fill,
  median,
  onFatal,
  payload,
  rateOf,
  world,
  type Driver,
} from './store-driver.ts';

const rounds = 5;
const events = 3_000;
const eventsAlone = 300;
const lanesInUse = 50;
const backlog = { rows: 200_000, lanes: 2_000, inTheHole: 100_000, shortRows: 4_000 };
const drained = 4_000;

/** Inserts pending deliveries, one per event. $2: 1 for the hole only, 0 for all other lanes. */
const waiting = `
  with fresh as (
    select make_id(now_ms) as id, i, now_ms
    from generate_series(1, $1::int) as i,
      (select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms) as clock),
  made as (
    insert into event (id, app, name, slice, created_ms, deliveries, payload)
    select id, $4::bigint, 'order.created', 1, now_ms, 1, $5::bytea from born),
  targets as (
    select no, lane, row_number() over (order by no) - 1 as at, count(*) over () as of from callback
    where (lane = $3::bigint) = ($2::int = 1)),
  live as (
    insert into delivery_live (event, n, app, lane, callback, due_ms, slice)
    select id, 0, $4::bigint, lane, no, now_ms - $2::int * 10000, 1
    from born join targets on at = i % of returning lane)
  update lane set ready_ms = 1, quiet_ms = null, quiet_xid = null
  where no in (select lane from live)`;

await using cleanup = new AsyncDisposableStack();
const postgres = cleanup.use(await startPostgres());
const options = { world, onError: onFatal };

await compareDatabases();
await compareBacklogs();

/** Both stores with their own transport: threads and a file, or connections and a server. */
async function compareDatabases(): Promise<void> {
  await using here = new AsyncDisposableStack();
  const dataDir = await mkdtemp(join(tmpdir(), 'ringback-bench-'));
  here.defer(async () => rm(dataDir, { recursive: true }));
  const sqlite = await openEmbedded({ dataDir, world, onFatal });
  here.defer(async () => sqlite.close());
  const url = await postgres.createDatabase('databases');
  const cluster = await openCluster({ url, ...options });
  here.defer(async () => cluster.close());
  const transport = await openPostgres({ url, ...options, onNotified: () => undefined });
  const alone = createBatcher(transport, {
    ...limits,
    nowMs: () => transport.nowMs(),
    batchEditsMax: 1,
  });
  here.defer(async () => alone.close());
  const appNo = await fill(sqlite, lanesInUse);
  const clusterAppNo = await fill(cluster, lanesInUse);
  const ways = {
    sqlite: drive(sqlite, { appNo, lanesInUse }),
    postgres: drive(cluster, { appNo: clusterAppNo, lanesInUse }),
    alone: drive(alone, { appNo: clusterAppNo, lanesInUse, node: 2 }),
  };
  const fresh = async (driver: Driver, count: number): Promise<number> =>
    rateOf(count, async () => driver.publish(count, 'fresh'));
  const claimed = async (driver: Driver): Promise<number> =>
    rateOf(events, async () => driver.publish(events, 'claimed'));
  const rates = await inTurns({
    'SQLite, leases offered': async () => fresh(ways.sqlite, events),
    'PostgreSQL, leases offered': async () => fresh(ways.postgres, events),
    'SQLite, claimed': async () => claimed(ways.sqlite),
    'PostgreSQL, claimed': async () => claimed(ways.postgres),
    'PostgreSQL, a transaction each': async () => fresh(ways.alone, eventsAlone),
  });
  console.log(`Publish, deliver, settle: ${lanesInUse} lanes, payloads of ${payload.length} bytes`);
  print(rates, 'PostgreSQL, leases offered', 'SQLite, births offered');
  const shares = [ways.sqlite, ways.postgres].map((one) => (one.freshShare() * 100).toFixed(0));
  console.log(
    `    of which were inserted leased: SQLite ${shares[0]} %, PostgreSQL ${shares[1]} %`,
  );
  print(rates, 'PostgreSQL, claimed', 'SQLite, claimed');
  print(rates, 'PostgreSQL, leases offered', 'PostgreSQL, a transaction each');
}

/**
 * Claims and settles pending deliveries. The hole is a lane without room on this node that holds
 * half of all rows, the oldest ones: a claim must not read them.
 */
async function compareBacklogs(): Promise<void> {
  await using here = new AsyncDisposableStack();
  const long = await openBacklog('long', backlog);
  here.use(long);
  const short = await openBacklog('short', { ...backlog, rows: backlog.shortRows, inTheHole: 0 });
  here.use(short);
  const drain = async ({ driver }: Backlog): Promise<number> =>
    rateOf(drained, async () => driver.drain(drained));
  const ways = {
    short: async () => {
      await short.refill(drained);
      return drain(short);
    },
    long: async () => drain(long),
  };
  console.log(
    `Claim and settle: ${backlog.rows} rows in ${backlog.lanes} lanes, a full one with half`,
  );
  print(await inTurns(ways), 'long', 'short');
  // A long-running snapshot, like that of a backup: from then on nothing in this database can be
  // vacuumed. The other database is not affected.
  const reader = new Client({ connectionString: long.url });
  await reader.connect();
  await reader.query('begin isolation level repeatable read');
  await reader.query('select pg_current_xact_id() from ringback.app');
  const held = await inTurns(ways);
  await reader.end();
  console.log('The same, with a transaction left open beside the long one');
  print(held, 'long', 'short');
}

interface Backlog extends AsyncDisposable {
  url: string;
  driver: Driver;
  /** Adds pending deliveries to all lanes except the hole. */
  refill: (rows: number) => Promise<void>;
}

async function openBacklog(
  name: string,
  { rows, lanes, inTheHole }: Pick<typeof backlog, 'rows' | 'lanes' | 'inTheHole'>,
): Promise<Backlog> {
  const url = await postgres.createDatabase(name);
  const store = await openCluster({ url, ...options });
  const appNo = await fill(store, lanes);
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query('set search_path to ringback');
  const callbacks = await client.query<{ hole: string }>('select min(lane) as hole from callback');
  const hole = Number(callbacks.rows[0]?.hole);
  assert(Number.isSafeInteger(hole));
  const refill = async (more: number): Promise<void> => {
    await client.query(waiting, [more, 0, hole, appNo, payload]);
  };
  await client.query(waiting, [inTheHole, 1, hole, appNo, payload]);
  await refill(rows - inTheHole);
  await client.query('vacuum analyze');
  const driver = drive(store, { appNo, lanesInUse: lanes, full: [hole] });
  return {
    url,
    driver,
    refill,
    [Symbol.asyncDispose]: async () => {
      await client.end();
      await store.close();
    },
  };
}

type Rates = Readonly<Record<string, readonly number[]>>;

/** Runs all ways in turn, several times; the first round is a warm-up. */
async function inTurns(ways: Readonly<Record<string, () => Promise<number>>>): Promise<Rates> {
  const rates: Record<string, number[]> = {};
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, run] of Object.entries(ways)) {
      const rate = await run();
      if (round > 0) (rates[name] ??= []).push(rate);
    }
  }
  return rates;
}

/**
 * Prints ratios of neighbouring rounds, because the machine changes from round to round, and their
 * range.
 */
function print(rates: Rates, name: string, base: string): void {
  const [some = [], others = []] = [rates[name], rates[base]];
  const ratios = some.map((rate, i) => rate / (others[i] ?? Number.NaN));
  console.log(`  ${name}: ${median(some).toFixed(0)}/s; ${base}: ${median(others).toFixed(0)}/s`);
  const [least, most] = [Math.min(...ratios).toFixed(2), Math.max(...ratios).toFixed(2)];
  console.log(`    ratio ${median(ratios).toFixed(2)} (${least} to ${most})`);
}
