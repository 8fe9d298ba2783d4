// The secrets that signatures are verified with: shared secrets (`whsec_…`) and public keys (`whpk_…`). A mistake
// is found when the receiver is created, and no message ever contains any part of a secret.
import type { Head, Signature } from './head.ts';
import { receiverLimits } from './limits.ts';

/** A key for WebCrypto, and the version of the signatures that it verifies. */
export interface Verifier {
  readonly version: 'v1' | 'v1a';
  readonly key: () => Promise<CryptoKey>;
}

export function readSecrets(given: string | readonly string[]): Verifier[] {
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  if (list.length === 0 || list.length > receiverLimits.secretsMax) {
    throw new TypeError(
      `Cannot verify with ${list.length} secrets: expected 1 to ${receiverLimits.secretsMax}`,
    );
  }
  return list.map(readSecret);
}

function readSecret(secret: unknown): Verifier {
  if (typeof secret !== 'string') {
    const actual = secret === undefined ? 'none is given' : `it is of type ${typeof secret}`;
    throw mistake(`${actual}, expected a string "whsec_…" or "whpk_…"`);
  }
  if (secret.trim() !== secret)
    throw mistake('it has leading or trailing whitespace, expected none');
  if (secret.startsWith('whsk_')) {
    throw mistake(
      'it is a private key ("whsk_…"), expected the public key ("whpk_…"). A private key ' +
        'stays with the sender: replace it if it was exposed',
    );
  }
  if (secret.startsWith('whsec_')) return shared(bytesOf(secret.slice('whsec_'.length)));
  if (secret.startsWith('whpk_')) return publicKey(bytesOf(secret.slice('whpk_'.length)));
  throw mistake('it has another prefix, expected "whsec_…" or "whpk_…"');
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const bytes = decodeBase64(text);
  if (bytes === undefined)
    throw mistake('what follows the prefix is not base64, expected padded base64');
  return bytes;
}

function shared(bytes: Uint8Array<ArrayBuffer>): Verifier {
  const { secretBytesMin: least, secretBytesMax: most } = receiverLimits;
  if (bytes.length < least || bytes.length > most) {
    throw mistake(`it has ${bytes.length} bytes, expected ${least} to ${most}`);
  }
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  return { version: 'v1', key: once(() => importKey(bytes, algorithm)) };
}

const publicKeyBytes = 32;

function publicKey(bytes: Uint8Array<ArrayBuffer>): Verifier {
  if (bytes.length !== publicKeyBytes) {
    throw mistake(`the public key has ${bytes.length} bytes, expected ${publicKeyBytes}`);
  }
  if (isOfSmallOrder(bytes)) {
    throw mistake('anyone can forge signatures for this public key, expected a valid one');
  }
  return { version: 'v1a', key: once(() => importKey(bytes, { name: 'Ed25519' })) };
}

/**
 * The points of order 1, 2, 4 and 8, in each encoding, without the sign bit. With one of them as public key, a
 * signature made without any private key can verify: WebCrypto of Node 20 accepted 10 to 64 of 64 messages,
 * depending on the point. Node 26 accepts none.
 */
const smallOrder: ReadonlySet<string> = new Set([
  '00'.repeat(32),
  `01${'00'.repeat(31)}`,
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  `ec${'ff'.repeat(30)}7f`,
  `ed${'ff'.repeat(30)}7f`,
  `ee${'ff'.repeat(30)}7f`,
]);

function isOfSmallOrder(key: Uint8Array): boolean {
  const hex = Array.from(key, (byte, at) =>
    (at === publicKeyBytes - 1 ? byte & 0x7f : byte).toString(16).padStart(2, '0'),
  );
  return smallOrder.has(hex.join(''));
}

async function importKey(
  bytes: Uint8Array<ArrayBuffer>,
  algorithm: { name: string; hash?: string },
): Promise<CryptoKey> {
  return crypto.subtle.importKey('raw', bytes, algorithm, false, ['verify']);
}

/** Imported on first use: a platform without Ed25519 fails where the error is reported. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}

function mistake(why: string): TypeError {
  return new TypeError(`Cannot verify with this secret: ${why}`);
}

/** The bytes, or undefined if the text is not canonical base64. */
function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0) return undefined;
  let binary: string;
  try {
    binary = atob(text);
  } catch {
    return undefined; // Padding in the wrong place.
  }
  if (btoa(binary) !== text) return undefined;
  return Uint8Array.from(binary, (char) => char.charCodeAt(0));
}

/** Length of a signature of each version, before base64. */
const signatureBytes = { v1: 32, v1a: 64 } as const;

/**
 * Whether a signature in the header is by one of the secrets, over `id.timestamp.body`. WebCrypto compares in constant
 * time; all are tried regardless of the result, so that timing does not reveal which one matches.
 */
export async function isSigned(
  verifiers: readonly Verifier[],
  head: Head,
  body: Uint8Array,
): Promise<boolean> {
  const signed = signedBytes(head, body);
  let isGood = false;
  // Sequentially: WebCrypto copies the whole body for each.
  for (const verifier of verifiers) {
    for (const signature of head.signatures) {
      if (await isBy(verifier, signature, signed)) isGood = true;
    }
  }
  return isGood;
}

function signedBytes({ id, timestamp }: Head, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const prefix = new TextEncoder().encode(`${id}.${timestamp}.`);
  const signed = new Uint8Array(prefix.length + body.length);
  signed.set(prefix);
  signed.set(body, prefix.length);
  return signed;
}

/**
 * The kind of the secret determines the algorithm, never the header, which only selects the signatures to
 * check.
 */
async function isBy(
  { version, key }: Verifier,
  signature: Signature,
  signed: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  if (signature.version !== version) return false;
  const bytes = decodeBase64(signature.text);
  if (bytes === undefined || bytes.length !== signatureBytes[version]) return false;
  const algorithm = version === 'v1' ? 'HMAC' : 'Ed25519';
  return crypto.subtle.verify(algorithm, await key(), bytes, signed);
}
