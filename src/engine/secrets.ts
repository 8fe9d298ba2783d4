// Signing secrets on their way into and out of the store: sealed for one subscription of one app, so
// that a row copied to another subscription does not open.
import assert from 'node:assert/strict';
import { nonceBytes, open, seal, type KeyRing } from '../core/seal.ts';
import { decodeSecrets, encodeSecrets, type SigningSecret } from '../core/signing-secret.ts';
import type { World } from '../core/world.ts';

interface Owner {
  appId: string;
  subscriptionId: string;
}

export function sealSecrets(
  { ring, world }: { ring: KeyRing; world: Pick<World, 'randomBytes'> },
  owner: Owner,
  secrets: readonly SigningSecret[],
): Uint8Array {
  const nonce = world.randomBytes(nonceBytes);
  return seal(encodeSecrets(secrets), { ring, nonce, context: contextOf(owner) });
}

export function openSecrets(ring: KeyRing, owner: Owner, sealed: Uint8Array): SigningSecret[] {
  const plain = open(sealed, { ring, context: contextOf(owner) });
  assert(plain, `Cannot open the secrets of sub_${owner.subscriptionId}: wrong key or changed row`);
  return decodeSecrets(plain);
}

function contextOf({ appId, subscriptionId }: Owner): string {
  return `secrets of ${appId}/${subscriptionId}`;
}
