// How much room the data folder has, and how much the database takes. Asked for at a scrape or by the
// doctor; nothing is ever touched.
import { stat, statfs } from 'node:fs/promises';
import { databaseIn } from '../store/open.ts';

export interface Disk {
  freeBytes: number;
  totalBytes: number;
  /** The database with its log. */
  usedBytes: number;
}

export async function readDisk(dataDir: string): Promise<Disk> {
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
