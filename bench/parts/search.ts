// What a search costs over a million deliveries, on both databases: medians of its first page, and
// of all pages up to the first 50 items, compared to a trivial read; then publishing and delivering
// with concurrent searches, compared to without. Takes some minutes. Run: node
// bench/parts/search.ts [deliveries] [sqlite|postgres]
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { applyMigrations } from '../../src/store/sqlite/schema/apply-migrations.ts';
import { connect } from '../../src/store/sqlite/connection/connect.ts';
import { connect as connectPostgres } from '../../src/store/postgres/connection/connect.ts';
import { databaseIn, migrationsDir, openCluster, openEmbedded } from '../../src/store/open/open.ts';
import type { Page } from '../../src/store/port/store.ts';
import type { Delivery } from '../../src/store/port/delivery-verbs.ts';
import type { Store } from '../../src/store/port/store.ts';
import { freshStoreDatabase } from '../../test/postgres/store-database.ts';
import { fillPostgres, fillSqlite } from './fill-deliveries.ts';
import { searchCases, type SearchCase } from './search-cases.ts';
import { drive, fill, median, onFatal, rateOf, world } from './store-driver.ts';

const events = Number(process.argv[2] ?? 1_000_000);
const which = process.argv[3];
const spanMs = 7 * 24 * 60 * 60_000;
const rounds = 9;
const pagesMax = 20;
const eventsPerRound = 3_000;
const publishRounds = 4;

if (which !== 'postgres') await onSqlite();
if (which !== 'sqlite') await onPostgres();
process.exit(); // A test server that was started here ends with the process.

async function onSqlite(): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'ringback-bench-'));
  const untilMs = world.nowMs();
  const path = databaseIn(dataDir);
  const db = connect({ path, access: 'write' });
  applyMigrations(db, { database: path, migrationsDir, nowMs: untilMs });
  fillSqlite(db, { events, untilMs, spanMs });
  db.close();
  const store = await openEmbedded({ dataDir, world, onFatal });
  await measure('SQLite', store, untilMs);
  await store.close();
  await rm(dataDir, { recursive: true });
}

async function onPostgres(): Promise<void> {
  await using database = await freshStoreDatabase();
  const untilMs = world.nowMs();
  const client = await connectPostgres({
    url: database.url,
    kind: 'schema',
    purpose: 'fill',
    onLost: onFatal,
  });
  await fillPostgres(client, { events, untilMs, spanMs });
  await client.end();
  const store = await openCluster({ url: database.url, world });
  await measure('PostgreSQL', store, untilMs);
  await store.close();
}

async function measure(name: string, store: Store, untilMs: number): Promise<void> {
  console.log(`${name}, ${events} deliveries: ms of the first page (times of a trivial read),`);
  console.log('  then pages until there are 50 items or no more, and the slowest of them');
  const cases = searchCases(untilMs);
  const trivialMs = await medianMs(async () => store.read('app', { id: '0'.repeat(26) }));
  for (const one of cases) {
    const firstMs = await medianMs(async () => search(store, one, undefined));
    const { pages, items, slowestMs } = await follow(store, one);
    const cost = `${firstMs.toFixed(1)} (${(firstMs / trivialMs).toFixed(0)})`.padStart(14);
    const rest = `${pages} pages, ${items} items, ${slowestMs.toFixed(0)} ms`;
    console.log(`${cost}  ${nameOf(one)}: ${rest}`);
  }
  await besidePublishing(store, cases);
}

async function search(
  store: Store,
  { appNo, filter }: SearchCase,
  after: string | undefined,
): Promise<Page<Delivery>> {
  return store.read('deliveries', { appNo, filter, page: { limit: 50, after } });
}

async function follow(
  store: Store,
  one: SearchCase,
): Promise<{ pages: number; items: number; slowestMs: number }> {
  let [pages, items, slowestMs] = [0, 0, 0];
  let next: string | undefined;
  do {
    const startMs = world.monotonicMs();
    const page = await search(store, one, next);
    slowestMs = Math.max(slowestMs, world.monotonicMs() - startMs);
    items += page.items.length;
    pages += 1;
    next = page.next;
  } while (next !== undefined && items < 50 && pages < pagesMax);
  return { pages, items, slowestMs };
}

/** Alternates rounds with and without searches; one search at a time, cycling through the cases. */
async function besidePublishing(store: Store, cases: readonly SearchCase[]): Promise<void> {
  const appNo = await fill(store, 50);
  const driver = drive(store, { appNo, lanesInUse: 50 });
  const run = async (): Promise<number> =>
    rateOf(eventsPerRound, async () => driver.publish(eventsPerRound, 'fresh'));
  await run(); // Warm-up.
  const rates = { without: new Array<number>(), beside: new Array<number>() };
  let searches = 0;
  for (let round = 0; round < publishRounds; round += 1) {
    rates.without.push(await run());
    const over = new AbortController();
    const searching = (async () => {
      for (; !over.signal.aborted; searches += 1) {
        const one = cases[searches % cases.length];
        if (one !== undefined) await search(store, one, undefined);
      }
    })();
    rates.beside.push(await run());
    over.abort();
    await searching;
  }
  const [without, beside] = [median(rates.without), median(rates.beside)];
  console.log(
    `publish and deliver: ${without.toFixed(0)}/s; with ${searches} searches beside it: `,
  );
  console.log(`  ${beside.toFixed(0)}/s, ratio ${(beside / without).toFixed(2)}`);
}

async function medianMs(run: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const startMs = world.monotonicMs();
    await run();
    times.push(world.monotonicMs() - startMs);
  }
  return median(times);
}

function nameOf({ appNo, filter }: SearchCase): string {
  const given = Object.entries(filter).filter(([, value]) => value !== undefined);
  const shown = given
    .filter(([key]) => key !== 'untilMs')
    .map(([key, value]) => (key === 'fromMs' ? 'a time' : `${key} ${String(value).slice(-12)}`));
  return `app ${appNo}, ${shown.join(', ') || 'all'}`;
}
