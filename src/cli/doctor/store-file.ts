// Checks of SQLite: whether the database opens and is sound, its migration, whether the encryption
// key fits, and whether its folder is writable with free space. Reads only, except for a file that
// it deletes again; a running service does not notice.
import { closeSync, existsSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { KeyRing } from '../../core/secrets/seal.ts';
import { isProof, proofName } from '../../engine/access/check-encryption-key.ts';
import { keyFileIn, readKeyFile } from '../../store/open/key-file.ts';
import { databaseIn, migrationsDir } from '../../store/open/open.ts';
import { CannotOpenStore } from '../../store/port/store.ts';
import type { AppliedMigration } from '../../store/sql/migration-rules.ts';
import { refuseMissing } from '../../store/sqlite/connection/connect.ts';
import { examine, type Examined } from '../../store/sqlite/schema/examine.ts';
import { failed, type Finding, ok, reasonOf, warning } from './finding.ts';

const backMs = 60_000;

export interface StoreFile {
  dataDir: string;
  /** The configured key; undefined: the one in the data folder. */
  encryptionKey: KeyRing | undefined;
  nowMs: number;
}

export function checkStoreFile({ dataDir, encryptionKey, nowMs }: StoreFile): Finding[] {
  const path = databaseIn(dataDir);
  if (dataDir === ':memory:')
    return [ok('store', 'SQLite in memory: all data is lost when the process ends')];
  try {
    refuseMissing(path);
    if (!existsSync(path))
      return [ok('store', 'SQLite: no database file yet; the first start creates it')];
    const found = examine({ path, migrationsDir });
    return [
      assessFile(path, found),
      assessSchema(found.due),
      assessKey({ dataDir, encryptionKey }, found.setting(proofName)),
      assessClock(found.lastSeenMs, nowMs),
    ];
  } catch (error) {
    return [cannotOpen(path, error)];
  }
}

function cannotOpen(path: string, error: unknown): Finding {
  if (error instanceof CannotOpenStore && error.code === 'missing') {
    const remedy = 'Restore the database file or a backup before starting the service';
    return failed('store', { message: error.message, remedy });
  }
  if (error instanceof CannotOpenStore && error.code !== 'failed') return refusedSchema(error);
  return failed('store', {
    message: `Cannot read "${path}": ${reasonOf(error)}`,
    remedy:
      'Check the file’s permissions and that it is a SQLite database; a backup can replace it',
  });
}

function assessFile(path: string, { fileBytes, isInUse, state }: Examined): Finding {
  const size = `SQLite, ${(fileBytes / 1e6).toFixed(1)} MB`;
  const use = isInUse ? ', in use by a running service' : '';
  if (state === 'sound') return ok('store', `${size}${use}, intact`);
  if (state === 'unchecked') {
    const why = 'too large to verify here; ringback backup verifies the copy that it makes';
    return ok('store', `${size}${use}; ${why}`);
  }
  return failed('store', {
    message: `"${path}" is damaged: ${state.damage}`,
    remedy: 'Stop the service, restore the last backup and check the disk',
  });
}

function assessKey(
  { dataDir, encryptionKey }: Pick<StoreFile, 'dataDir' | 'encryptionKey'>,
  proof: Uint8Array | undefined,
): Finding {
  const path = keyFileIn(dataDir);
  if (encryptionKey === undefined && !existsSync(path) && proof !== undefined) {
    return failed('key', {
      message: `"${path}" is missing, and RINGBACK_ENCRYPTION_KEY is not set`,
      remedy: 'Restore the file or the variable: without it, signing secrets cannot be decrypted',
    });
  }
  if (proof === undefined)
    return ok('key', 'the first start stores which encryption key this database uses');
  return assessRing(encryptionKey ?? [readKeyFile(path)], proof);
}

/** Whether the ring unseals the value that was sealed at the first start. */
export function assessRing(ring: KeyRing, proof: Uint8Array): Finding {
  if (isProof(proof, ring)) return ok('key', 'the encryption key matches this database');
  return failed('key', {
    message: 'The encryption key does not match this database',
    remedy: 'Set the previous RINGBACK_ENCRYPTION_KEY, or restore the previous encryption.key',
  });
}

/**
 * With SQLite there is no other clock to compare with; but the last time that the store saw must
 * not be in the future.
 */
export function assessClock(lastSeenMs: number | undefined, nowMs: number): Finding {
  const backBy = (lastSeenMs ?? nowMs) - nowMs;
  const shown = new Date(nowMs).toISOString();
  if (backBy <= backMs) return ok('clock', 'not behind the newest time in the store');
  return warning('clock', {
    message:
      `The clock says ${shown}, but the store was last used ${Math.round(backBy / 1000)} s ` +
      'after that',
    remedy: 'Set the clock (NTP): signatures carry its time, and receivers reject old ones',
  });
}

// Reports the schema version, on either database.

export function assessSchema(due: readonly AppliedMigration[]): Finding {
  if (due.length === 0) return ok('schema', 'up to date, no migration pending');
  const names = due.map(({ number, name }) => `${number} "${name}"`).join(', ');
  return warning('schema', {
    message: `Migrations are pending: ${names}`,
    remedy: 'Back up first; then run ringback migrate, or let the next start apply them',
  });
}

/** A start would fail with the same message. */
export function refusedSchema({ code, message }: CannotOpenStore): Finding {
  const remedy =
    code === 'newer_schema'
      ? 'Start the newer Ringback that wrote it, or restore an earlier backup'
      : 'Start the Ringback that wrote it, or restore a backup that this version can open';
  return failed('schema', { message, remedy });
}

// Checks the data folder of SQLite: whether it is writable, fsync works, and there is free space.

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
  return assessDisk(bsize * bavail);
}

export function assessDisk(freeBytes: number): Finding {
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
