// Free space of the data folder and size of the database, for metrics and the doctor. Read-only.
import { stat, statfs } from 'node:fs/promises';
import { databaseIn, type Database } from '../../store/open/open.ts';

export interface Disk {
  freeBytes: number;
  totalBytes: number;
  /** The database and its write-ahead log. */
  usedBytes: number;
}

/** Undefined without a data folder. */
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
    () => 0, // The file does not exist.
  );
}
