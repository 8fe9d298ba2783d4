// Puts the names in a folder on stable storage. Syncing a file saves its bytes, but only syncing
// its folder guarantees that the file can be found after a power cut.
import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Creates a folder that only its owner may read, with its parents, unless it exists. */
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
    // Some systems cannot open or sync a folder, and guarantee no more than this. A failing disk is
    // an error.
    if (error instanceof Error && 'code' in error && error.code === 'EIO') throw error;
  } finally {
    if (folder !== undefined) closeSync(folder);
  }
}
