// Opens a connection and sets every option that durability or correctness depends on. Defaults are
// never trusted.
import { DatabaseSync } from 'node:sqlite';
import { limits } from '../../../core/limits/limits.ts';

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
