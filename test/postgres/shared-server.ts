// The PostgreSQL that ordinary tests share, each with its own database (database.ts). They must not stop
// or kill it: tests that do so use startPostgres().
import { existsSync, statfsSync } from 'node:fs';
import { startPostgres, type Postgres } from './server.ts';

let own: Promise<Postgres> | undefined;
let isApart = false;

/**
 * The URL of a server where databases may be created: the user's, or the one that the global setup
 * started, or one for this process alone, which ends with it.
 */
export async function sharedPostgres(): Promise<string> {
  const given = process.env['TEST_DATABASE_URL'];
  if (given !== undefined && given !== '' && !isApart) return given;
  own ??= startShared();
  return (await own).url();
}

/**
 * Gives this process its own server. For tests that count looks at a lane: an open transaction in any
 * database of the server, even of another test, keeps lanes lingering.
 */
export function keepApart(): void {
  isApart = true;
}

/**
 * `fsync` is off and the data may be in memory, because these tests do not simulate power cuts. A fresh
 * database takes 25 ms in memory and 140 ms on a disk (PostgreSQL 18, 2 cores), with or without fsync.
 */
export async function startShared(): Promise<Postgres> {
  const settings = {
    fsync: 'off',
    max_connections: '300',
    max_wal_size: '256MB',
    // Autovacuum's transactions would be counted, too.
    ...(isApart && { autovacuum: 'off' }),
  };
  return startPostgres(hasMemoryDisk() ? { settings, parent: memoryDisk } : { settings });
}

const memoryDisk = '/dev/shm';
const memoryBytesMin = 4 * 1024 ** 3;

/** Linux has one; in containers it is often too small (64 MB) to be used. */
function hasMemoryDisk(): boolean {
  if (!existsSync(memoryDisk)) return false;
  const { bavail, bsize } = statfsSync(memoryDisk);
  return bavail * bsize >= memoryBytesMin;
}
