// How values travel: lists as the text that the server reads, made here. The driver escapes each element of a list by
// two replacements: in a profile of one event to one receiver that was 11 µs of 590.

/** Columns of many rows travel as arrays and are taken apart by `unnest`. */
export type Parameter = Single | readonly Single[];

type Single = string | number | boolean | Uint8Array | null;

/** As the server reads it. */
export type Wired = string | Buffer | null;

export function toWire(value: Parameter): Wired {
  if (isList(value)) return printList(value);
  if (value === null) return null;
  return value instanceof Uint8Array ? toBuffer(value) : String(value);
}

function isList(value: Parameter): value is readonly Single[] {
  return Array.isArray(value);
}

/** The driver takes a Buffer as bytes, and any other view of bytes as an object to print. */
function toBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/**
 * Texts as JSON prints them, which PostgreSQL reads as well, where a backslash stands before a quote or another
 * backslash only: 32 µs for 64 heads of answers, and 153 if each is escaped by itself.
 */
function printList(list: readonly Single[]): string {
  if (list.every((value) => value === null || typeof value === 'string')) {
    const json = JSON.stringify(list);
    if (!otherEscape.test(json)) return `{${json.slice(1, -1)}}`;
  }
  return `{${list.map(toElement).join()}}`;
}

function toElement(value: Single): string {
  if (value === null) return 'null';
  if (value instanceof Uint8Array) return `"\\\\x${toBuffer(value).toString('hex')}"`;
  if (typeof value !== 'string') return String(value);
  return `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

/** Of a control character, or of half a pair. Finds it also behind a backslash that is one. */
const otherEscape = /\\[bfnrtu]/;
