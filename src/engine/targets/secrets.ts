// Seals and unseals signing secrets and callback headers for the store. They are bound to one
// subscription of one app, so that a row copied to another subscription does not open.
import assert from 'node:assert/strict';
import {
  decodeHeaders,
  encodeHeaders,
  type KeptHeaders,
} from '../../core/domain/callback-headers.ts';
import { nonceBytes, open, seal, type KeyRing } from '../../core/secrets/seal.ts';
import {
  decodeSecrets,
  encodeSecrets,
  makeSigningSecret,
  rotateSecrets,
  signingOf,
  signingSecretBytes,
  type Signing,
  type SigningSecret,
} from '../../core/secrets/signing-secret.ts';
import type { World } from '../../core/base/world.ts';

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
  return seal(encodeSecrets(secrets), { ring, nonce, context: contextOf(owner, 'secrets') });
}

export function openSecrets(ring: KeyRing, owner: Owner, sealed: Uint8Array): SigningSecret[] {
  const plain = open(sealed, { ring, context: contextOf(owner, 'secrets') });
  assert(
    plain,
    `Cannot decrypt the secrets of sub_${owner.subscriptionId}: wrong key or modified row`,
  );
  return decodeSecrets(plain);
}

export function newSecret(
  world: Pick<World, 'randomBytes' | 'nowMs'>,
  signing: Signing | undefined,
): SigningSecret {
  return makeSigningSecret(world.randomBytes(signingSecretBytes), world.nowMs(), signing);
}

export interface Renewal {
  owner: Owner;
  /** The secrets of the subscription so far. */
  sealed: Uint8Array;
  /** How the new secret signs; undefined: like the current one. */
  signing: Signing | undefined;
  overlapMs: number;
}

/** Adds a new secret; the current one keeps signing beside it for `overlapMs`. */
export function renewSecrets(
  { ring, world }: { ring: KeyRing; world: Pick<World, 'randomBytes' | 'nowMs'> },
  { owner, sealed, signing, overlapMs }: Renewal,
): { secrets: SigningSecret[]; sealed: Uint8Array } {
  const before = openSecrets(ring, owner, sealed);
  const next = newSecret(world, signing ?? before.map(signingOf)[0]);
  const secrets = rotateSecrets(before, next, overlapMs);
  return { secrets, sealed: sealSecrets({ ring, world }, owner, secrets) };
}

/** Callback headers may hold secrets as well. Undefined if there are none. */
export function sealHeaders(
  { ring, world }: { ring: KeyRing; world: Pick<World, 'randomBytes'> },
  owner: Owner,
  headers: KeptHeaders,
): Uint8Array | undefined {
  if (headers.own.length + headers.declared.length === 0) return undefined;
  const nonce = world.randomBytes(nonceBytes);
  return seal(encodeHeaders(headers), { ring, nonce, context: contextOf(owner, 'headers') });
}

export function openHeaders(
  ring: KeyRing,
  owner: Owner,
  sealed: Uint8Array | undefined,
): KeptHeaders {
  if (sealed === undefined) return noHeaders;
  const plain = open(sealed, { ring, context: contextOf(owner, 'headers') });
  assert(
    plain,
    `Cannot decrypt the headers of sub_${owner.subscriptionId}: wrong key or modified row`,
  );
  return decodeHeaders(plain);
}

const noHeaders: KeptHeaders = { own: [], declared: [] };

function contextOf({ appId, subscriptionId }: Owner, what: 'secrets' | 'headers'): string {
  return `${what} of ${appId}/${subscriptionId}`;
}
