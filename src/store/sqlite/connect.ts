// Opens a connection with every setting that a promise rests on, said aloud. No defaults are trusted.
import { DatabaseSync } from 'node:sqlite';
import { limits } from '../../core/limits.ts';

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
 * With `synchronous = normal` a power cut loses transactions that were answered (196 of 232 rebuilt
 * disk images did; with `full` none of 232), so it is `full` and group commit pays for it.
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
