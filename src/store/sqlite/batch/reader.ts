// Synchronous reads on a connection, each in one snapshot.
import type { DatabaseSync } from 'node:sqlite';
import type { ReadCall, ReadReply } from '../../port/transport-protocol.ts';
import { CannotOpenStore } from '../../port/store.ts';
import { readScript } from '../../verbs/reads.ts';
import { connect } from '../connection/connect.ts';
import { adviceOn, storeFailure, verbFailure } from '../connection/failure.ts';
import { prepareScripts, prepareSteps } from '../transaction/run-script.ts';

export interface SqliteReader {
  read: (call: ReadCall) => ReadReply;
  /** The same, but pauses after each statement. One at a time, since it holds a transaction. */
  readInSteps: (call: ReadCall) => Generator<undefined, ReadReply>;
  close: () => void;
}

export interface ReaderOptions {
  /** The database file. */
  path: string;
}

/** Opens another connection for reads, beside the one of `openSqlite`. Throws CannotOpenStore. */
export function openSqliteReader({ path }: ReaderOptions): SqliteReader {
  return explained(path, () => {
    const db = connect({ path, access: 'read' });
    return closing(db, () => readerOn(db));
  });
}

export function readerOn(db: DatabaseSync): SqliteReader {
  const runScript = prepareScripts(db);
  const runInSteps = prepareSteps(db);
  const failed = ({ verb }: ReadCall, error: unknown): ReadReply => {
    if (db.isOpen && db.isTransaction) db.exec('rollback');
    return storeFailure(error) ?? verbFailure(verb, error);
  };
  return {
    read: (call) => {
      try {
        db.exec('begin'); // One snapshot for all statements of the read.
        const output = runScript(readScript(call));
        db.exec('commit');
        return { kind: 'done', output };
      } catch (error) {
        return failed(call, error);
      }
    },
    *readInSteps(call) {
      try {
        db.exec('begin');
        const output = yield* runInSteps(readScript(call));
        db.exec('commit');
        return { kind: 'done', output };
      } catch (error) {
        return failed(call, error);
      }
    },
    close: () => db.close(),
  };
}

/** Closes the connection if `body` fails. */
export function closing<T>(db: DatabaseSync, body: () => T): T {
  try {
    return body();
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Turns any error into CannotOpenStore. */
export function explained<T>(path: string, body: () => T): T {
  try {
    return body();
  } catch (error) {
    if (error instanceof CannotOpenStore) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    const message = `Cannot open "${path}": ${reason}${adviceOn(error)}`;
    throw new CannotOpenStore('failed', message, { cause: error });
  }
}
