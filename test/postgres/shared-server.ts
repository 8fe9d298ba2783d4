// The one PostgreSQL that ordinary tests share, each with a database of its own on it (database.ts).
// Its tests must not stop or kill it: for that there is startPostgres().
import { existsSync, statfsSync } from 'node:fs';
import { startPostgres, type Postgres } from './server.ts';

let own: Promise<Postgres> | undefined;
let isApart = false;

/**
 * The URL of a server where databases may be made: the user's own or the one that the global setup
 * started, else one for this process alone, which ends with it.
 */
export async function sharedPostgres(): Promise<string> {
  const given = process.env['TEST_DATABASE_URL'];
  if (given !== undefined && given !== '' && !isApart) return given;
  own ??= startShared();
  return (await own).url();
}

/**
 * From now on this process has a server of its own. For tests that count looks at a lane: a
 * transaction that is open in any database of the server, even of another test, lets lanes linger.
 */
export function keepApart(): void {
  isApart = true;
}

/**
 * `fsync` is off and the data may be in memory: these tests do not pull the plug. A fresh database
 * takes 25 ms in memory and 140 ms on a disk (PostgreSQL 18, 2 cores), fsync or not.
 */
export async function startShared(): Promise<Postgres> {
  const settings = {
    fsync: 'off',
    max_connections: '300',
    max_wal_size: '256MB',
    // Its transactions are seen, too.
    ...(isApart && { autovacuum: 'off' }),
  };
  return startPostgres(hasMemoryDisk() ? { settings, parent: memoryDisk } : { settings });
}

const memoryDisk = '/dev/shm';
const memoryBytesMin = 4 * 1024 ** 3;

/** Linux has one; containers often make it too small (64 MB), and then it is not for us. */
function hasMemoryDisk(): boolean {
  if (!existsSync(memoryDisk)) return false;
  const { bavail, bsize } = statfsSync(memoryDisk);
  return bavail * bsize >= memoryBytesMin;
}
