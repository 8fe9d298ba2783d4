// Migrations that go through the whole history: whom they keep from going on meanwhile. The history of a
// test is short, so another transaction stops the migration in the middle of it.
import { strict as assert } from 'node:assert';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { Client } from 'pg';
import { applyMigrations } from '../../src/store/postgres/apply-migrations.ts';
import { connect } from '../../src/store/postgres/connect.ts';
import { postgresMigrationsDir } from '../../src/store/postgres/transport.ts';
import { freshDatabase, type Database } from '../postgres/database.ts';
import { until } from './postgres-stage.ts';

const nowMs = Date.UTC(2026, 10, 15, 12);

describe('while a migration goes through the history', () => {
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

  it('lanes and subscriptions can be written as figures are counted', async () => {
    await migrateTo(5);
    const held = await heldBy(6, 'lock table ringback.event in access exclusive mode');
    assert.deepEqual(held.filter(isStrong).filter(isOf('lane', 'subscription')), []);
  });

  it('deliveries can be read as they get an index', async () => {
    await migrateTo(9);
    // The last of the indexes that are built.
    const held = await heldBy(10, 'lock table ringback.delivery_live in row exclusive mode');
    assert(held.some(isOf('delivery_done')), 'the other index is built');
    const exclusive = held.filter(({ mode }) => mode === 'AccessExclusiveLock');
    assert.deepEqual(exclusive.filter(isOf('delivery_done')), []);
  });

  interface Held {
    name: string;
    mode: string;
  }

  /** What a migration has locked when it waits for another lock. */
  async function heldBy(number: number, lock: string): Promise<Held[]> {
    await client.query('begin');
    await client.query(lock);
    const migrating = migrateTo(number);
    const waiting = `select pid from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    await until(async () => (await database.query(waiting)).length === 1);
    const rows = await database.query(`
      select relname as name, mode from pg_locks join pg_class on pg_class.oid = relation
      where granted and pid in (${waiting}) order by name, mode`);
    await client.query('commit');
    await migrating;
    return rows.map(({ name, mode }) => ({ name: String(name), mode: String(mode) }));
  }

  async function migrateTo(number: number): Promise<void> {
    for (const name of readdirSync(postgresMigrationsDir)) {
      const isDue = Number(name.slice(0, 4)) <= number;
      if (isDue) cpSync(join(postgresMigrationsDir, name), join(migrationsDir, name));
    }
    await applyMigrations({ url: database.url, migrationsDir, nowMs });
  }

  function isStrong({ mode }: Held): boolean {
    return mode !== 'AccessShareLock';
  }

  function isOf(...names: readonly string[]): (held: Held) => boolean {
    return ({ name }) => names.includes(name);
  }
});

function onLost(error: Error): void {
  throw error;
}
