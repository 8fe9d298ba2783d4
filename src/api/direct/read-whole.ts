// Parses a request that arrived in one piece, if it is as plain as nearly all are. Anything
// doubtful must not be parsed here: it goes to Node's HTTP server, which knows everything that HTTP
// allows and how to refuse the rest.
import { limits } from '../../core/limits/limits.ts';
import type { RawHead } from '../request/raw-request.ts';

export interface WholeRequest {
  head: Head;
  body: Buffer;
}

/** Everything before the body. Shared by requests that repeat it. */
export interface Head {
  /** The URL as received, and its path alone. */
  readonly url: string;
  readonly path: string;
  /** By lower-case name, one entry per line, without Content-Length. No prototype, as in Node. */
  readonly headersDistinct: Record<string, string[]>;
  /** Parsed further on first use. */
  raw: RawHead | undefined;
}

/** `unfinished`: plain so far, but the body is incomplete. `doubt`: leave it to Node. */
export type Reading = WholeRequest | 'unfinished' | 'doubt';

/**
 * A head: its path and its lines. There is only one way to match, so the time is linear in its
 * length. Rejects bare CR or LF, NUL, folded lines and spaces before a colon. Matching line by line
 * took twice as long.
 */
const plainHead = /^POST (\/[!-~]*) HTTP\/1\.1\r\n((?:[\w!#$%&'*+.^`|~-]+:[\t -~]*\r\n)+)$/;
/** JSON as common clients declare it. */
const plainType = /^application\/json(?:; ?charset=utf-8)?$/i;
/** No leading zeros, no list, no sign. */
const plainLength = /^[1-9]\d{0,6}$/;
const lengthDigitsMax = 7;
/** For a head in which it is plain: no other line begins like that. */
const lengthLine = /^(content-length:[\t ]*)(\d+)/im;
/** Headers that change the meaning of a request or what follows it. */
const odd = ['transfer-encoding', 'expect', 'upgrade', 'trailer', 'proxy-connection'] as const;
const lineEnd = '\r\n';
const headEnd = Buffer.from('\r\n\r\n');

/** A head, and the body that it announces. */
interface Announced {
  head: Head;
  bodyAt: number;
  length: number;
}

/**
 * Reads the requests of one connection. A publisher sends the same head again and again except for
 * the length, so a head is compared with the last one and seldom parsed (docs/performance.md).
 */
export class WholeReader {
  #last: Repeatable | undefined;

  read(bytes: Buffer): Reading {
    const announced = (this.#last && readAgain(bytes, this.#last)) ?? this.#readHead(bytes);
    if (announced === undefined) return 'doubt';
    const { head, bodyAt, length } = announced;
    const missing = bodyAt + length - bytes.length;
    if (missing > 0) return length <= limits.smallBodyBytes ? 'unfinished' : 'doubt';
    if (missing < 0) return 'doubt'; // Another request follows.
    return { head, body: bytes.subarray(bodyAt) };
  }

  #readHead(bytes: Buffer): Announced | undefined {
    const end = bytes.indexOf(headEnd);
    if (end < 0 || end > limits.directHeadBytesMax) return undefined;
    const text = bytes.toString('latin1', 0, end + lineEnd.length);
    const [, url = '', lines = ''] = plainHead.exec(text) ?? [];
    const headersDistinct = readFields(lines);
    const length = headersDistinct && plainLengthOf(headersDistinct);
    if (headersDistinct === undefined || length === undefined) return undefined;
    delete headersDistinct['content-length'];
    const mark = url.indexOf('?');
    const path = mark < 0 ? url : url.slice(0, mark);
    const head: Head = { url, path, headersDistinct, raw: undefined };
    const bodyAt = end + headEnd.length;
    const isKept = bodyAt <= limits.directRepeatBytesMax;
    this.#last = isKept ? repeatable(bytes.subarray(0, bodyAt), text, head) : undefined;
    return { head, bodyAt, length };
  }
}

/** The bytes of a head before and after its length. */
interface Repeatable {
  before: Buffer;
  after: Buffer;
  head: Head;
}

function repeatable(bytes: Buffer, text: string, head: Head): Repeatable {
  const found = lengthLine.exec(text);
  const [, name = '', digits = ''] = found ?? [];
  const lengthAt = (found?.index ?? 0) + name.length;
  // Copied into memory of its own: a slice would retain the whole shared buffer for as long as the
  // connection lives.
  const own = Buffer.allocUnsafeSlow(bytes.length);
  own.set(bytes);
  return { before: own.subarray(0, lengthAt), after: own.subarray(lengthAt + digits.length), head };
}

const zero = 0x30;

/** Undefined if the head differs, or its length is not plain. */
function readAgain(bytes: Buffer, { before, after, head }: Repeatable): Announced | undefined {
  let at = before.length;
  if (bytes.length < at || before.compare(bytes, 0, at) !== 0) return undefined;
  let length = 0;
  for (; at - before.length < lengthDigitsMax; at += 1) {
    const digit = (bytes[at] ?? 0) - zero;
    if (digit < 0 || digit > 9 || (digit === 0 && length === 0)) break;
    length = length * 10 + digit;
  }
  const bodyAt = at + after.length;
  const isSame = length > 0 && bytes.length >= bodyAt && after.compare(bytes, at, bodyAt) === 0;
  return isSame ? { head, bodyAt, length } : undefined;
}

/** Undefined if there are too many lines. */
function readFields(lines: string): Record<string, string[]> | undefined {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- It has no members at all.
  const fields = Object.create(null) as Record<string, string[]>;
  let count = 0;
  for (let at = 0; at < lines.length;) {
    if ((count += 1) > limits.directLinesMax) return undefined;
    const colon = lines.indexOf(':', at);
    const end = lines.indexOf(lineEnd, colon);
    const name = lines.slice(at, colon).toLowerCase();
    (fields[name] ??= []).push(lines.slice(colon + 1, end).trim());
    at = end + lineEnd.length;
  }
  return fields;
}

/** The length of the body; undefined if anything about it is not plain. */
function plainLengthOf(fields: Readonly<Record<string, readonly string[]>>): number | undefined {
  const { host = [], connection = ['keep-alive'] } = fields;
  const { 'content-length': lengths = [], 'content-type': types = [] } = fields;
  if (host.length !== 1 || connection.length !== 1 || lengths.length !== 1 || types.length !== 1) {
    return undefined;
  }
  if (connection[0]?.toLowerCase() !== 'keep-alive' || odd.some((name) => name in fields)) {
    return undefined;
  }
  const [length = '', type = ''] = [lengths[0], types[0]];
  return plainLength.test(length) && plainType.test(type) ? Number(length) : undefined;
}
