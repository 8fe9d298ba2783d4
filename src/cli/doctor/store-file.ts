// Checks the SQLite file: whether it opens and is sound, its migration, and whether the encryption
// key fits. Read only; a running service does not notice.
import { existsSync } from 'node:fs';
import type { KeyRing } from '../../core/seal.ts';
import { isProof, proofName } from '../../engine/unlock.ts';
import { CannotOpenStore } from '../../store/cannot-open-store.ts';
import { keyFileIn, readKeyFile } from '../../store/key-file.ts';
import { databaseIn, migrationsDir } from '../../store/open.ts';
import { examine, type Examined } from '../../store/sqlite/examine.ts';
import { refuseMissing } from '../../store/sqlite/missing-database.ts';
import { failed, ok, reasonOf, warning, type Finding } from './finding.ts';
import { judgeSchema, refusedSchema } from './schema.ts';

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
    return [ok('store', 'SQLite in memory: nothing outlives the process')];
  try {
    refuseMissing(path);
    if (!existsSync(path)) return [ok('store', 'SQLite: no file yet, the first start makes it')];
    const found = examine({ path, migrationsDir });
    return [
      judgeFile(path, found),
      judgeSchema(found.due),
      judgeKey({ dataDir, encryptionKey }, found.setting(proofName)),
      judgeClock(found.lastSeenMs, nowMs),
    ];
  } catch (error) {
    return [cannotOpen(path, error)];
  }
}

function cannotOpen(path: string, error: unknown): Finding {
  if (error instanceof CannotOpenStore && error.code === 'missing') {
    const remedy = 'Put the database back or restore a backup, before the service starts';
    return failed('store', { message: error.message, remedy });
  }
  if (error instanceof CannotOpenStore && error.code !== 'failed') return refusedSchema(error);
  return failed('store', {
    message: `Cannot read "${path}": ${reasonOf(error)}`,
    remedy: 'Check who may read it, and that it is a database; a backup can replace it',
  });
}

function judgeFile(path: string, { fileBytes, isInUse, state }: Examined): Finding {
  const size = `SQLite, ${(fileBytes / 1e6).toFixed(1)} MB`;
  const use = isInUse ? ', in use by a running service' : '';
  if (state === 'sound') return ok('store', `${size}${use}, sound`);
  if (state === 'unchecked') {
    const why = 'too large to be read through here; ringback backup checks the copy that it makes';
    return ok('store', `${size}${use}; ${why}`);
  }
  return failed('store', {
    message: `"${path}" is damaged: ${state.damage}`,
    remedy: 'Stop the service, restore the last backup, and check the disk',
  });
}

function judgeKey(
  { dataDir, encryptionKey }: Pick<StoreFile, 'dataDir' | 'encryptionKey'>,
  proof: Uint8Array | undefined,
): Finding {
  const path = keyFileIn(dataDir);
  if (encryptionKey === undefined && !existsSync(path) && proof !== undefined) {
    return failed('key', {
      message: `"${path}" is not there, and RINGBACK_ENCRYPTION_KEY is not set`,
      remedy: 'Bring back the file or the variable: without it the signing secrets stay closed',
    });
  }
  if (proof === undefined) return ok('key', 'the first start decides which encryption key it is');
  return judgeRing(encryptionKey ?? [readKeyFile(path)], proof);
}

/** Whether the ring unseals the value that was sealed at the first start. */
export function judgeRing(ring: KeyRing, proof: Uint8Array): Finding {
  if (isProof(proof, ring)) return ok('key', 'the encryption key is that of this database');
  return failed('key', {
    message: 'The encryption key is another one than this database was made with',
    remedy: 'Set the former RINGBACK_ENCRYPTION_KEY, or bring back the former encryption.key',
  });
}

/**
 * With SQLite there is no other clock to compare with; but the last time that the store saw must
 * not be in the future.
 */
export function judgeClock(lastSeenMs: number | undefined, nowMs: number): Finding {
  const backBy = (lastSeenMs ?? nowMs) - nowMs;
  const shown = new Date(nowMs).toISOString();
  if (backBy <= backMs) return ok('clock', 'not behind what the store has seen');
  return warning('clock', {
    message: `It is ${shown}, but the service was last there ${Math.round(backBy / 1000)} s later`,
    remedy: 'Set the clock (NTP): signatures carry its time, and receivers refuse old ones',
  });
}
