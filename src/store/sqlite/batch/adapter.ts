// The SQLite store, synchronous: it has no clock, no thread and no promises. Time comes with the
// batch. A thread, a test or a simulation wraps it.
import type { DatabaseSync } from 'node:sqlite';
import { minuteOf } from '../../../core/telemetry/statistics.ts';
import type { Work } from '../../port/delivery-verbs.ts';
import {
  type Batch,
  type BatchReply,
  type StoreFailure,
  type WorkReply,
  asBatch,
  asWorkReply,
  type Transport,
  toError,
} from '../../port/transport-protocol.ts';
import { createStalledFanOuts, withFailures } from '../../rules/fan-outs.ts';
import { createPendingStatistics } from '../../statistics/pending-statistics.ts';
import { applyMigrations } from '../schema/apply-migrations.ts';
import { connect, createPrivate, refuseMissing } from '../connection/connect.ts';
import {
  alwaysSameFile,
  watchFile,
  type FileIdentity,
  takeLock,
  type Lock,
} from '../connection/database-file.ts';
import { prepareOutcomes } from '../deliver/settle.ts';
import { writeTogether, type Written } from '../transaction/transaction.ts';
import { neverRebase, prepareRebase, type Rebase } from '../upkeep/rebase-times.ts';
import { closing, explained, readerOn, type SqliteReader } from './reader.ts';
import { prepareWrite, type WorkLeft } from './write.ts';

export interface Sqlite extends SqliteReader {
  run: (batch: Batch) => BatchReply;
  work: (work: Work) => WorkReply;
}

export interface SqliteOptions {
  /** The database file, or ':memory:'. */
  path: string;
  migrationsDir: string;
  /** The time that is recorded for applied migrations. */
  nowMs: number;
  /** Called after each migration, on the same thread. */
  onMigrated?: () => void;
}

/**
 * Opens for writing, exclusively: takes the lock, then migrates the schema. Throws CannotOpenStore.
 */
export function openSqlite({ path, ...options }: SqliteOptions): Sqlite {
  return explained(path, () => {
    const lock = path === ':memory:' ? noLock : takeLock(path);
    try {
      if (path !== ':memory:') {
        refuseMissing(path);
        createPrivate(path);
      }
      const db = connect({ path, access: 'write' });
      return closing(db, () => {
        applyMigrations(db, { database: path, ...options });
        const checkFile = path === ':memory:' ? alwaysSameFile : watchFile(path);
        return adapterOn(db, { lock, checkFile, rebase: prepareRebase(db) });
      });
    } catch (error) {
      lock.release();
      throw error;
    }
  });
}

export interface AdapterDeps {
  lock: Lock;
  checkFile: FileIdentity;
  rebase: Rebase;
}

/** The adapter on a connection whose schema is up to date. */
export function adapterOn(
  db: DatabaseSync,
  { lock = noLock, checkFile = alwaysSameFile, rebase = neverRebase }: Partial<AdapterDeps> = {},
): Sqlite {
  const pending = createPendingStatistics();
  const stalled = createStalledFanOuts();
  const deps = { pending, stalled, rebase, planOutcomes: prepareOutcomes(db) };
  const planWrite = prepareWrite(db, deps);
  const reader = readerOn(db);
  let broken: StoreFailure | undefined;
  const write = (batch: Batch): Written<WorkLeft> => {
    const elsewhere = broken ?? checkFile();
    if (elsewhere !== undefined) return elsewhere;
    const written = committed(writeTogether(db, planWrite(batch)), checkFile);
    if (written.kind === 'fatal') broken = written;
    if (written.kind === 'written') {
      pending.done();
      rebase.done(batch.nowMs);
      pending.add(written.last.facts, minuteOf(batch.nowMs));
    } else {
      pending.undo();
    }
    return written;
  };
  const run: Sqlite['run'] = (batch) => {
    const written = write(batch);
    if (written.kind !== 'written') return written;
    const { settled, edits, last } = written;
    const { fresh, nextWork, worked } = last;
    const reported = worked && { ...worked, fannedOut: withFailures(worked.fannedOut, stalled) };
    return { kind: 'written', settled, edits, fresh, nextWork, worked: reported };
  };
  return {
    run,
    work: (work) => asWorkReply(run(asBatch(work))),
    ...reader,
    close: () => {
      reader.close();
      lock.release();
    },
  };
}

/** A commit to a file that the next start will not find counts as failed. */
function committed<R>(written: Written<R>, checkFile: FileIdentity): Written<R> {
  const elsewhere = written.kind === 'written' ? checkFile() : undefined;
  return elsewhere === undefined ? written : { ...elsewhere, kind: 'fatal' };
}

const noLock: Lock = { release: () => {} };

// The adapter without a thread, for tests and simulation: it runs on the caller's thread.

export function inProcess(
  sqlite: Sqlite,
  { onFatal }: { onFatal: (error: Error) => void },
): Transport {
  const observed = <R extends BatchReply | WorkReply>(reply: R): R => {
    if (reply.kind === 'fatal') onFatal(toError(reply));
    return reply;
  };
  return {
    send: async (batch) => observed(sqlite.run(batch)),
    work: async (work) => observed(sqlite.work(work)),
    read: async (call) => sqlite.read(call),
    close: async () => sqlite.close(),
  };
}
