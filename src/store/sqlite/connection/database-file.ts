// Keeps the database file this process's own: no other process opens it, and it stays in its place.
// The lock is an exclusive transaction on a database of its own beside the data, held for
// the life of the process. The kernel releases it however the process dies, so it is never stale.
import { DatabaseSync } from 'node:sqlite';
import { statSync } from 'node:fs';
import { CannotOpenStore } from '../../port/store.ts';
import { createPrivate } from './connect.ts';
import { isBusy, unavailable } from './failure.ts';
import type { StoreFailure } from '../../port/transport-protocol.ts';

export interface Lock {
  release(): void;
}

/** Takes the lock of the database at `path`, or fails at once when another process holds it. */
export function takeLock(path: string): Lock {
  const lockPath = `${path}.lock`;
  createPrivate(lockPath);
  const db = new DatabaseSync(lockPath, { timeout: 0 });
  try {
    db.exec('pragma journal_mode = memory'); // Nothing is ever written, so it needs no journal file.
    db.exec('begin exclusive');
  } catch (error) {
    db.close();
    if (!isBusy(error)) throw error;
    throw new CannotOpenStore(
      'in_use',
      `Cannot open "${path}": another Ringback process is using it. Stop that process, or ` +
        'use a separate data folder',
    );
  }
  return { release: () => db.close() };
}

// Checks that the files a connection writes are still those that the next start would open. SQLite
// silently keeps writing to a file that was deleted or moved, and everything it commits then is
// lost.

/**
 * Undefined: they are. Checked before and after each transaction; this costs microseconds of its
 * milliseconds.
 */
export type FileIdentity = () => StoreFailure | undefined;

export const alwaysSameFile: FileIdentity = () => undefined;

/** `path`: of an open database. */
export function watchFile(path: string): FileIdentity {
  const known = new Map<string, string>();
  const isThere = (file: string): boolean => {
    const found = statSync(file, { throwIfNoEntry: false });
    const name = found && `${found.dev} ${found.ino}`;
    const before = known.get(file);
    if (before === undefined && name !== undefined) known.set(file, name);
    return before === undefined || before === name;
  };
  isThere(path);
  return () => {
    let gone: string | undefined;
    try {
      gone = [path, `${path}-wal`].find((file) => !isThere(file));
    } catch (error) {
      return unavailable(error); // The disk or the folder cannot be read now.
    }
    if (gone === undefined) return undefined;
    const message =
      `"${gone}" was deleted, moved or replaced while it was open: restore the file, or ` +
      'stop the service and restore a backup. When it stops, the service saves what it can';
    return { kind: 'unavailable', message, trace: '' };
  };
}
