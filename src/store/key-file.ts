// The key that wraps signing secrets, where the operator sets none: made once, in a file of its own
// beside the database, so that a copied database alone opens nothing.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { World } from '../core/world.ts';
import { CannotOpenStore } from './cannot-open-store.ts';

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

export function readOrMakeKeyFile(dataDir: string, world: Pick<World, 'randomBytes'>): KeyFile {
  const path = keyFileIn(dataDir);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const made = Buffer.from(world.randomBytes(encryptionKeyBytes));
  try {
    writeFileSync(path, `${made.toString('base64')}\n`, { flag: 'wx', mode: 0o600, flush: true });
    return { path, key: made, isNew: true };
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  return { path, key: readKeyFile(path), isNew: false };
}

export function readKeyFile(path: string): Uint8Array {
  const key = Buffer.from(readFileSync(path, 'utf8').trim(), 'base64');
  if (key.length === encryptionKeyBytes) return key;
  const message = `Cannot read "${path}": it holds ${key.length} bytes, expected ${encryptionKeyBytes}`;
  throw new CannotOpenStore('failed', message);
}
