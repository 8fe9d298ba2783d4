// Examines a database file without changing it, even while a service is using it.
import { existsSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { limits } from '../../../core/limits/limits.ts';
import type { AppliedMigration } from '../../sql/migration-rules.ts';
import { bytes, integer, maybe } from '../../sql/row.ts';
import { readDueMigrations } from './apply-migrations.ts';
import { connect } from '../connection/connect.ts';
import { isBusy } from '../connection/failure.ts';

export interface Examined {
  fileBytes: number;
  /** A service has the database open. */
  isInUse: boolean;
  due: readonly AppliedMigration[];
  /** `unchecked`: the file is so large that the check would take too long. */
  state: 'sound' | 'unchecked' | { damage: string };
  /** The last heartbeat of a node, by the clock of that time. */
  lastSeenMs: number | undefined;
  /** The value of a shared setting, see store/verbs/accounts/settings.ts. */
  setting: (name: string) => Uint8Array | undefined;
}

/** Throws CannotOpenStore when the database is newer than the program, and SQLite's own errors. */
export function examine({
  path,
  migrationsDir,
}: {
  path: string;
  migrationsDir: string;
}): Examined {
  const isInUse = hasLock(path);
  const due = readDueMigrations({ path, migrationsDir });
  const fileBytes = statSync(path).size;
  const db = connect({ path, access: 'read' });
  try {
    const has = (table: string): boolean =>
      db.prepare('select 1 from sqlite_schema where name = ?').get(table) !== undefined;
    const seen = has('node') ? db.prepare('select max(seen_ms) as ms from node').get() : undefined;
    const settings = has('setting') ? db.prepare('select name, value from setting').all() : [];
    return {
      fileBytes,
      isInUse,
      due,
      state: fileBytes > limits.doctorFileBytesMax ? 'unchecked' : soundness(db),
      lastSeenMs: seen && maybe(integer, seen, 'ms'),
      setting: (name) => {
        const row = settings.find((one) => one['name'] === name);
        return row && bytes(row, 'value');
      },
    };
  } finally {
    db.close();
  }
}

function soundness(db: DatabaseSync): Examined['state'] {
  const found = String(db.prepare('pragma quick_check(1)').get()?.['quick_check']);
  return found === 'ok' ? 'sound' : { damage: found };
}

/** A process holds the lock for life, which also blocks reads of the lock file; see database-file.ts. */
function hasLock(path: string): boolean {
  const lockPath = `${path}.lock`;
  if (!existsSync(lockPath)) return false;
  const db = new DatabaseSync(lockPath, { timeout: 0, readOnly: true });
  try {
    db.prepare('select count(*) from sqlite_schema').get();
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw error;
  } finally {
    db.close();
  }
}
