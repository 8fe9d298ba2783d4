// Encodes parameters: arrays are printed here as the text that the server parses, because the
// driver escapes every element by itself, which shows in profiles (docs/performance.md).

/** Columns of many rows are sent as arrays and expanded by `unnest`. */
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

/** The driver sends a Buffer as bytes, but prints any other view of bytes as an object. */
function toBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/**
 * Prints a list of texts with JSON.stringify, which is several times as fast as escaping each one.
 * PostgreSQL reads the result the same way if its only escapes are `\"` and `\\`.
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

/**
 * An escape for a control character or a lone surrogate. May also match behind an escaped
 * backslash, which is only slower.
 */
const otherEscape = /\\[bfnrtu]/;
