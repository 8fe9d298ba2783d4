// Detects a data folder whose database is gone. SQLite would create an empty one, and a service
// that lost everything would look like a new one. So files that only a database leaves behind are
// taken as a sign that one is missing.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CannotOpenStore } from '../../port/cannot-open-store.ts';

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
