// Seals secrets at rest with AES-256-GCM. A sealed value is bound to a context, so one that is
// moved to another row does not open. Layout: version, key id (4), nonce (12), tag (16),
// ciphertext.
import { createCipheriv, createDecipheriv, createHash } from 'node:crypto';

const version = 1;
const keyIdBytes = 4;
export const nonceBytes = 12;
const tagBytes = 16;
const headBytes = 1 + keyIdBytes + nonceBytes + tagBytes;

/** 32-byte keys. The first one seals and all of them open, so that a key can be replaced. */
export type KeyRing = readonly [Uint8Array, ...Uint8Array[]];

export interface SealOptions {
  ring: KeyRing;
  nonce: Uint8Array;
  /** What the value belongs to; the same text is needed to open it. */
  context: string;
}

export function seal(plain: Uint8Array, { ring, nonce, context }: SealOptions): Uint8Array {
  const cipher = createCipheriv('aes-256-gcm', ring[0], nonce);
  cipher.setAAD(Buffer.from(context));
  const text = cipher.update(plain);
  cipher.final();
  // Not a small Buffer: those share a pool, and a message to another thread would copy all of it.
  const sealed = new Uint8Array(headBytes + text.length);
  sealed[0] = version;
  sealed.set(keyId(ring[0]), 1);
  sealed.set(nonce, 1 + keyIdBytes);
  sealed.set(cipher.getAuthTag(), headBytes - tagBytes);
  sealed.set(text, headBytes);
  return sealed;
}

/** The plaintext; undefined when the key or the context is wrong, or any bit was changed. */
export function open(
  sealed: Uint8Array,
  { ring, context }: Pick<SealOptions, 'ring' | 'context'>,
): Uint8Array | undefined {
  if (sealed.length < headBytes || sealed[0] !== version) return undefined;
  const id = Buffer.from(sealed.subarray(1, 1 + keyIdBytes));
  const key = ring.find((candidate) => id.equals(keyId(candidate)));
  if (key === undefined) return undefined;
  const nonce = sealed.subarray(1 + keyIdBytes, headBytes - tagBytes);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce);
  decipher.setAAD(Buffer.from(context));
  decipher.setAuthTag(sealed.subarray(headBytes - tagBytes, headBytes));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(headBytes)), decipher.final()]);
  } catch {
    return undefined; // The tag does not match: another key, or tampered with.
  }
}

/** Cached: computing the hash takes a third as long as opening a value. */
const keyIds = new WeakMap<Uint8Array, Uint8Array>();

function keyId(key: Uint8Array): Uint8Array {
  const known = keyIds.get(key);
  if (known !== undefined) return known;
  const made = createHash('sha256').update(key).digest().subarray(0, keyIdBytes);
  keyIds.set(key, made);
  return made;
}
