// Checks at every start that the encryption key is the one this database was created with.
// Otherwise a wrong key would go unnoticed until the first secret fails to unseal.
import { rmSync } from 'node:fs';
import { nonceBytes, open, seal, type KeyRing } from '../../core/secrets/seal.ts';
import type { World } from '../../core/base/world.ts';
import { CannotOpenStore, type Store } from '../../store/port/store.ts';
import { encryptionKeyBytes, readOrMakeKeyFile } from '../../store/open/key-file.ts';
import type { Database } from '../../store/open/open.ts';
import type { Context } from '../context.ts';

export interface Locked {
  database: Database;
  /** The configured key; undefined: the one in the data folder. */
  encryptionKey: KeyRing | undefined;
}

/** The keys that unseal this database's secrets. Throws if they do not fit. */
export async function openRing(
  { database, encryptionKey }: Locked,
  store: Store,
  world: World,
): Promise<KeyRing> {
  const dataDir = 'dataDir' in database ? database.dataDir : ':memory:';
  // The store holds its lock by now, so no two processes create a key, and a process that is
  // refused creates none.
  const needsFile = encryptionKey === undefined && dataDir !== ':memory:';
  const keyFile = needsFile ? readOrMakeKeyFile(dataDir, world) : undefined;
  const ring = encryptionKey ?? [keyFile?.key ?? world.randomBytes(encryptionKeyBytes)];
  if (await fitsStore({ store, ring, world })) return ring;
  if (keyFile?.isNew === true) rmSync(keyFile.path);
  throw new CannotOpenStore(
    'failed',
    `Cannot decrypt the secrets in ${describeDatabase(database)}: the encryption key does not ` +
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

/** Whether the ring unseals the value that was sealed at the first start. */
export function isProof(value: Uint8Array, ring: KeyRing): boolean {
  const plain = open(value, { ring, context });
  return plain !== undefined && Buffer.from(plain).toString() === words;
}

export const proofName = 'encryption_check';
const context = 'encryption check';
const words = 'the key fits';

function describeDatabase(database: Database): string {
  return 'dataDir' in database ? `"${database.dataDir}"` : 'PostgreSQL';
}
