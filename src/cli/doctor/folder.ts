// Checks the data folder of SQLite: whether it is writable, fsync works, and there is free space.
import { closeSync, existsSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { failed, ok, reasonOf, warning, type Finding } from './finding.ts';

const freeBytesEnough = 2 ** 30;
const freeBytesLeast = 100 * 2 ** 20;

/** Writes a file, syncs it, and deletes it again. Does not create a missing folder. */
export function checkFolder(dataDir: string): Finding {
  const folder = existingOf(dataDir);
  const probe = join(folder, `.ringback-doctor-${process.pid}`);
  try {
    const file = openSync(probe, 'wx', 0o600);
    try {
      writeSync(file, 'written by ringback doctor; safe to delete\n');
      fsyncSync(file);
    } finally {
      closeSync(file);
      rmSync(probe, { force: true });
    }
  } catch (error) {
    return failed('folder', {
      message: `Cannot write to "${folder}": ${reasonOf(error)}`,
      remedy:
        'Make the folder writable for the user that runs Ringback, or set RINGBACK_DATA to ' +
        'another one',
    });
  }
  const isThere = existsSync(dataDir);
  const message = isThere ? 'is writable' : 'does not exist yet; the first start creates it';
  return ok('folder', `"${dataDir}" ${message}`);
}

export async function checkDisk(dataDir: string): Promise<Finding> {
  const { bsize, bavail } = await statfs(existingOf(dataDir));
  return judgeDisk(bsize * bavail);
}

export function judgeDisk(freeBytes: number): Finding {
  const message = `${(freeBytes / 1e9).toFixed(1)} GB free`;
  const remedy =
    'Free some space, or shorten RINGBACK_RETENTION: with a full disk, every publish ' +
    'returns 503';
  if (freeBytes < freeBytesLeast) return failed('disk', { message, remedy });
  return freeBytes < freeBytesEnough ? warning('disk', { message, remedy }) : ok('disk', message);
}

/** The folder, or its nearest existing ancestor. */
function existingOf(dataDir: string): string {
  let folder = resolve(dataDir);
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}
