// API keys: their shape, their checksum, and which secrets they admit. Only the SHA-256 of a key is
// stored, never the key: with 256 random bits a slow hash would add no protection and cost every
// request.
import { hash, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { World } from '../base/world.ts';
import type { Quotas } from '../load/quotas.ts';

export const scopes = ['subscribe', 'publish', 'read', 'retry', 'admin', 'operator'] as const;
export type Scope = (typeof scopes)[number];

export interface Key {
  /** Eight characters that follow `rbk_` in the key and identify it in lists. */
  id: string;
  appNo: number;
  appId: string;
  /** Quotas of the app itself. */
  appQuotas: Quotas;
  /** Whether the app declares event types. */
  appHasEventTypes: boolean;
  name: string;
  scopes: readonly Scope[];
  /** It sees and does only what is of this customer. */
  customer: string | undefined;
  hash: Uint8Array;
  /** While a rotation overlaps: the old key that still works, and until when. */
  oldHash: Uint8Array | undefined;
  oldUntilMs: number | undefined;
  createdMs: number;
  expiresMs: number | undefined;
  revokedMs: number | undefined;
  usedMs: number | undefined;
}

const prefix = 'rbk_';
const idChars = 8;
const secretChars = 43;
const checksumChars = 6;
const shape = /^rbk_[0-9A-Za-z]{57}$/;

/** What a key that is bound to a customer may hold. */
export const customerScopes: readonly Scope[] = ['subscribe', 'publish', 'read', 'retry'];

/** `rbk_` + id + 256 random bits + checksum. Pass `id` to rotate an existing key. */
export function makeKey(
  world: Pick<World, 'randomBytes'>,
  id = base62(world.randomBytes(idChars), idChars),
): { id: string; key: string } {
  const body = prefix + id + base62(world.randomBytes(32), secretChars);
  return { id, key: body + checksum(body) };
}

/** What a presented key is looked up by and compared with. */
export interface PresentedKey {
  /** Undefined: it cannot be a key at all. */
  id: string | undefined;
  hash: Uint8Array;
}

/**
 * A key that an operator chose (RINGBACK_API_KEY) has no checksum: its id is derived from its hash.
 */
export function readKey(presented: string): PresentedKey {
  const hashed = hashKey(presented);
  return { id: keyIdOf(presented, hashed), hash: hashed };
}

export function keyIdOf(presented: string, hashed = hashKey(presented)): string | undefined {
  if (!presented.startsWith(prefix)) return base62(hashed, idChars);
  if (!shape.test(presented)) return undefined;
  const body = presented.slice(0, -checksumChars);
  if (checksum(body) !== presented.slice(-checksumChars)) return undefined;
  return presented.slice(prefix.length, prefix.length + idChars);
}

export function hashKey(presented: string): Uint8Array {
  return hash('sha256', presented, 'buffer');
}

/** Whether the key admits the secret with this hash now. Compares in constant time. */
export function admits(key: Key, presentedHash: Uint8Array, nowMs: number): boolean {
  const isCurrent = timingSafeEqual(key.hash, presentedHash);
  const isOld =
    timingSafeEqual(key.oldHash ?? nothing, presentedHash) && nowMs < (key.oldUntilMs ?? 0);
  return (isCurrent || isOld) && isLive(key, nowMs);
}

/** Until when the key admits a secret that it admits now, as far as is known. */
export function admitsUntilMs(key: Key, presentedHash: Uint8Array): number {
  const isCurrent = timingSafeEqual(key.hash, presentedHash);
  return Math.min(key.expiresMs ?? Infinity, isCurrent ? Infinity : (key.oldUntilMs ?? 0));
}

/** Not revoked and not expired. */
export function isLive(key: Key, nowMs: number): boolean {
  return key.revokedMs === undefined && nowMs < (key.expiresMs ?? Infinity);
}

/** Whether a key with these scopes may do what needs the scope. `admin` includes `retry`. */
export function holds({ scopes: held }: Pick<Key, 'scopes'>, scope: Scope): boolean {
  return held.includes(scope) || (scope === 'retry' && held.includes('admin'));
}

/**
 * The scopes of a key that the caller lacks. The caller may make, rotate or revoke that key only if
 * this is empty: otherwise `admin` could grant itself `read`, or revoke an operator's keys.
 */
export function scopesBeyond(
  caller: Pick<Key, 'scopes'> | undefined,
  { scopes: wanted }: Pick<Key, 'scopes'>,
): readonly Scope[] {
  return wanted.filter((scope) => caller === undefined || !holds(caller, scope));
}

const nothing = new Uint8Array(32);

function checksum(body: string): string {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, crc32(body));
  return base62(bytes, checksumChars);
}

// Base 62 with a fixed width: letters and digits only, so that a double click selects the whole
// key.

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** That many digits, and half a byte more, still fit into a safe integer. */
const digitsOfNumberMax = 8;

/** Reads the bytes as one number and prints it in `width` digits; higher digits are dropped. */
export function base62(bytes: Uint8Array, width: number): string {
  return width <= digitsOfNumberMax ? inNumbers(bytes, width) : inBigInts(bytes, width);
}

/** For ids and checksums, which every request needs: ten times as fast as BigInt. */
function inNumbers(bytes: Uint8Array, width: number): string {
  const end = 62 ** width;
  let rest = 0;
  for (const byte of bytes) {
    rest = (rest * 16 + (byte >> 4)) % end;
    rest = (rest * 16 + (byte & 15)) % end;
  }
  let text = '';
  for (let i = 0; i < width; i += 1) {
    const digit = rest % 62;
    text = alphabet.charAt(digit) + text;
    rest = (rest - digit) / 62;
  }
  return text;
}

function inBigInts(bytes: Uint8Array, width: number): string {
  let rest = 0n;
  for (const byte of bytes) rest = (rest << 8n) | BigInt(byte);
  let text = '';
  for (let i = 0; i < width; i += 1) {
    text = alphabet.charAt(Number(rest % 62n)) + text;
    rest /= 62n;
  }
  return text;
}
