// Checks that the files a connection writes are still those that the next start would open. SQLite
// silently keeps writing to a file that was deleted or moved, and everything it commits then is
// lost.
import { statSync } from 'node:fs';
import type { StoreFailure } from '../../port/transport-protocol.ts';
import { unavailable } from './failure.ts';

/**
 * Undefined: they are. Checked before and after each transaction; this costs microseconds of its
 * milliseconds.
 */
export type FileIdentity = () => StoreFailure | undefined;

export const alwaysSameFile: FileIdentity = () => undefined;

/** `path`: of an open database. */
export function watchFile(path: string): FileIdentity {
  const known = new Map<string, string>();
  const isThere = (file: string): boolean => {
    const found = statSync(file, { throwIfNoEntry: false });
    const name = found && `${found.dev} ${found.ino}`;
    const before = known.get(file);
    if (before === undefined && name !== undefined) known.set(file, name);
    return before === undefined || before === name;
  };
  isThere(path);
  return () => {
    let gone: string | undefined;
    try {
      gone = [path, `${path}-wal`].find((file) => !isThere(file));
    } catch (error) {
      return unavailable(error); // The disk or the folder cannot be read now.
    }
    if (gone === undefined) return undefined;
    const message =
      `"${gone}" was deleted, moved or replaced while it was open: restore the file, or ` +
      'stop the service and restore a backup. When it stops, the service saves what it can';
    return { kind: 'unavailable', message, trace: '' };
  };
}
