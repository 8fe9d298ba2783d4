// The tools of a forger: each makes a forgery of a genuine callback by changing one part of it.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import type { ForgeryCode } from '../../src/receiver/receiver.ts';
import {
  bodyText,
  bytes,
  nowS,
  signedBytes,
  versioned,
  type Given,
  type Signer,
} from './genuine-callbacks.ts';

export interface ForgeryKind {
  name: string;
  code: ForgeryCode;
  /** Of which signatures it makes sense; else of both. */
  version?: 'v1' | 'v1a';
  /** `other` is somebody whom the receiver does not trust. */
  forge: (genuine: Given, signer: Signer, other: Signer) => Given;
}

export type Forge = ForgeryKind['forge'];

export const id = 'webhook-id';
export const timestamp = 'webhook-timestamp';
export const signature = 'webhook-signature';

/** Another value of a header, made from the genuine one; undefined: without it. */
export function header(
  name: string,
  change: (value: string) => string | string[] | undefined,
): Forge {
  return ({ headers, body }) => {
    const value = headers[name];
    assert(typeof value === 'string');
    return { headers: { ...headers, [name]: change(value) }, body };
  };
}

export function changedBody(change: (text: string) => string | Uint8Array): Forge {
  return ({ headers }) => ({ headers, body: bytes(change(bodyText)) });
}

/** A signature by whatever the forger has, over whatever he likes. */
export function signedBy(make: (signer: Signer, other: Signer) => string): Forge {
  return ({ headers, body }, signer, other) => ({
    headers: { ...headers, [signature]: make(signer, other) },
    body,
  });
}

/** The part behind `v1,` as bytes, changed. */
export function signatureBytes(change: (raw: Buffer) => Uint8Array): Forge {
  return (given, signer, other) =>
    header(signature, (value) => versioned(signer, change(rawOf(value))))(given, signer, other);
}

export function rawOf(value: string): Buffer {
  return Buffer.from(value.slice(value.indexOf(',') + 1), 'base64');
}

export function flip(raw: Uint8Array, bit: number): Uint8Array {
  return raw.map((byte, at) => (at === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));
}

export function plus(seconds: number): string {
  return String(nowS + seconds);
}

export function hmac(key: string | Uint8Array, hash = 'sha256'): Buffer {
  return createHmac(hash, key).update(signedBytes()).digest();
}
