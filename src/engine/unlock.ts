// Proves at every start that the encryption key is the one this database was made with. Without the
// proof a wrong key would show only when the first secret fails to open, in the middle of the night.
import { nonceBytes, open, seal } from '../core/seal.ts';
import type { Context } from './context.ts';

const settingName = 'encryption_check';
const context = 'encryption check';
const words = 'the key fits';

export async function fitsStore({
  store,
  ring,
  world,
}: Pick<Context, 'store' | 'ring' | 'world'>): Promise<boolean> {
  const nonce = world.randomBytes(nonceBytes);
  const fresh = seal(Buffer.from(words), { ring, nonce, context });
  const { value } = await store.edit('keepSetting', { name: settingName, value: fresh });
  const plain = open(value, { ring, context });
  return plain !== undefined && Buffer.from(plain).toString() === words;
}
