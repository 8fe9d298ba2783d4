// The encryption key of a start: from the settings, or from the file beside the database. It never goes on
// with a key that this database was not made with.
import { rmSync } from 'node:fs';
import type { KeyRing } from '../core/seal.ts';
import type { World } from '../core/world.ts';
import { CannotOpenStore } from '../store/cannot-open-store.ts';
import { encryptionKeyBytes, readOrMakeKeyFile } from '../store/key-file.ts';
import type { Database } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import { fitsStore } from './unlock.ts';

/** The keys that open this database's secrets; refuses to start with others. */
export async function openRing(
  { database, encryptionKey }: { database: Database; encryptionKey: KeyRing | undefined },
  store: Store,
  world: World,
): Promise<KeyRing> {
  const dataDir = 'dataDir' in database ? database.dataDir : ':memory:';
  // Behind the store's lock, so that no two processes make a key, and one that is refused makes none.
  const needsFile = encryptionKey === undefined && dataDir !== ':memory:';
  const keyFile = needsFile ? readOrMakeKeyFile(dataDir, world) : undefined;
  const ring = encryptionKey ?? [keyFile?.key ?? world.randomBytes(encryptionKeyBytes)];
  if (await fitsStore({ store, ring, world })) return ring;
  if (keyFile?.isNew === true) rmSync(keyFile.path);
  throw new CannotOpenStore(
    'failed',
    `Cannot open the secrets in ${placeOf(database)}: the encryption key is another one than this ` +
      'database was made with, expected the former RINGBACK_ENCRYPTION_KEY or encryption.key',
  );
}

function placeOf(database: Database): string {
  return 'dataDir' in database ? `"${database.dataDir}"` : 'PostgreSQL';
}
