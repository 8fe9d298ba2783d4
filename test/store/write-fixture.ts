// `node test/store/write-fixture.ts`: writes the rows of a database of this version to `test/store/fixtures`, once for each
// release that has a new migration. A real service creates deliveries of every kind: delivered, dead, cancelled,
// waiting for a retry, held by a pause, ordered, rate-limited, filtered, and replayed.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { readMigrations } from '../../src/store/sql/migration-rules.ts';
import { migrationsDir } from '../../src/store/open/open.ts';
import { newFolder, serve, type Env, type Serving } from '../cli/ringback-process.ts';
import { receive } from '../e2e/receiver.ts';
import { freshDatabase, type Database } from '../postgres/database.ts';
import { fixtureApiKey, fixtureEnv, fixturesDir } from './fixture.ts';

const headers = { 'x-api-key': fixtureApiKey, 'content-type': 'application/json' };

/** Tables that the program writes at each start, or that only matter for minutes, are left out. */
const left = new Set(['migration', 'sqlite_sequence', 'change_feed', 'watch', 'node', 'life']);

const number = String(readMigrations(migrationsDir).length).padStart(4, '0');
mkdirSync(fixturesDir, { recursive: true });
await using folder = await newFolder();
await fill({ ...fixtureEnv, RINGBACK_DATA: folder.path });
writeFileSync(join(fixturesDir, `${number}-sqlite.sql`), sqliteRows(folder.path));
await using database = await freshDatabase();
await fill({ ...fixtureEnv, DATABASE_URL: database.url });
writeFileSync(join(fixturesDir, `${number}-postgres.sql`), await postgresRows(database));

/** The receiver fails if its path says so. */
async function fill(env: Env): Promise<void> {
  await using receiver = await receive(({ url }) => (url.includes('fail') ? 500 : 200));
  await using serving = await serve(env);
  const subscribe = async (path: string, controls: object): Promise<string> => {
    const body = { callbackUrl: `${receiver.url}${path}`, 'x-ringback': controls };
    const { subscriberId } = (await ask(serving, 'POST /subscribe', body)) as Subscribed;
    return subscriberId;
  };
  await subscribe('/plain', { description: 'plain', metadata: { team: 'orders' } });
  await subscribe('/fail/ordered', { ordered: true, retry: ['1m', '1m'] });
  await subscribe('/limited', { rateLimit: 5, concurrency: 2 });
  await subscribe('/filtered', { filter: { '/country': ['NL'] } });
  await subscribe('/fail/dead', { retry: ['100ms'], headers: { 'x-token': 'sealed' } });
  const paused = await subscribe('/paused', {});
  await ask(serving, `PATCH /subscriptions/${paused}`, { state: 'paused' });
  const ended = await subscribe('/ended', {});
  await ask(serving, `DELETE /subscriptions/${ended}`);
  for (const country of ['NL', 'DE']) {
    await ask(serving, 'POST /events', {
      event: 'order.created',
      payload: { message: 'hello', country },
    });
  }
  // Two each to the plain one and the limited one, four to the dead one, one each to the filtered and the ordered one.
  await receiver.waitFor(2 + 2 + 4 + 1 + 1);
  await pending(serving, 2 + 2);
  await ask(serving, 'POST /replays', { filter: { state: 'dead' } });
  await receiver.waitFor(10 + 4);
  await pending(serving, 2 + 2);
  await ask(serving, 'POST /keys', { name: 'reader', scopes: ['read'] });
  serving.signal('SIGTERM');
  assert.equal(await serving.ended, 0);
}

interface Subscribed {
  subscriberId: string;
}

async function ask({ url }: Serving, call: string, body?: object): Promise<unknown> {
  const [method = '', path = ''] = call.split(' ');
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(`${url}${path}`, { method, headers, ...sent });
  const text = await response.text();
  assert.ok(response.ok, `${call}: ${response.status} ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}

async function pending(serving: Serving, count: number): Promise<void> {
  for (;;) {
    const stats = (await ask(serving, 'GET /stats?range=1h')) as { pending: number };
    if (stats.pending === count) return;
    await wait(50);
  }
}

function sqliteRows(dataDir: string): string {
  const db = new DatabaseSync(join(dataDir, 'ringback.db'));
  const tables = db
    .prepare("select name from sqlite_schema where type = 'table' order by name")
    .all()
    .map(({ name }) => String(name))
    .filter((name) => !left.has(name));
  const lines = tables.flatMap((table) => {
    const columns = db
      .prepare('select name from pragma_table_xinfo(?) where hidden = 0')
      .all(table)
      .map(({ name }) => String(name));
    const quoted = columns.map((name) => `quote(${name})`).join(` || ', ' || `);
    const rows = db.prepare(`select ${quoted} as line from ${table} order by 1`).all();
    return rows.map(
      ({ line }) => `insert into ${table} (${columns.join()}) values (${String(line)});\n`,
    );
  });
  db.close();
  return lines.join('');
}

async function postgresRows({ query }: Database): Promise<string> {
  const tables = await query(`
    select relname as name, array_agg(quote_ident(attname) order by attnum)::text[] as columns
    from pg_class join pg_attribute on attrelid = pg_class.oid
    where relnamespace = 'ringback'::regnamespace and relkind in ('r', 'p') and not relispartition
      and attnum > 0 and not attisdropped and attgenerated = ''
    group by relname order by relname`);
  const lines: string[] = [];
  for (const { name, columns } of tables) {
    if (left.has(String(name))) continue;
    const names = columns as string[];
    const quoted = names.map((column) => `quote_nullable(${column}::text)`).join(` || ', ' || `);
    const rows = await query(`select ${quoted} as line from ringback.${String(name)} order by 1`);
    for (const { line } of rows) {
      lines.push(
        `insert into ${String(name)} (${names.join()}) overriding system value values (${String(line)});\n`,
      );
    }
  }
  return lines.join('');
}
