// Backups of a SQLite file: a complete, private and checked copy, or nothing at all.
import { strict as assert } from 'node:assert';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { openSqlite } from '../../src/store/sqlite/batch/adapter.ts';
import { backUp, CannotBackUp } from '../../src/store/sqlite/backup/backup.ts';
import { migrationsDir, openMemory } from './open-memory.ts';

const start = { name: 'here', role: 'all', version: '1', aloneHere: true } as const;

describe('backUp', () => {
  let folder = '';
  let path = '';
  let file = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ringback-backup-'));
    path = join(folder, 'ringback.db');
    file = join(folder, 'copy.db');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const migrated = (): void => openSqlite({ path, migrationsDir, nowMs: 1 }).close();
  const refused = (pattern: RegExp, to = file): void => {
    assert.throws(
      () => backUp({ path, file: to }),
      (error) => error instanceof CannotBackUp && pattern.test(error.message),
    );
  };

  it('creates a private copy at the same migration, which opens as a store', () => {
    migrated();
    const { bytes, schema } = backUp({ path, file });
    assert.equal(schema, readdirSync(migrationsDir).length);
    const { size, mode } = statSync(file);
    assert.deepEqual([size, mode & 0o777], [bytes, 0o600]);
    openSqlite({ path: file, migrationsDir, nowMs: 1 }).close();
  });

  it('includes the log of a killed process, and numbers are not reused', () => {
    const db = new DatabaseSync(path);
    db.exec('pragma journal_mode = wal');
    const opened = openMemory(db);
    const { node } = opened.edit('startNode', start);
    db.exec('delete from node');
    // The files at this moment, without a checkpoint.
    const killed = join(folder, 'killed');
    mkdirSync(killed);
    for (const end of ['', '-wal']) {
      writeFileSync(join(killed, `ringback.db${end}`), readFileSync(path + end));
    }
    db.close();
    path = join(killed, 'ringback.db');
    backUp({ path, file });
    const copy = openMemory(new DatabaseSync(file));
    assert(copy.edit('startNode', start).node > node);
  });

  it('is a consistent snapshot while another connection writes', () => {
    migrated();
    const db = new DatabaseSync(path);
    const put = db.prepare("insert into setting (name, value) values (?, x'01')");
    put.run('before');
    db.exec('begin immediate');
    put.run('not yet');
    backUp({ path, file });
    db.exec('commit');
    db.close();
    const copy = new DatabaseSync(file);
    const found = copy.prepare('select name from setting').all();
    copy.close();
    assert.deepEqual(
      found.map(({ name }) => name),
      ['before'],
    );
  });

  it('does not overwrite existing files', () => {
    migrated();
    writeFileSync(file, 'dear to somebody');
    refused(/^Cannot back up to ".*copy\.db": the file already exists$/);
    assert.equal(readFileSync(file, 'utf8'), 'dear to somebody');
    rmSync(file);
    writeFileSync(`${file}.part`, 'of another backup');
    refused(/copy\.db\.part" exists: a backup is running, or one was interrupted/);
    assert.equal(readFileSync(`${file}.part`, 'utf8'), 'of another backup');
    assert.ok(!existsSync(file));
  });

  it('reports a missing folder', () => {
    migrated();
    refused(/^Cannot back up to ".*copy\.db": ENOENT/, join(folder, 'none', 'copy.db'));
  });

  it('leaves no files if the copy fails or is not a store', () => {
    writeFileSync(path, 'this is no database, it is a text of some length');
    refused(/file is not a database/);
    rmSync(path);
    new DatabaseSync(path).exec('create table other (a)');
    refused(/no such table: migration/);
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.startsWith('copy')),
      [],
    );
  });

  it('reports a damaged database', () => {
    migrated();
    const bytes = readFileSync(path);
    const pageBytes = 4_096;
    bytes.fill(0xff, 8 * pageBytes, 9 * pageBytes);
    writeFileSync(path, bytes);
    refused(/Cannot back up/);
    assert.ok(!existsSync(file));
  });
});
