// The embedded store's folder, files and connections.
import { strict as assert } from 'node:assert';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { realWorld } from '../../src/core/base/world.ts';
import { openEmbedded } from '../../src/store/open/open.ts';
import { openSqlite } from '../../src/store/sqlite/batch/adapter.ts';
import { connect } from '../../src/store/sqlite/connection/connect.ts';
import { watchFile } from '../../src/store/sqlite/connection/database-file.ts';
import type { Store } from '../../src/store/port/store.ts';
import { newApp } from './subject.ts';
import { migrationsDir } from './open-memory.ts';

let root: string;
const opened: Store[] = [];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'ringback-'));
});
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
  rmSync(root, { recursive: true });
});

describe('connect', () => {
  it('applies the settings that durability depends on', () => {
    const db = connect({ path: join(root, 'x.db'), access: 'write' });
    assert.deepEqual(pragmas(db), {
      journal_mode: 'wal',
      synchronous: 2, // full
      foreign_keys: 1,
      busy_timeout: 5000,
      wal_autocheckpoint: 4000,
      trusted_schema: 0,
    });
    db.close();
  });

  it('cannot write through a read-only connection', () => {
    const path = join(root, 'x.db');
    const db = connect({ path, access: 'write' });
    db.exec('create table t (a integer) strict');
    const reader = connect({ path, access: 'read' });
    assert.throws(() => reader.exec('insert into t values (1)'), { message: /readonly/ });
    const { busy_timeout, trusted_schema, foreign_keys } = pragmas(reader);
    assert.deepEqual(
      { busy_timeout, trusted_schema, foreign_keys },
      { busy_timeout: 5000, trusted_schema: 0, foreign_keys: 1 },
    );
    reader.close();
    db.close();
  });
});

describe('a database whose files are moved away while it is open', () => {
  const refused = { name: 'StoreUnavailable', message: /deleted, moved or replaced/ };

  it('refuses edits until they are moved back', async () => {
    const dataDir = join(root, 'data');
    const path = join(dataDir, 'ringback.db');
    const store = await open(dataDir);
    await newApp(store);
    renameSync(path, `${path}.away`);
    await assert.rejects(newApp(store), refused);
    writeFileSync(path, '');
    await assert.rejects(newApp(store), refused);
    renameSync(`${path}.away`, path);
    await newApp(store);
  });

  it('refuses edits without its log, and loses nothing when it is closed', async () => {
    const dataDir = join(root, 'data');
    const store = await open(dataDir);
    const app = await newApp(store);
    rmSync(join(dataDir, 'ringback.db-wal'));
    await assert.rejects(newApp(store), refused);
    await store.close();
    const again = await open(dataDir);
    const { items } = await again.read('apps', { page: { limit: 10, after: undefined } });
    assert.deepEqual(
      items.map(({ id }) => id),
      [app.id],
    );
  });
});

describe('openEmbedded', () => {
  it('creates the folder and the files for the owner only', async () => {
    const dataDir = join(root, 'deep', 'data');
    const store = await open(dataDir);
    await newApp(store);
    assert.equal(modeOf(dataDir), 0o700);
    const files = readdirSync(dataDir).sort();
    assert.deepEqual(files, [
      'ringback.db',
      'ringback.db-shm',
      'ringback.db-wal',
      'ringback.db.lock',
    ]);
    for (const file of files) assert.equal(modeOf(join(dataDir, file)), 0o600, file);
    await store.close();
    assert.deepEqual(readdirSync(dataDir).sort(), ['ringback.db', 'ringback.db.lock']);
  });

  it('opens the files of an earlier start', async () => {
    const first = await open(root);
    const app = await newApp(first);
    await first.close();
    const second = await open(root);
    assert.deepEqual(await second.read('app', { id: app.id }), app);
    await second.close();
  });

  it('refuses a database of a newer release, and closes it', async () => {
    await (await open(root)).close();
    const path = join(root, 'ringback.db');
    const known = readdirSync(migrationsDir).length;
    const db = new DatabaseSync(path);
    db.exec(`insert into migration (number, name, applied_ms) values (${known + 1}, 'later', 1)`);
    db.close();
    await assert.rejects(open(root), {
      name: 'CannotOpenStore',
      code: 'newer_schema',
      message:
        `Cannot open "${path}": it is at migration ${known + 1}, and this program knows ` +
        `migrations up to ${known}. Start the newer Ringback that wrote it`,
    });
    const again = new DatabaseSync(path);
    again.exec(`delete from migration where number = ${known + 1}`);
    again.close();
    await (await open(root)).close();
  });

  it('refuses a file that is not a database', async () => {
    writeFileSync(join(root, 'ringback.db'), 'this is a diary, dear reader. '.repeat(100));
    await assert.rejects(open(root), {
      name: 'CannotOpenStore',
      code: 'failed',
      message: /^Cannot open ".*ringback\.db": file is not a database/,
    });
  });

  it('refuses a folder that cannot be created', async () => {
    writeFileSync(join(root, 'file'), '');
    await assert.rejects(open(join(root, 'file', 'data')), {
      name: 'CannotOpenStore',
      code: 'failed',
      message: /^Cannot create the data folder/,
    });
  });
});

describe('openSqlite', () => {
  it('rolls back a failed migration, and names it', () => {
    const dir = join(root, 'migrations');
    const path = join(root, 'x.db');
    writeMigrations(dir, { '0001_init.sql': 'create table a (b text) strict; create tabel c;' });
    assert.throws(() => openSqlite({ path, migrationsDir: dir, nowMs: 1 }), {
      code: 'failed',
      message: /^Cannot open ".*x\.db": migration 1 "init" failed: near "tabel"/,
    });
    const db = new DatabaseSync(path);
    const tables = db.prepare("select name from sqlite_schema where type = 'table'").all();
    assert.deepEqual(
      tables.map(({ name }) => name),
      ['migration'],
    );
    db.close();
  });
});

async function open(dataDir: string): Promise<Store> {
  const onFatal = (error: Error) => {
    throw error;
  };
  const store = await openEmbedded({ dataDir, world: realWorld(), onFatal });
  opened.push(store);
  return store;
}

function writeMigrations(dir: string, files: Record<string, string>): void {
  mkdirSync(dir);
  for (const [name, sql] of Object.entries(files)) writeFileSync(join(dir, name), sql);
}

function pragmas(db: DatabaseSync): Record<string, unknown> {
  const names = [
    'journal_mode',
    'synchronous',
    'foreign_keys',
    'busy_timeout',
    'wal_autocheckpoint',
    'trusted_schema',
  ];
  return Object.fromEntries(
    names.map((name) => [name, Object.values(db.prepare(`pragma ${name}`).get() ?? {})[0]]),
  );
}

function modeOf(path: string): number {
  return statSync(path).mode & 0o777;
}

describe('watchFile', () => {
  it('reports unavailable if the files cannot be checked', () => {
    const folder = join(root, 'folder');
    mkdirSync(folder);
    const path = join(folder, 'ringback.db');
    writeFileSync(path, '');
    const checkFile = watchFile(path);
    assert.equal(checkFile(), undefined);
    renameSync(folder, join(root, 'elsewhere'));
    writeFileSync(folder, ''); // Now the path leads through a file, which is an error, not absence.
    assert.equal(checkFile()?.kind, 'unavailable');
  });
});
