// Ids: 26 characters of Crockford base 32, 48 bits of time and 80 of chance, strictly rising within a
// process. Stored bare; the prefix that says what an id names is put on and taken off at the edge.
import type { World } from './world.ts';

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const shape = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;
const chanceBits = 80n;
const chanceMax = (1n << chanceBits) - 1n;

export type IdPrefix = 'app' | 'sub' | 'evt' | 'req';

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
  for (const char of id.slice(0, 10)) ms = ms * 32 + alphabet.indexOf(char);
  return ms;
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

function toBigInt(bytes: Uint8Array): bigint {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  return value;
}
