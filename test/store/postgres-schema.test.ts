// The schema on PostgreSQL: migrations, refusals, and equality with SQLite.
import { strict as assert } from 'node:assert';
import { randomBytes } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { firstIdAt } from '../../src/core/base/id.ts';
import { CannotOpenStore } from '../../src/store/port/store.ts';
import {
  applyMigrations,
  readDueMigrations,
} from '../../src/store/postgres/schema/apply-migrations.ts';
import { connect } from '../../src/store/postgres/connection/connect.ts';
import { freshDatabase, type Database } from '../postgres/database.ts';
import { postgresMigrationsDir as migrationsDir } from '../../src/store/postgres/batch/adapter.ts';
import { freshStoreDatabase } from '../postgres/store-database.ts';

const nowMs = Date.UTC(2026, 10, 15, 12);
const all = [
  { number: 1, name: 'init' },
  { number: 2, name: 'deliveries' },
  { number: 3, name: 'cluster' },
  { number: 4, name: 'retention' },
  { number: 5, name: 'life' },
  { number: 6, name: 'stats' },
  { number: 7, name: 'session' },
  { number: 8, name: 'stream' },
  { number: 9, name: 'replay' },
  { number: 10, name: 'search' },
  { number: 11, name: 'controls' },
  { number: 12, name: 'trace' },
  { number: 13, name: 'notice' },
  { number: 14, name: 'quotas' },
  { number: 15, name: 'fill' },
  { number: 16, name: 'attempt' },
  { number: 17, name: 'waiting' },
  { number: 18, name: 'no_live_find' },
  { number: 19, name: 'publishers' },
  { number: 20, name: 'lane_app_ready' },
  { number: 21, name: 'resource' },
  { number: 22, name: 'event_names' },
  { number: 23, name: 'subject' },
  { number: 24, name: 'subject_indexes' },
  { number: 25, name: 'exchange' },
  { number: 26, name: 'skipped_callbacks' },
  { number: 27, name: 'replay_subject' },
  { number: 28, name: 'customer' },
  { number: 29, name: 'customer_indexes' },
  { number: 30, name: 'event_type' },
  { number: 31, name: 'portal' },
  { number: 32, name: 'audit' },
  { number: 33, name: 'sql_subject_customer' },
];

