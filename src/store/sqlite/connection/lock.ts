// The one-process lock: an exclusive transaction on a database of its own beside the data, held for
// the life of the process. The kernel releases it however the process dies, so it is never stale.
import { DatabaseSync } from 'node:sqlite';
import { CannotOpenStore } from '../../port/store.ts';
import { createPrivate } from './connect.ts';
import { isBusy } from './failure.ts';

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
