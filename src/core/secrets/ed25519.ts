// Converts Ed25519 keys between the raw form of Standard Webhooks and the DER form of Node's
// crypto.
import { strict as assert } from 'node:assert';
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';

export const seedBytes = 32;
const publicBytes = 32;

/**
 * RFC 8410: the DER prefix of the 32 bytes of a private key (PKCS #8) and of a public key (SPKI).
 */
const privateHead = Buffer.from('302e020100300506032b657004220420', 'hex');
const publicHead = Buffer.from('302a300506032b6570032100', 'hex');

/** The secret key of a seed: 64 bytes, the seed followed by the public key. */
export function secretKeyOf(seed: Uint8Array): Uint8Array {
  assert(seed.length === seedBytes, `An Ed25519 seed has ${seedBytes} bytes, not ${seed.length}`);
  const spki = createPublicKey(fromSeed(seed)).export({ format: 'der', type: 'spki' });
  return Buffer.concat([seed, spki.subarray(publicHead.length)]);
}

/** The public key that a secret key contains. */
export function publicPartOf(secretKey: Uint8Array): Uint8Array {
  assert(secretKey.length === seedBytes + publicBytes, 'An Ed25519 secret key has 64 bytes');
  return secretKey.subarray(seedBytes);
}

export function privateKeyOf(secretKey: Uint8Array): KeyObject {
  assert(secretKey.length === seedBytes + publicBytes, 'An Ed25519 secret key has 64 bytes');
  return fromSeed(secretKey.subarray(0, seedBytes));
}

function fromSeed(seed: Uint8Array): KeyObject {
  return createPrivateKey({
    key: Buffer.concat([privateHead, seed]),
    format: 'der',
    type: 'pkcs8',
  });
}
