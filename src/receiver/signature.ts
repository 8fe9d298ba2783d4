// Verifies that a signature in the header matches one of the secrets, over `id.timestamp.body`. WebCrypto compares
// in constant time; all are tried regardless of the result, so that timing does not reveal which one matches.
import { decodeBase64, type Verifier } from './secrets.ts';
import type { Head, Signature } from './head.ts';

/** Length of a signature of each version, before base64. */
const signatureBytes = { v1: 32, v1a: 64 } as const;

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
