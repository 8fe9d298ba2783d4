// The signature of a callback by Standard Webhooks: HMAC-SHA256 over `id.timestamp.payload`. The
// payload is signed as the bytes that are sent, never as text. Ed25519 (`v1a`) will stand beside it.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';

export interface Signable {
  /** The `webhook-id`. */
  readonly id: string;
  readonly timestampS: number;
  readonly payload: Uint8Array;
  /** All that are valid at this moment, as `whsec_…`: during a rotation there are two. */
  readonly secrets: readonly string[];
}

/** The `webhook-signature`: one `v1,…` per secret, in their order, separated by spaces. */
export function sign({ id, timestampS, payload, secrets }: Signable): string {
  // With a dot in them another id and payload could be read out of the same signed bytes.
  assert(/^[^.\s]+$/.test(id), `Cannot sign id "${id}": expected no dots and no white space.`);
  assert(Number.isSafeInteger(timestampS) && timestampS >= 0, 'A timestamp is in whole seconds.');
  assert(secrets.length > 0, 'A signature needs at least one secret.');
  const prefix = `${id}.${timestampS}.`;
  return secrets.map((secret) => signWith(keyOf(secret), { prefix, payload })).join(' ');
}

function signWith(key: Uint8Array, signed: { prefix: string; payload: Uint8Array }): string {
  const mac = createHmac('sha256', key).update(signed.prefix).update(signed.payload);
  return `v1,${mac.digest('base64')}`;
}

const secretPrefix = 'whsec_';

function keyOf(secret: string): Uint8Array {
  assert(secret.startsWith(secretPrefix), 'A signing secret starts with "whsec_".');
  const key = Buffer.from(secret.slice(secretPrefix.length), 'base64');
  // An empty key signs too, and anyone could do the same.
  assert(key.length > 0, 'A signing secret has a key behind "whsec_".');
  return key;
}
