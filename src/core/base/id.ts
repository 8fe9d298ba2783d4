// Ids: 26 characters of Crockford base 32, 48 bits of time and 80 random ones. They increase
// strictly within a process and cannot be guessed from each other. They are stored bare; the prefix
// that names the kind is added and removed at the edge.
import type { World } from './world.ts';

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const shape = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/** End of each of the two halves of the random part: a JavaScript number holds only 53 bits. */
const halfEnd = 2 ** 40;
/**
 * End of a random step of the upper half. A millisecond has room for at least 2^39 / 2^24 steps.
 */
const stepEnd = 2 ** 24;

export type IdPrefix = 'app' | 'sub' | 'evt' | 'rpl' | 'req';

/**
 * Makes ids that sort by creation, even within one millisecond and when the clock steps back. An id
 * must not be guessable from its neighbour: the upper half of the random part advances by 24 random
 * bits, and the lower half is drawn again. Plain numbers instead of BigInts make this several times
 * faster.
 */
export function idMaker(world: Pick<World, 'nowMs' | 'randomBytes'>): () => string {
  let lastMs = -1;
  let high = 0;
  let time = '';
  const begin = (ms: number, drawn: number): void => {
    lastMs = ms;
    high = Math.floor(drawn / 2); // Keep the top bit free, so that steps fit.
    time = encodeTime(ms);
  };
  return () => {
    const nowMs = world.nowMs();
    const bytes = world.randomBytes(10);
    const drawn = numberOf(bytes, 0);
    if (nowMs > lastMs) begin(nowMs, drawn);
    else if (high + stepEnd < halfEnd) high += 1 + (drawn % stepEnd);
    else begin(lastMs + 1, drawn);
    return time + encodeHalf(high) + encodeHalf(numberOf(bytes, 5));
  };
}

/**
 * The lowest id of a time: ids made earlier sort below it. Times before 1970 are clamped, since an
 * unset clock can turn "30 days ago" into one.
 */
export function firstIdAt(ms: number): string {
  return encodeTime(Math.max(ms, 0)) + encodeHalf(0) + encodeHalf(0);
}

/** When an id was made. */
export function timeOf(id: string): number {
  let ms = 0;
  for (let i = 0; i < 10; i += 1) ms = ms * 32 + alphabet.indexOf(id.charAt(i));
  return ms;
}

/** The position of `at` between two ids, from 0 to 1; 0 when both are the same. */
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

/** The bare id, or undefined when the text is not an id of that kind. */
export function withoutPrefix(prefix: IdPrefix, text: string): string | undefined {
  if (!text.startsWith(`${prefix}_`)) return undefined;
  const id = text.slice(prefix.length + 1);
  return shape.test(id) ? id : undefined;
}

// Some documents prescribe the format of an id. A UUID holds exactly the bits of an id; an integer
// holds less, so an id that is to be written as one is made from an integer.

/** `integer31`: fits into a signed 32-bit integer. */
export const idForms = ['prefixed', 'uuid', 'integer', 'integer31'] as const;
export type IdForm = (typeof idForms)[number];

/** An id that can be written in the form: a UUID of version 7, or few enough bits. */
export function idOfForm(form: IdForm, id: string): string {
  if (form === 'prefixed') return id;
  const number = decode(id);
  if (form !== 'uuid') {
    const bits = form === 'integer' ? 53 : 31;
    return encodeBig(BigInt.asUintN(bits, number) || 1n);
  }
  const hex = number.toString(16).padStart(32, '0');
  const variant = ((parseInt(hex.charAt(16), 16) & 3) | 8).toString(16);
  return encodeBig(BigInt(`0x${hex.slice(0, 12)}7${hex.slice(13, 16)}${variant}${hex.slice(17)}`));
}

export function writeId(form: IdForm, prefix: IdPrefix, id: string): string {
  if (form === 'prefixed') return withPrefix(prefix, id);
  if (form !== 'uuid') return String(decode(id));
  const hex = decode(id).toString(16).padStart(32, '0');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/u, '$1-$2-$3-$4-$5');
}

const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/iu;

/** The bare id that is written in any form; undefined if the text is none. */
export function readId(prefix: IdPrefix, text: string): string | undefined {
  const bare = withoutPrefix(prefix, text);
  if (bare !== undefined) return bare;
  if (uuid.test(text)) return encodeBig(BigInt(`0x${text.replaceAll('-', '')}`));
  return /^[1-9]\d{0,15}$/u.test(text) ? encodeBig(BigInt(text)) : undefined;
}

function encodeBig(number: bigint): string {
  const digits = Array.from({ length: 26 }, (_none, at) =>
    alphabet.charAt(Number((number >> BigInt(5 * (25 - at))) & 31n)),
  );
  return digits.join('');
}

function encodeTime(ms: number): string {
  return encode(Math.floor(ms / 2 ** 25), 5) + encode(ms % 2 ** 25, 5);
}

function encodeHalf(half: number): string {
  return encode(Math.floor(half / 2 ** 20), 4) + encode(half % 2 ** 20, 4);
}

/** Prints `value` in `digits` characters of five bits each. `value` has at most 31 bits. */
function encode(value: number, digits: number): string {
  let text = '';
  for (let rest = value, i = 0; i < digits; rest >>= 5, i += 1) {
    text = alphabet.charAt(rest & 31) + text;
  }
  return text;
}

function decode(id: string): bigint {
  let value = 0n;
  for (const char of id) value = (value << 5n) | BigInt(alphabet.indexOf(char));
  return value;
}

/** Reads five bytes as a number. */
function numberOf(bytes: Uint8Array, from: number): number {
  let value = 0;
  for (let at = from; at < from + 5; at += 1) value = value * 256 + (bytes[at] ?? 0);
  return value;
}
