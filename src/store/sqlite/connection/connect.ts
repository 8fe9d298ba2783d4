// Opens a connection and sets every option that durability or correctness depends on. Defaults are
// never trusted.
import { closeSync, openSync, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { limits } from '../../../core/limits/limits.ts';
import { CannotOpenStore } from '../../port/store.ts';

export interface ConnectOptions {
  path: string;
  access: 'write' | 'read';
}

export function connect({ path, access }: ConnectOptions): DatabaseSync {
  const db = new DatabaseSync(path, {
    readOnly: access === 'read',
    timeout: limits.storeBusyMs,
    enableForeignKeyConstraints: true,
    defensive: true,
  });
  try {
    db.exec('pragma trusted_schema = off');
    if (access === 'write') makeDurable(db, path);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/**
 * With `synchronous = normal` a power cut loses transactions that were already acknowledged: the
 * crash tests lose some in most disk images, and none with `full`. Group commit makes `full`
 * affordable.
 */
function makeDurable(db: DatabaseSync, path: string): void {
  const mode = db.prepare('pragma journal_mode = wal').get()?.['journal_mode'];
  const expected = path === ':memory:' ? 'memory' : 'wal';
  if (mode !== expected) {
    throw new Error(`its journal mode is "${String(mode)}", expected "${expected}"`);
  }
  db.exec('pragma synchronous = full');
  db.exec(`pragma wal_autocheckpoint = ${limits.storeLogPages}`);
}

// Creates an empty file that only its owner may read, unless it exists. SQLite gives its WAL and
// index files the same way. An existing file must not even be opened: closing it would drop every
// lock that this process holds on it.

export function createPrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    const exists = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    if (!exists) throw error;
  }
}

// Detects a data folder whose database is gone. SQLite would create an empty one, and a service
// that lost everything would look like a new one. So files that only a database leaves behind are
// taken as a sign that one is missing.

/** Throws CannotOpenStore when the database at `path` existed once and is missing. */
export function refuseMissing(path: string): void {
  if (existsSync(path)) return;
  const folder = dirname(path);
  const left = [join(folder, 'encryption.key'), `${path}-wal`, `${path}-shm`].filter((file) =>
    existsSync(file),
  );
  if (left.length === 0) return;
  throw new CannotOpenStore(
    'missing',
    `Cannot open "${path}": the file does not exist, but ${left.map((file) => `"${file}"`).join(', ')} ` +
      `${left.length === 1 ? 'does' : 'do'}. Restore the database file or a backup. To start with an empty ` +
      'database, move these files away or choose another data folder',
  );
}