describe('applyMigrations', () => {
  it('migrates an empty database, and changes nothing the second time', async () => {
    await using database = await freshDatabase();
    const options = { url: database.url, migrationsDir, nowMs };
    assert.deepEqual(await readDueMigrations(options), all);
    assert.deepEqual(await applyMigrations(options), all);
    const schema = await everythingIn(database);
    assert.deepEqual(await applyMigrations(options), []);
    assert.deepEqual(await everythingIn(database), schema);
    assert.deepEqual(await readDueMigrations(options), []);
    assert.deepEqual(
      await database.query('select number::int, name from ringback.migration order by number'),
      all,
    );
  });

  it('creates partitions from yesterday to three days ahead', async () => {
    await using database = await freshDatabase();
    await applyMigrations({ url: database.url, migrationsDir, nowMs });
    const rows = await database.query(
      `select relname from pg_class where relname ~ '^event_\\d{8}$' order by relname`,
    );
    const days = ['20261114', '20261115', '20261116', '20261117', '20261118'];
    assert.deepEqual(
      rows.map(({ relname }) => relname),
      days.map((day) => `event_${day}`),
    );
  });

  it('runs once when three nodes start concurrently', async () => {
    await using database = await freshDatabase();
    const options = { url: database.url, migrationsDir, nowMs };
    const done = await Promise.all([1, 2, 3].map(async () => applyMigrations(options)));
    assert.deepEqual(
      done.flat().sort((one, other) => one.number - other.number),
      all,
    );
  });

  it('rolls back a failed migration, and continues when it is fixed', async () => {
    await using database = await freshDatabase();
    const dir = mkdtempSync(join(tmpdir(), 'ringback-migrations-'));
    try {
      cpSync(migrationsDir, dir, { recursive: true });
      const broken = 'create table half (no bigint); select 1 / 0;';
      writeFileSync(join(dir, '0003_cluster.sql'), broken);
      await refused(applyMigrations({ url: database.url, migrationsDir: dir, nowMs }), {
        url: database.url,
        message: /migration 3 "cluster" failed: division by zero \(PostgreSQL 22012\)/,
      });
      assert.deepEqual(await database.query("select to_regclass('ringback.half') as half"), [
        { half: null },
      ]);
      const rest = await applyMigrations({ url: database.url, migrationsDir, nowMs });
      assert.deepEqual(rest, all.slice(2));
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  it('refuses a newer schema', async () => {
    await using database = await freshStoreDatabase();
    const known = all.length;
    await database.query("insert into ringback.migration values ($1, 'later', 0)", [known + 1]);
    const options = { url: database.url, migrationsDir, nowMs };
    const expected = {
      url: database.url,
      code: 'newer_schema',
      message: new RegExp(
        `it is at migration ${known + 1}, and this program knows migrations up to ${known}. Start`,
      ),
    };
    await refused(applyMigrations(options), expected);
    await refused(readDueMigrations(options), expected);
  });

  it('refuses a server that does not respond', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const url = `postgres://someone:hush@127.0.0.1:${port}/x?password=hush2&sslmode=disable`;
    await refused(applyMigrations({ url, migrationsDir, nowMs }), {
      url,
      message: new RegExp(
        `^Cannot connect to "postgres://someone@127.0.0.1:${port}/x": connect ECONNREFUSED .*; ` +
          'check the host and port in DATABASE_URL',
      ),
    });
  });

  it('refuses a wrong password, and a missing one', async () => {
    await using database = await freshDatabase();
    for (const password of ['wrong-password', '']) {
      const url = changed(database.url, { password });
      await refused(applyMigrations({ url, migrationsDir, nowMs }), {
        url,
        message: /^Cannot connect to .*; check .*password in DATABASE_URL/,
      });
    }
  });

  it('refuses a database that does not exist', async () => {
    await using database = await freshDatabase();
    const url = changed(database.url, { pathname: '/nowhere_at_all' });
    await refused(applyMigrations({ url, migrationsDir, nowMs }), {
      url,
      message: /database "nowhere_at_all" does not exist .*; create the database first/,
    });
  });

  it('refuses a user without the right to create a schema, unless it has one', async () => {
    await using database = await freshDatabase();
    await using role = await plainRole(database);
    const options = { url: role.url, migrationsDir, nowMs };
    await refused(applyMigrations(options), {
      url: role.url,
      message:
        /permission denied for database .*; as the database owner, run `create schema ringback auth/,
    });
    await database.query(`create schema ringback authorization ${role.name}`);
    assert.deepEqual(await applyMigrations(options), all);
    assert.deepEqual(await applyMigrations(options), []);
  });
});

describe('migrations', () => {
  const sqliteDir = join(migrationsDir, '..', 'sqlite');

  it('have the same numbers and names on both databases', () => {
    assert.deepEqual(readdirSync(migrationsDir).sort(), readdirSync(sqliteDir).sort());
  });

  it('create the same tables, columns and indexes, with a few exceptions', async () => {
    await using database = await freshStoreDatabase();
    const [sqlite, postgres] = [sqliteSchema(sqliteDir), await postgresSchema(database)];
    // Only SQLite numbers the tables with payloads and bodies.
    for (const column of ['event.no integer', 'response.no integer']) {
      assert(sqlite.delete(column), column);
    }
    // Only PostgreSQL supports publishing by SQL, and tracks lives of the database.
    const inbox = ['no', 'app', 'created_ms', 'taken_ms'].map((name) => `inbox.${name} integer`);
    const life = ['life.no integer', 'life.id text'];
    const texts = ['id text', 'name text', 'subject text', 'customer text', 'payload blob'].map(
      (one) => `inbox.${one}`,
    );
    const publisher = ['no integer', 'role text', 'app integer'].map((one) => `publisher.${one}`);
    for (const column of [...inbox, ...texts, ...life, ...publisher, 'index publisher_app']) {
      assert(postgres.delete(column), column);
    }
    assert.deepEqual([...postgres].sort(), [...sqlite].sort());
  });

  it('set the version of existing lanes', async () => {
    await using database = await freshDatabase();
    const dir = mkdtempSync(join(tmpdir(), 'ringback-migrations-'));
    try {
      for (const file of ['0001_init.sql', '0002_deliveries.sql']) {
        cpSync(join(migrationsDir, file), join(dir, file));
      }
      await applyMigrations({ url: database.url, migrationsDir: dir, nowMs });
    } finally {
      rmSync(dir, { recursive: true });
    }
    const id = (mark: string): string => mark.repeat(26);
    await database.query(`insert into ringback.app (id, name, created_ms) values ($1, 'a', 0)`, [
      id('a'),
    ]);
    await database.query(
      `insert into ringback.subscription
         (id, app, contract, operation, secrets, version, created_ms)
       values ($1, 1, 'c', 'o', '', 7, 0)`,
      [id('b')],
    );
    await database.query('insert into ringback.lane (app, subscription) values (1, 1)');
    await applyMigrations({ url: database.url, migrationsDir, nowMs });
    assert.deepEqual(await database.query('select version, floor_ms from ringback.lane'), [
      { version: '7', floor_ms: '0' },
    ]);
  });
});

describe('plans created while a table is empty', () => {
  const key = /Index Scan using \w+_pkey on .*\n.*Index Cond: \((id|\(event) = .*/;
  const wholeKey = new RegExp(`${key.source} AND \\(n = `);

  it('read the queue by its key', async () => {
    await using database = await freshStoreDatabase();
    const settle = `
      delete from delivery_live d using unnest($1::text[], $2::int[], $3::bigint[]) as x (event, n, lease)
      where d.event = any(array[x.event]) and d.n = x.n and d.lease is not distinct from x.lease`;
    const fill = `
      insert into ringback.delivery_live
      select ringback.make_id(i), 0, 1, i, 1, 0, 0, 0, 1, nullif(i % 2, 0)
      from generate_series(1, 2000) as i`;
    for (const change of ['select', fill, 'delete from ringback.delivery_live']) {
      await database.query(change);
      await database.query('vacuum analyze ringback.delivery_live');
      assert.match(await planOf(database, settle, ['{}', '{}', '{}']), wholeKey, change);
    }
  });

  it('read the history by its key', async () => {
    await using database = await freshStoreDatabase();
    await database.query('vacuum analyze');
    const id = firstIdAt(Date.now());
    const done = 'select * from delivery_done where event = $1 and n = $2';
    assert.match(await planOf(database, done, [id, '0']), wholeKey);
    assert.match(await planOf(database, 'select * from event where id = $1', [id]), key);
    const doneListed = `
      select * from unnest($1::text[], $2::int[]) as x (event, n)
      join delivery_done d on d.event = any(array[x.event]) and d.n = x.n`;
    assert.match(await planOf(database, doneListed, ['{}', '{}']), wholeKey);
    const listed = `
      select * from unnest($1::text[]) as x (id) join event on event.id = any(array[x.id])`;
    assert.match(await planOf(database, listed, ['{}']), key);
  });
});

/** The plan with the settings of the engine's connections. */
async function planOf(database: Database, sql: string, values: string[]): Promise<string> {
  const client = await connect({
    url: database.url,
    kind: 'engine',
    purpose: 'test',
    onLost: () => {},
  });
  try {
    await client.query(`prepare it as ${sql}`);
    const literals = values.map((value) => `'${value}'`).join();
    const { rows } = await client.query(`explain (costs off) execute it (${literals})`);
    return rows.map((row: Record<string, string>) => row['QUERY PLAN']).join('\n');
  } finally {
    await client.end();
  }
}

interface Refusal {
  url: string;
  message: RegExp;
  code?: string;
}

async function refused(opening: Promise<unknown>, expected: Refusal): Promise<void> {
  const { url, message, code = 'failed' } = expected;
  await assert.rejects(opening, (error) => {
    assert(error instanceof CannotOpenStore);
    assert.equal(error.code, code);
    assert.match(error.message, message);
    const { password, searchParams } = new URL(url);
    for (const secret of [password, searchParams.get('password') ?? '']) {
      assert(secret === '' || !error.message.includes(secret), 'shows the password');
    }
    return true;
  });
}

function changed(url: string, changes: { password?: string; pathname?: string }): string {
  return Object.assign(new URL(url), changes).href;
}

interface Role extends AsyncDisposable {
  name: string;
  url: string;
}

/** A role that owns nothing. */
async function plainRole(database: Database): Promise<Role> {
  const name = `ringback_test_${randomBytes(6).toString('hex')}`;
  await database.query(`create role ${name} login password 'plain-password'`);
  const url = Object.assign(new URL(database.url), { username: name, password: 'plain-password' });
  return {
    name,
    url: url.href,
    [Symbol.asyncDispose]: async () => {
      await database.query(`drop owned by ${name}`);
      await database.query(`drop role ${name}`);
    },
  };
}

/** Every relation, column, constraint and function, as text. */
async function everythingIn(database: Database): Promise<unknown> {
  return database.query(`
    select 'table ' || c.oid::regclass || ' ' || c.relkind::text || ' ' || coalesce(c.reloptions::text, '')
      || coalesce(pg_get_expr(c.relpartbound, c.oid), '') as what
    from pg_class c where relnamespace = 'ringback'::regnamespace
    union all
    select 'column ' || attrelid::regclass || ' ' || attname || ' ' || format_type(atttypid, atttypmod)
    from pg_attribute join pg_class on pg_class.oid = attrelid
    where relnamespace = 'ringback'::regnamespace and attnum > 0
    union all
    select 'rule ' || conrelid::regclass || ' ' || pg_get_constraintdef(oid)
    from pg_constraint where connamespace = 'ringback'::regnamespace
    union all
    select 'index ' || indexdef from pg_indexes where schemaname = 'ringback'
    union all
    select pg_get_functiondef(oid) from pg_proc where pronamespace = 'ringback'::regnamespace
    order by 1`);
}

function sqliteSchema(dir: string): Set<string> {
  const db = new DatabaseSync(':memory:');
  for (const file of readdirSync(dir).sort()) db.exec(readFileSync(join(dir, file), 'utf8'));
  const columns = db
    .prepare(
      `select m.name || '.' || c.name || ' ' || lower(c.type) as what
       from sqlite_schema m join pragma_table_xinfo(m.name) c
       where m.type = 'table' and m.name not like 'sqlite_%'`,
    )
    .all();
  const indexes = db
    .prepare(
      "select 'index ' || name as what from sqlite_schema where type = 'index' and sql <> ''",
    )
    .all();
  return new Set([...columns, ...indexes].map(({ what }) => String(what)));
}

const sqliteTypes = new Map([
  ['bigint', 'integer'],
  ['integer', 'integer'],
  ['smallint', 'integer'],
  ['xid8', 'integer'],
  ['text', 'text'],
  ['bytea', 'blob'],
  ['double precision', 'real'],
]);

/** The schema in the notation of SQLite, without partitions and the record of migrations. */
async function postgresSchema(database: Database): Promise<Set<string>> {
  const columns = await database.query(`
    select relname || '.' || attname as name, format_type(atttypid, null) as type
    from pg_attribute join pg_class on pg_class.oid = attrelid
    where relnamespace = 'ringback'::regnamespace and relkind in ('r', 'p') and attnum > 0
      and not relispartition and relname <> 'migration'`);
  const indexes = await database.query(`
    select 'index ' || c.relname as what
    from pg_index join pg_class c on c.oid = indexrelid
    where c.relnamespace = 'ringback'::regnamespace and not c.relispartition
      and not exists (select from pg_constraint where conindid = indexrelid)`);
  return new Set([
    ...columns.map(({ name, type }) => `${String(name)} ${sqliteTypes.get(String(type))}`),
    ...indexes.map(({ what }) => String(what)),
  ]);
}
