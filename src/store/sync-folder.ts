// Puts the names in a folder on stable storage. Syncing a file saves its bytes; that it can be found again
// after a power cut is promised only for a folder that was synced as well.
import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Makes a folder that only its owner may read, with those above it, unless it is there. */
export function makeLastingFolder(path: string): void {
  const first = mkdirSync(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  const above = dirname(resolve(first));
  for (let made = resolve(path); made !== above; made = dirname(made)) syncFolder(dirname(made));
}

export function syncFolder(path: string): void {
  let folder: number | undefined;
  try {
    folder = openSync(path, 'r');
    fsyncSync(folder);
  } catch (error) {
    // Not every system can open or sync a folder, and there nobody promises more. A disk that fails can.
    if (error instanceof Error && 'code' in error && error.code === 'EIO') throw error;
  } finally {
    if (folder !== undefined) closeSync(folder);
  }
}
