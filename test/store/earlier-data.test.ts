// Opens data of every release with the current program: it must be migrated, listed and published to, and its pending
// deliveries must be delivered. `node test/store/write-fixture.ts` writes the rows of a new release.
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { readMigrations, lastUnhashed } from '../../src/store/sql/migration-rules.ts';
import { migrationsDir } from '../../src/store/open/open.ts';
import { applyMigrations as applyToServer } from '../../src/store/postgres/schema/apply-migrations.ts';
import { postgresMigrationsDir } from '../../src/store/postgres/batch/adapter.ts';
import { applyMigrations } from '../../src/store/sqlite/schema/apply-migrations.ts';
import { newFolder, serve, type Env, type Serving } from '../cli/ringback-process.ts';
import { receive, type Receiver } from '../e2e/receiver.ts';
import { freshDatabase } from '../postgres/database.ts';
import { fixtureApiKey, fixtureEnv, fixturesDir } from './fixture.ts';

const headers = { 'x-api-key': fixtureApiKey, 'content-type': 'application/json' };
const env = { ...fixtureEnv, RINGBACK_RETENTION: '36500d' };
const files = readdirSync(fixturesDir);

/** Copies the migrations of a release to a folder. */
function migrationsOf(folder: string, { from, count }: { from: string; count: number }): string {
  const dir = join(folder, 'migrations');
  mkdirSync(dir);
  for (const { number, name } of readMigrations(from).slice(0, count)) {
    const file = `${String(number).padStart(4, '0')}_${name}.sql`;
    cpSync(join(from, file), join(dir, file));
  }
  return dir;
}

/** The rows, with callbacks to a receiver of this test, and the time at which they were written. */
function rowsOf(file: string, receiver: Receiver): { sql: string; madeMs: number } {
  const text = readFileSync(join(fixturesDir, file), 'utf8');
  const sql = text.replaceAll(/http:\/\/127\.0\.0\.1:\d+\//g, `http://127.0.0.1:${receiver.port}/`);
  const [, madeMs = ''] = /insert into app .*?(\d{13})/.exec(sql) ?? [];
  return { sql, madeMs: Number(madeMs) };
}

for (const file of files.filter((name) => name.endsWith('-sqlite.sql'))) {
  const count = Number(file.slice(0, 4));
  describe(`data of migration ${count} on SQLite`, () => {
    it('is migrated, listed and delivered', async () => {
      await using folder = await newFolder();
      await using receiver = await receive();
      const path = join(folder.path, 'ringback.db');
      const dir = migrationsOf(folder.path, { from: migrationsDir, count });
      const { sql, madeMs } = rowsOf(file, receiver);
      const db = new DatabaseSync(path, { enableForeignKeyConstraints: false });
      applyMigrations(db, { database: path, migrationsDir: dir, nowMs: madeMs });
      if (count <= lastUnhashed) db.exec('alter table migration drop column hash');
      db.exec(sql);
      db.close();
      await lives({ ...env, RINGBACK_DATA: folder.path }, receiver);
    });
  });
}

for (const file of files.filter((name) => name.endsWith('-postgres.sql'))) {
  const count = Number(file.slice(0, 4));
  describe(`data of migration ${count} on PostgreSQL`, () => {
    it('is migrated, listed and delivered', async () => {
      await using folder = await newFolder();
      await using receiver = await receive();
      await using database = await freshDatabase();
      const dir = migrationsOf(folder.path, { from: postgresMigrationsDir, count });
      const { sql, madeMs } = rowsOf(file, receiver);
      await applyToServer({ url: database.url, migrationsDir: dir, nowMs: madeMs });
      if (count <= lastUnhashed) {
        await database.query('alter table ringback.migration drop column hash');
      }
      // One query with many statements, so that they share a connection, which does not check foreign keys.
      await database.query(
        `set session_replication_role = replica; set search_path = ringback; ${sql}; ${sequences}`,
      );
      await lives({ ...env, DATABASE_URL: database.url }, receiver);
    });
  });
}

/** Sequences continue after the numbers of the rows. */
const sequences = `
  do $$ declare it record; begin
    for it in select table_name, column_name from information_schema.columns
      where table_schema = 'ringback' and is_identity = 'YES' loop
      execute format('select setval(pg_get_serial_sequence(%L, %L), coalesce(max(%I), 0) + 1) from %I',
        it.table_name, it.column_name, it.column_name, it.table_name);
    end loop;
  end $$; set session_replication_role = origin; set search_path = default`;

/** Checks the data through the current service; see test/store/write-fixture.ts for its contents. */
async function lives(settings: Env, receiver: Receiver): Promise<void> {
  await using serving = await serve(settings);
  const counts = {
    subscriptions: await countOf(serving, '/subscriptions?limit=100'),
    events: await countOf(serving, '/events?limit=100'),
    deliveries: await countOf(serving, '/deliveries?limit=100'),
    replays: await countOf(serving, '/replays?limit=100'),
    keys: await countOf(serving, '/keys?limit=100'),
  };
  assert.deepEqual(counts, { subscriptions: 7, events: 2, deliveries: 11, replays: 1, keys: 2 });
  // The two with a pending retry, in order; the paused ones stay pending.
  const first = await receiver.waitFor(2);
  assert.deepEqual(
    first.map(({ url }) => url),
    ['/hook/fail/ordered', '/hook/fail/ordered'],
  );
  const body = JSON.stringify({
    event: 'order.created',
    payload: { message: 'new', country: 'NL' },
  });
  const response = await fetch(`${serving.url}/events`, { method: 'POST', headers, body });
  assert.equal(response.status, 202, await response.text());
  const all = await receiver.waitFor(2 + 5);
  assert.deepEqual(
    all
      .slice(2)
      .map(({ url }) => url)
      .sort(),
    ['dead', 'filtered', 'limited', 'ordered', 'plain']
      .map((name) => (['dead', 'ordered'].includes(name) ? `/hook/fail/${name}` : `/hook/${name}`))
      .sort(),
  );
  assert.equal(all.find(({ url }) => url.endsWith('dead'))?.headers['x-token'], 'sealed');
}

async function countOf({ url }: Serving, path: string): Promise<number> {
  const response = await fetch(`${url}${path}`, { headers });
  const text = await response.text();
  assert.equal(response.status, 200, `${path}: ${text}`);
  return (JSON.parse(text) as { items: unknown[] }).items.length;
}
