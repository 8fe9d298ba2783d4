// Signing secrets of a subscription (Standard Webhooks) and their rotation: at most two are valid
// at a time, the newest and the one that it replaced. An Ed25519 private key is never shown, only
// its public key.
import { strict as assert } from 'node:assert';
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';

/** With a shared secret (HMAC-SHA256, `v1`) or with a key pair (`v1a`). */
export const signings = ['hmac', 'ed25519'] as const;
export type Signing = (typeof signings)[number];

/** Prefixes of keys: a shared secret, and the two halves of a pair. */
export const keyPrefixes = { shared: 'whsec_', private: 'whsk_', public: 'whpk_' } as const;

export interface SigningSecret {
  secret: string;
  createdMs: number;
  /** Set once the secret was replaced: until then it signs beside the new one. */
  expiresMs: number | undefined;
}

/** Random bytes of a secret of either kind. */
export const signingSecretBytes = 32;

export function makeSigningSecret(
  random: Uint8Array,
  nowMs: number,
  signing: Signing = 'hmac',
): SigningSecret {
  const secret =
    signing === 'hmac' ? printKey('shared', random) : printKey('private', secretKeyOf(random));
  return { secret, createdMs: nowMs, expiresMs: undefined };
}

export function signingOf({ secret }: Pick<SigningSecret, 'secret'>): Signing {
  return secret.startsWith(keyPrefixes.private) ? 'ed25519' : 'hmac';
}

/**
 * The key that a receiver verifies with, which is all that is ever shown: the shared secret, or the
 * public key.
 */
export function verifierOf({ secret }: Pick<SigningSecret, 'secret'>): string {
  const key = keyBytes('private', secret);
  return key === undefined ? secret : printKey('public', publicPartOf(key));
}

type KeyKind = keyof typeof keyPrefixes;

function printKey(kind: KeyKind, bytes: Uint8Array): string {
  return keyPrefixes[kind] + Buffer.from(bytes).toString('base64');
}

/** The bytes of a key of this kind; undefined for a key of another kind. */
export function keyBytes(kind: KeyKind, key: string): Uint8Array | undefined {
  const prefix = keyPrefixes[kind];
  if (!key.startsWith(prefix)) return undefined;
  const bytes = Buffer.from(key.slice(prefix.length), 'base64');
  // An empty key would sign as well, but anyone could forge its signatures.
  assert(bytes.length > 0, `A signing secret has a key behind "${prefix}".`);
  return bytes;
}

/** The secrets that sign now, newest first. */
export function validSecrets(secrets: readonly SigningSecret[], nowMs: number): SigningSecret[] {
  return secrets.filter(({ expiresMs }) => nowMs < (expiresMs ?? Infinity));
}

/**
 * Returns the new secret, then the one that it replaces with its expiry; older ones are dropped.
 */
export function rotateSecrets(
  secrets: readonly SigningSecret[],
  next: SigningSecret,
  overlapMs: number,
): SigningSecret[] {
  const [current] = secrets;
  if (current === undefined || overlapMs === 0) return [next];
  return [next, { ...current, expiresMs: next.createdMs + overlapMs }];
}

/** The plaintext that seal.ts seals. */
export function encodeSecrets(secrets: readonly SigningSecret[]): Uint8Array {
  return Buffer.from(
    JSON.stringify(secrets.map((s) => [s.secret, s.createdMs, s.expiresMs ?? null])),
  );
}

export function decodeSecrets(plain: Uint8Array): SigningSecret[] {
  const rows: unknown = JSON.parse(Buffer.from(plain).toString());
  if (!Array.isArray(rows)) throw new TypeError('Cannot decode signing secrets: expected a list');
  return rows.map((row: unknown) => {
    const [secret, createdMs, expiresMs] = Array.isArray(row) ? (row as unknown[]) : [];
    if (typeof secret !== 'string' || typeof createdMs !== 'number') {
      throw new TypeError('Cannot decode signing secrets: expected [secret, createdMs, expiresMs]');
    }
    return {
      secret,
      createdMs,
      expiresMs: typeof expiresMs === 'number' ? expiresMs : undefined,
    };
  });
}

// Converts Ed25519 keys between the raw form of Standard Webhooks and the DER form of Node's
// crypto.

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
