// Ids: 26 characters of Crockford base 32, 48 bits of time and 80 of chance, strictly rising within a
// process. Stored bare; the prefix that says what an id names is put on and taken off at the edge.
import type { World } from './world.ts';

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const shape = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;
const chanceBits = 80n;
const chanceMax = (1n << chanceBits) - 1n;

export type IdPrefix = 'app' | 'sub' | 'evt' | 'rpl' | 'req';

/** Makes ids that sort by creation, also within one millisecond and when the clock steps back. */
export function idMaker(world: Pick<World, 'nowMs' | 'randomBytes'>): () => string {
  let lastMs = -1;
  let chance = 0n;
  return () => {
    const nowMs = world.nowMs();
    if (nowMs > lastMs) {
      lastMs = nowMs;
      chance = toBigInt(world.randomBytes(10)) >> 1n; // The top bit stays free, so that steps fit.
    } else {
      chance += 1n;
      if (chance > chanceMax) {
        lastMs += 1;
        chance = 0n;
      }
    }
    return encode((BigInt(lastMs) << chanceBits) | chance);
  };
}

/**
 * The lowest id that can be made at a time: what is older sorts below it. Nothing is older than 1970,
 * whatever a clock that was never set makes of "30 days ago".
 */
export function firstIdAt(ms: number): string {
  return encode(BigInt(Math.max(ms, 0)) << chanceBits);
}

/** When an id was made. */
export function timeOf(id: string): number {
  let ms = 0;
  for (let i = 0; i < 10; i += 1) ms = ms * 32 + alphabet.indexOf(id.charAt(i));
  return ms;
}

/** How much of the way from one id to another lies behind a third: from 0 to 1, and 0 without a way. */
export function shareBetween(first: string, last: string, at: string): number {
  const [from, to, here] = [decode(first), decode(last), decode(at)];
  if (here <= from || to <= from) return 0;
  if (here >= to) return 1;
  const parts = 10_000n;
  return Number(((here - from) * parts) / (to - from)) / Number(parts);
}

export function withPrefix(prefix: IdPrefix, id: string): string {
  return `${prefix}_${id}`;
}

/** The bare id, or undefined when the text is no id of that kind. */
export function withoutPrefix(prefix: IdPrefix, text: string): string | undefined {
  if (!text.startsWith(`${prefix}_`)) return undefined;
  const id = text.slice(prefix.length + 1);
  return shape.test(id) ? id : undefined;
}

function encode(value: bigint): string {
  let text = '';
  let rest = value;
  for (let i = 0; i < 26; i += 1) {
    text = alphabet.charAt(Number(rest & 31n)) + text;
    rest >>= 5n;
  }
  return text;
}

function decode(id: string): bigint {
  let value = 0n;
  for (const char of id) value = (value << 5n) | BigInt(alphabet.indexOf(char));
  return value;
}

function toBigInt(bytes: Uint8Array): bigint {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  return value;
}
