// Locks of migrations that process the whole history. The history of a test is short, so another transaction blocks the
// migration in the middle.
import { strict as assert } from 'node:assert';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { Client } from 'pg';
import { limits } from '../../src/core/limits/limits.ts';
import type { AppliedMigration } from '../../src/store/sql/migration-rules.ts';
import { applyMigrations } from '../../src/store/postgres/schema/apply-migrations.ts';
import { connect } from '../../src/store/postgres/connection/connect.ts';
import { postgresMigrationsDir } from '../../src/store/postgres/batch/adapter.ts';
import { freshDatabase, type Database } from '../postgres/database.ts';
import { until } from './postgres-stage.ts';

const nowMs = Date.UTC(2026, 10, 15, 12);

describe('while a migration processes the history', () => {
  let database: Database;
  let client: Client;
  let migrationsDir: string;
  beforeEach(async () => {
    database = await freshDatabase();
    migrationsDir = mkdtempSync(join(tmpdir(), 'ringback-migrations-'));
    client = await connect({ url: database.url, kind: 'schema', purpose: 'test', onLost });
  });
  afterEach(async () => {
    await client.end();
    rmSync(migrationsDir, { recursive: true });
    await database[Symbol.asyncDispose]();
  });

  it('lanes and subscriptions can be written while statistics are counted', async () => {
    await migrateTo(5);
    const held = await heldBy(6, 'lock table ringback.event in access exclusive mode');
    assert.deepEqual(held.filter(isStrong).filter(isOf('lane', 'subscription')), []);
  });

  it('deliveries can be read while they get an index', async () => {
    await migrateTo(9);
    // The last of the indexes that are built.
    const held = await heldBy(10, 'lock table ringback.delivery_live in row exclusive mode');
    assert(held.some(isOf('delivery_done')), 'the other index is built');
    const exclusive = held.filter(({ mode }) => mode === 'AccessExclusiveLock');
    assert.deepEqual(exclusive.filter(isOf('delivery_done')), []);
  });

  it('pending deliveries can be read while they get an index', async () => {
    await migrateTo(16);
    const held = await heldBy(17, 'lock table ringback.delivery_live in row exclusive mode');
    assert.deepEqual(
      held.filter(({ mode }) => mode === 'AccessExclusiveLock'),
      [],
    );
  });

  it('adding a column does not scan the table', async () => {
    await migrateTo(10);
    await database.query('create table ringback.scanned (number int, name text)');
    for (const number of [11, 12, 13, 14]) copy(number, noteScans(number));
    await migrateAll();
    assert.deepEqual(await database.query('select * from ringback.scanned'), []);
  });

  it('events can be published while rows are counted and indexed', async () => {
    await migrateTo(14);
    for (const sql of [
      `insert into ringback.app (id, name, created_ms)
       select repeat(n, 26), n, 1 from unnest(array['a', 'b']) as n`,
      `insert into ringback.subscription
         (id, app, contract, operation, state, ended_ms, secrets, version, created_ms)
       select repeat(state, 26 / length(state)) || repeat('-', 26 % length(state)),
         app.no, 'c', 'o', state, case state when 'ended' then 1 end, '', 1, 1
       from ringback.app, unnest(array['active', 'disabled', 'ended']) as state
       where name = 'a'`,
    ]) {
      await database.query(sql);
    }
    // The last of the tables to be processed.
    const held = await heldBy(15, 'lock table ringback.pattern in row exclusive mode');
    assert(held.some(isOf('app')) && held.some(isOf('subscription')), 'these are done');
    const exclusive = held.filter(({ mode }) => mode === 'AccessExclusiveLock');
    assert.deepEqual(exclusive.filter(isOf('app', 'subscription', 'pattern', 'lane')), []);
    const counted = await database.query('select name, subscriptions::int from ringback.app');
    assert.deepEqual(
      new Map(counted.map((row) => [row['name'], row['subscriptions']])),
      new Map([
        ['a', 2],
        ['b', 0],
      ]),
    );
  });

  for (const [first, second] of [
    ['pattern', 'lane'],
    ['lane', 'pattern'],
  ] as const) {
    it(`a node that locks ${first} and then ${second} does not make it fail`, async () => {
      await migrateTo(10);
      await client.query('begin');
      await client.query("set local deadlock_timeout = '1min'"); // Let the migration detect the deadlock.
      await client.query(`select from ringback.${first}`);
      const migrating = migrateTo(11);
      await until(async () => (await database.query(waiting)).length === 1);
      await client.query(`select from ringback.${second}`);
      await client.query('commit');
      assert.deepEqual(await migrating, [{ number: 11, name: 'controls' }]);
    });
  }

  it('it does not retry forever', async () => {
    await migrateTo(10);
    await database.query('create sequence ringback.tries');
    copy(
      11,
      `select nextval('tries');
       do $$ begin raise 'in the way' using errcode = 'deadlock_detected'; end $$`,
    );
    await assert.rejects(migrateAll(), /migration 11 "controls" failed: in the way/);
    const tries = await database.query('select last_value::int as tries from ringback.tries');
    assert.deepEqual(tries, [{ tries: limits.migrationTriesMax }]);
    copy(11);
    assert.deepEqual(await migrateAll(), [{ number: 11, name: 'controls' }]);
  });

  interface Held {
    name: string;
    mode: string;
  }

  const waiting = `select pid from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;

  /** The locks of a migration while it waits for another lock. */
  async function heldBy(number: number, lock: string): Promise<Held[]> {
    await client.query('begin');
    await client.query(lock);
    const migrating = migrateTo(number);
    await until(async () => (await database.query(waiting)).length === 1);
    const rows = await database.query(`
      select relname as name, mode from pg_locks join pg_class on pg_class.oid = relation
      where granted and pid in (${waiting}) order by name, mode`);
    await client.query('commit');
    await migrating;
    return rows.map(({ name, mode }) => ({ name: String(name), mode: String(mode) }));
  }

  async function migrateTo(number: number): Promise<AppliedMigration[]> {
    for (let each = 1; each <= number; each += 1) copy(each);
    return migrateAll();
  }

  async function migrateAll(): Promise<AppliedMigration[]> {
    return applyMigrations({ url: database.url, migrationsDir, nowMs });
  }

  /** Copies a migration, with additional SQL in its transaction. */
  function copy(number: number, more = ''): void {
    const digits = String(number).padStart(4, '0');
    const name = readdirSync(postgresMigrationsDir).find((file) => file.startsWith(digits));
    assert(name);
    const sql = readFileSync(join(postgresMigrationsDir, name), 'utf8');
    writeFileSync(join(migrationsDir, name), `${sql}${more}`);
  }

  function isStrong({ mode }: Held): boolean {
    return mode !== 'AccessShareLock';
  }

  function isOf(...names: readonly string[]): (held: Held) => boolean {
    return ({ name }) => names.includes(name);
  }
});

/** Records table scans inside the transaction, because the shared statistics are delayed. */
function noteScans(number: number): string {
  return `
    insert into scanned select ${number}, relname from pg_stat_xact_user_tables
    where schemaname = 'ringback' and seq_scan > 0 and relname not in ('migration', 'notice', 'scanned')`;
}

function onLost(error: Error): void {
  throw error;
}
