// The key that seals signing secrets, if the operator sets none: generated once, in a file of its
// own beside the database, so that a copy of the database alone opens nothing.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { World } from '../../core/base/world.ts';
import { CannotOpenStore } from '../port/store.ts';
import { makeLastingFolder, syncFolder } from '../sqlite/connection/sync-folder.ts';

export const encryptionKeyBytes = 32;

export interface KeyFile {
  path: string;
  key: Uint8Array;
  /** The file did not exist before. */
  isNew: boolean;
}

/** The path of the key, whether it exists or not. */
export function keyFileIn(dataDir: string): string {
  return join(dataDir, 'encryption.key');
}

/** The caller must hold the store's lock, so that no other process creates a key. */
export function readOrMakeKeyFile(dataDir: string, world: Pick<World, 'randomBytes'>): KeyFile {
  const path = keyFileIn(dataDir);
  if (existsSync(path)) return { path, key: readKeyFile(path), isNew: false };
  makeLastingFolder(dataDir);
  const key = Buffer.from(world.randomBytes(encryptionKeyBytes));
  // Written under another name first: a crash in between would leave an incomplete key, and every
  // later start would fail. The folder is synced, because a key whose name is lost in a power cut
  // would make all secrets unreadable.
  const unfinished = `${path}.new`;
  writeFileSync(unfinished, `${key.toString('base64')}\n`, { mode: 0o600, flush: true });
  renameSync(unfinished, path);
  syncFolder(dataDir);
  return { path, key, isNew: true };
}

export function readKeyFile(path: string): Uint8Array {
  const key = Buffer.from(readFileSync(path, 'utf8').trim(), 'base64');
  if (key.length === encryptionKeyBytes) return key;
  const message = `Cannot read "${path}": it holds ${key.length} bytes, expected ${encryptionKeyBytes}`;
  throw new CannotOpenStore('failed', message);
}
