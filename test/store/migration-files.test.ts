// Applied migrations must never change: their files are frozen and databases record their hashes. A database from before
// the hashes is compared with the schema of its release.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import {
  migrationHash,
  readMigrations,
  lastUnhashed,
  schemaColumns,
} from '../../src/store/sql/migration-rules.ts';
import { migrationsDir } from '../../src/store/open/open.ts';
import {
  applyMigrations as applyToServer,
  columnsOf as columnsOfServer,
  readDueMigrations as dueOnServer,
} from '../../src/store/postgres/schema/apply-migrations.ts';
import { connect } from '../../src/store/postgres/connection/connect.ts';
import { postgresMigrationsDir } from '../../src/store/postgres/batch/adapter.ts';
import {
  applyMigrations,
  columnsOf,
  readDueMigrations,
} from '../../src/store/sqlite/schema/apply-migrations.ts';
import { frozenMigrations, frozenPath } from '../../tools/freeze-migrations.ts';
import { freshDatabase, type Database } from '../postgres/database.ts';
import { runHere } from '../cli/in-process.ts';

const nowMs = Date.UTC(2026, 10, 15, 12);

interface Folder extends Disposable {
  path: string;
}

function newFolder(): Folder {
  const path = mkdtempSync(join(tmpdir(), 'ringback-migrations-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) };
}

/** Copies the first `count` migrations, as an earlier release had them. */
function earlier(folder: Folder, { from, count }: { from: string; count: number }): string {
  const dir = join(folder.path, 'earlier');
  for (const { number, name } of readMigrations(from).slice(0, count)) {
    const file = `${String(number).padStart(4, '0')}_${name}.sql`;
    cpSync(join(from, file), join(dir, file));
  }
  return dir;
}

describe('the list of migrations', () => {
  it('matches the files: `npm run docs` adds rows, but refuses to change one', () => {
    assert.equal(readFileSync(frozenPath, 'utf8'), frozenMigrations());
  });

  it('is not written if a file was changed or deleted, and the error names it', () => {
    using folder = newFolder();
    cpSync(join(migrationsDir, '..'), folder.path, { recursive: true });
    const file = join(folder.path, 'sqlite', '0007_session.sql');
    const sql = readFileSync(file, 'utf8');
    writeFileSync(file, `${sql}-- edited\n`);
    const changed =
      /^Cannot change migration "sqlite\/0007_session.sql": found \w{64}, expected \w{64}/;
    assert.throws(() => frozenMigrations(folder.path), { message: changed });
    rmSync(file);
    assert.throws(() => frozenMigrations(folder.path), { message: /found no file, expected/ });
    writeFileSync(file, sql.replaceAll('\n', '\r\n'));
    assert.equal(
      frozenMigrations(folder.path),
      readFileSync(frozenPath, 'utf8'),
      'a checkout on Windows',
    );
    writeFileSync(join(folder.path, 'sqlite', '9999_next.sql'), 'select 1;');
    assert.match(frozenMigrations(folder.path), /^\w{64} {2}sqlite\/9999_next.sql$/m);
  });
});

describe('a database on SQLite', () => {
  /** A database at migration `count`, as a release before the hashes left it. */
  function unhashed(folder: Folder, count: number): { path: string; db: DatabaseSync } {
    const path = join(folder.path, 'ringback.db');
    const db = new DatabaseSync(path);
    const dir = earlier(folder, { from: migrationsDir, count });
    applyMigrations(db, { database: path, migrationsDir: dir, nowMs });
    db.exec('alter table migration drop column hash');
    return { path, db };
  }

  const hashes = (db: DatabaseSync): unknown[] =>
    db
      .prepare('select hash from migration order by number')
      .all()
      .map((row) => row['hash']);
  const expected = readMigrations(migrationsDir).map(({ sql }) => migrationHash(sql));

  it('records the hash of each migration, including those applied earlier', () => {
    for (const count of [1, lastUnhashed - 1, lastUnhashed]) {
      using folder = newFolder();
      const { path, db } = unhashed(folder, count);
      applyMigrations(db, { database: path, migrationsDir, nowMs });
      assert.deepEqual(hashes(db), expected, `from ${count}`);
      db.close();
      assert.deepEqual(readDueMigrations({ path, migrationsDir }), []);
    }
  });

  it('is refused by serve, migrate and doctor if an applied migration was changed', async () => {
    using folder = newFolder();
    const path = join(folder.path, 'ringback.db');
    const db = new DatabaseSync(path);
    applyMigrations(db, { database: path, migrationsDir, nowMs });
    db.exec(`update migration set hash = '${'0'.repeat(64)}' where number = 7`);
    db.close();
    const reason =
      /migration 7 "session" was applied with hash 000000000000, but this program has it with \w{12}: the file was changed in between. Start the Ringback that applied it, restore a backup/;
    for (const args of [['migrate', '--check'], ['migrate'], ['serve']]) {
      const { code, err } = await runHere([...args, '--data', folder.path]);
      assert.equal(code, 1, args.join(' '));
      assert.match(err, reason);
      assert.doesNotMatch(err, /^\s+at /m);
    }
    const { code, out } = await runHere(['doctor', '--data', folder.path, '--json']);
    assert.equal(code, 1);
    const found = (JSON.parse(out) as { check: string; state: string; message: string }[]).find(
      ({ check }) => check === 'schema',
    );
    assert.equal(found?.state, 'failed');
    assert.match(found.message, reason);
  });

  it('without hashes is refused unless its tables are those of a release', () => {
    using folder = newFolder();
    const { path, db } = unhashed(folder, lastUnhashed);
    db.exec('alter table subscription drop column filter; create index mine on event (name)');
    const refusal = {
      name: 'CannotOpenStore',
      code: 'bad_migrations',
      message:
        /it is at migration 18, but lacks column subscription.filter text. It was created by a development version/,
    };
    assert.throws(() => readDueMigrations({ path, migrationsDir }), refusal);
    assert.throws(() => applyMigrations(db, { database: path, migrationsDir, nowMs }), refusal);
    assert.deepEqual(
      hashes(db).filter((hash) => hash !== null),
      [],
      'nothing is recorded',
    );
    db.exec('alter table subscription add column filter text');
    applyMigrations(db, { database: path, migrationsDir, nowMs });
    assert.deepEqual(hashes(db), expected, 'objects added by an operator are allowed');
    db.close();
  });

  it('has the expected columns and indexes at migration 18', () => {
    using folder = newFolder();
    const { db } = unhashed(folder, lastUnhashed);
    assert.deepEqual(schemaColumns('sqlite'), columnsOf(db).sort());
    db.close();
  });
});

describe('a database on PostgreSQL', () => {
  async function unhashed(database: Database, folder: Folder, count: number): Promise<void> {
    const dir = earlier(folder, { from: postgresMigrationsDir, count });
    await applyToServer({ url: database.url, migrationsDir: dir, nowMs });
    await database.query('alter table ringback.migration drop column hash');
  }

  const options = (database: Database) => ({
    url: database.url,
    migrationsDir: postgresMigrationsDir,
    nowMs,
  });
  const hashes = async (database: Database): Promise<unknown[]> =>
    (await database.query('select hash from ringback.migration order by number')).map(
      ({ hash }) => hash,
    );
  const expected = readMigrations(postgresMigrationsDir).map(({ sql }) => migrationHash(sql));

  it('records the hash of each migration, including those applied earlier', async () => {
    for (const count of [2, lastUnhashed]) {
      using folder = newFolder();
      await using database = await freshDatabase();
      await unhashed(database, folder, count);
      await applyToServer(options(database));
      assert.deepEqual(await hashes(database), expected, `from ${count}`);
    }
  });

  it('is refused if an applied migration was changed', async () => {
    await using database = await freshDatabase();
    await applyToServer(options(database));
    await database.query("update ringback.migration set hash = 'no' where number = 7");
    const refusal = {
      code: 'bad_migrations',
      message:
        /^Cannot open "postgres.*": migration 7 "session" was applied with hash no, but this program/,
    };
    await assert.rejects(applyToServer(options(database)), refusal);
    await assert.rejects(dueOnServer(options(database)), refusal);
  });

  it('without hashes is refused unless its tables are those of a release', async () => {
    using folder = newFolder();
    await using database = await freshDatabase();
    await unhashed(database, folder, lastUnhashed);
    await database.query('alter table ringback.subscription drop column filter');
    const refusal = { code: 'bad_migrations', message: /lacks column subscription.filter text/ };
    await assert.rejects(dueOnServer(options(database)), refusal);
    await assert.rejects(applyToServer(options(database)), refusal);
  });

  it('has the expected columns at migration 18', async () => {
    using folder = newFolder();
    await using database = await freshDatabase();
    await unhashed(database, folder, lastUnhashed);
    const { url } = database;
    const client = await connect({ url, kind: 'schema', purpose: 'test', onLost: () => {} });
    try {
      assert.deepEqual(schemaColumns('postgres'), (await columnsOfServer(client)).sort());
    } finally {
      await client.end();
    }
  });
});
