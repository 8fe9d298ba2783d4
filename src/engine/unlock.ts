// Proves at every start that the encryption key is the one this database was made with. Without the
// proof a wrong key would show only when the first secret fails to open, in the middle of the night.
import { rmSync } from 'node:fs';
import { nonceBytes, open, seal, type KeyRing } from '../core/seal.ts';
import type { World } from '../core/world.ts';
import { CannotOpenStore } from '../store/cannot-open-store.ts';
import { encryptionKeyBytes, readOrMakeKeyFile } from '../store/key-file.ts';
import type { Database } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import type { Context } from './context.ts';

export interface Locked {
  database: Database;
  /** As it is set; undefined: the one in the data folder. */
  encryptionKey: KeyRing | undefined;
}

/** The keys that open this database's secrets; refuses to start with others. */
export async function openRing(
  { database, encryptionKey }: Locked,
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
    `Cannot decrypt the secrets in ${placeOf(database)}: the encryption key does not ` +
      'match this database, expected the previous RINGBACK_ENCRYPTION_KEY or encryption.key',
  );
}

async function fitsStore({
  store,
  ring,
  world,
}: Pick<Context, 'store' | 'ring' | 'world'>): Promise<boolean> {
  const nonce = world.randomBytes(nonceBytes);
  const fresh = seal(Buffer.from(words), { ring, nonce, context });
  const { value } = await store.edit('keepSetting', { name: proofName, value: fresh });
  return isProof(value, ring);
}

/** Whether the ring opens what was sealed at the first start. */
export function isProof(value: Uint8Array, ring: KeyRing): boolean {
  const plain = open(value, { ring, context });
  return plain !== undefined && Buffer.from(plain).toString() === words;
}

export const proofName = 'encryption_check';
const context = 'encryption check';
const words = 'the key fits';

function placeOf(database: Database): string {
  return 'dataDir' in database ? `"${database.dataDir}"` : 'PostgreSQL';
}
