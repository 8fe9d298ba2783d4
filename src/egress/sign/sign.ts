// Signs a callback by Standard Webhooks, over `id.timestamp.payload`: HMAC-SHA256 (`v1`) or Ed25519
// (`v1a`), depending on the secret. It signs the bytes that are sent, never text.
import assert from 'node:assert/strict';
import { sign as signEd25519, type KeyObject } from 'node:crypto';
import { limits } from '../../core/limits/limits.ts';
import { keyBytes, privateKeyOf } from '../../core/secrets/signing-secret.ts';
import { hmacSha256 } from './hmac.ts';

/** The parts that a signature covers. */
interface Signed {
  /** The `webhook-id`. */
  readonly id: string;
  readonly timestampS: number;
  readonly payload: Uint8Array;
}

export interface Signable extends Signed {
  /** All valid secrets, `whsec_…` or `whsk_…`: two during a rotation. */
  readonly secrets: readonly string[];
}

/** The `webhook-signature`: one signature per secret, in order, separated by spaces. */
export function sign({ secrets, ...signed }: Signable): string {
  assert(secrets.length > 0, 'A signature needs at least one secret.');
  const prefix = prefixOf(signed);
  return secrets.map((secret) => signWith(secret, prefix, signed.payload)).join(' ');
}

function prefixOf({ id, timestampS }: Signed): string {
  // A dot would let another id and payload produce the same signed bytes.
  assert(/^[^.\s]+$/.test(id), `Cannot sign id "${id}": expected no dots and no white space.`);
  assert(Number.isSafeInteger(timestampS) && timestampS >= 0, 'A timestamp is in whole seconds.');
  return `${id}.${timestampS}.`;
}

function signWith(secret: string, prefix: string, payload: Uint8Array): string {
  const shared = keyBytes('shared', secret);
  if (shared === undefined) {
    const message = Buffer.concat([Buffer.from(prefix), payload]);
    return `v1a,${signEd25519(null, message, signingKey(secret)).toString('base64')}`;
  }
  return `v1,${hmacSha256(shared, prefix, payload)}`;
}

/** Cached: creating the key object takes more than half of the time of a signature. */
const signingKeys = new Map<string, KeyObject>();

function signingKey(secret: string): KeyObject {
  const known = signingKeys.get(secret);
  if (known !== undefined) return known;
  const bytes = keyBytes('private', secret);
  assert(bytes !== undefined, 'A signing secret starts with "whsec_" or "whsk_".');
  const made = privateKeyOf(bytes);
  if (signingKeys.size >= limits.signingKeysRememberedMax) signingKeys.clear();
  signingKeys.set(secret, made);
  return made;
}
