// Reads a request that came whole, if it is as plain as nearly all are. Whatever leaves a doubt is not read here at
// all: it is for Node's HTTP server, which knows all that is allowed and what to say of the rest.
import { limits } from '../../core/limits.ts';
import type { RawHead } from '../raw-request.ts';

export interface WholeRequest {
  head: Head;
  body: Buffer;
}

/** All before the body. Requests that repeat it share it. */
export interface Head {
  /** As it came, and its path alone. */
  readonly url: string;
  readonly path: string;
  /** By lower-case names, each line by itself; all but Content-Length. Without a prototype, as Node makes it. */
  readonly headersDistinct: Record<string, string[]>;
  /** Read further, once somebody has asked for that. */
  raw: RawHead | undefined;
}

/** `unfinished`: plain so far, but its body has not come to its end. `doubt`: not for us. */
export type Reading = WholeRequest | 'unfinished' | 'doubt';

/**
 * A head: where it goes, and its lines. There is one way only to match, so that the time grows with the head and no more.
 * No bare CR or LF fits, no NUL, no folded line, no space before a colon. Line by line it took twice as long.
 */
const plainHead = /^POST (\/[!-~]*) HTTP\/1\.1\r\n((?:[\w!#$%&'*+.^`|~-]+:[\t -~]*\r\n)+)$/;
/** JSON as programs say it. */
const plainType = /^application\/json(?:; ?charset=utf-8)?$/i;
/** No zeros in front, no list, no sign. */
const plainLength = /^[1-9]\d{0,6}$/;
const lengthDigitsMax = 7;
/** Of a head in which it is plain. Nothing else begins a line like that. */
const lengthLine = /^(content-length:[\t ]*)(\d+)/im;
/** They change what a request is, or what comes after it. */
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
 * Of one connection. Whoever publishes says the same head again and again, but for the length: so it is compared with
 * the one before, and seldom read: 0.3 µs instead of 5, with all that callers ask of it, in a loop.
 */
export class WholeReader {
  #last: Repeatable | undefined;

  read(bytes: Buffer): Reading {
    const announced = (this.#last && readAgain(bytes, this.#last)) ?? this.#readHead(bytes);
    if (announced === undefined) return 'doubt';
    const { head, bodyAt, length } = announced;
    const missing = bodyAt + length - bytes.length;
    if (missing > 0) return length <= limits.smallBodyBytes ? 'unfinished' : 'doubt';
    if (missing < 0) return 'doubt'; // What comes behind it is another request.
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

/** A head as it came, before its length and after it. */
interface Repeatable {
  before: Buffer;
  after: Buffer;
  head: Head;
}

function repeatable(bytes: Buffer, text: string, head: Head): Repeatable {
  const found = lengthLine.exec(text);
  const [, name = '', digits = ''] = found ?? [];
  const lengthAt = (found?.index ?? 0) + name.length;
  // In memory of its own, for as long as the connection is there: a part of the common one would hold all of it.
  const own = Buffer.allocUnsafeSlow(bytes.length);
  own.set(bytes);
  return { before: own.subarray(0, lengthAt), after: own.subarray(lengthAt + digits.length), head };
}

const zero = 0x30;

/** Undefined when it is another head, or says another length than a plain one. */
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

/** Undefined when there are very many. */
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

/** Of its body; undefined when there is anything about it that is not plain. */
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
