// The key that wraps signing secrets, where the operator sets none: made once, in a file of its own
// beside the database, so that a copied database alone opens nothing.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { World } from '../core/world.ts';
import { CannotOpenStore } from './cannot-open-store.ts';
import { makeLastingFolder, syncFolder } from './sync-folder.ts';

export const encryptionKeyBytes = 32;

export interface KeyFile {
  path: string;
  key: Uint8Array;
  /** The file was not there before. */
  isNew: boolean;
}

/** Where the key is, if it is there. */
export function keyFileIn(dataDir: string): string {
  return join(dataDir, 'encryption.key');
}

/** For whoever holds the store's lock: nobody else may be making one. */
export function readOrMakeKeyFile(dataDir: string, world: Pick<World, 'randomBytes'>): KeyFile {
  const path = keyFileIn(dataDir);
  if (existsSync(path)) return { path, key: readKeyFile(path), isNew: false };
  makeLastingFolder(dataDir);
  const key = Buffer.from(world.randomBytes(encryptionKeyBytes));
  // Under another name first: a crash in its middle would leave a file that is no key, and no start would
  // ever get past it. And a key whose name is lost in a power cut opens no secret any more.
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
