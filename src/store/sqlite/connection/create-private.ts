// Creates an empty file that only its owner may read, unless it exists. SQLite gives its WAL and
// index files the same mode. An existing file must not even be opened: closing it would drop every
// lock that this process holds on it.
import { closeSync, openSync } from 'node:fs';

export function createPrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    const exists = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    if (!exists) throw error;
  }
}
