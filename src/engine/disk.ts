// How much room the data folder has, and how much the database takes. Asked for at a scrape or by the
// doctor; nothing is ever touched.
import { stat, statfs } from 'node:fs/promises';
import { databaseIn, type Database } from '../store/open.ts';

export interface Disk {
  freeBytes: number;
  totalBytes: number;
  /** The database with its log. */
  usedBytes: number;
}

/** Undefined where there is no folder. */
export async function diskOf(database: Database): Promise<Disk | undefined> {
  if ('url' in database || database.dataDir === ':memory:') return undefined;
  return readDisk(database.dataDir);
}

async function readDisk(dataDir: string): Promise<Disk> {
  const path = databaseIn(dataDir);
  const [{ bsize, bavail, blocks }, ...sizes] = await Promise.all([
    statfs(dataDir),
    sizeOf(path),
    sizeOf(`${path}-wal`),
  ]);
  const usedBytes = sizes.reduce((sum, size) => sum + size, 0);
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize, usedBytes };
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0, // Not there.
  );
}
