// Reads a request that came whole, if it is as plain as nearly all are. Whatever leaves a doubt is not read here at
// all: it is for Node's HTTP server, which knows all that is allowed and what to say of the rest.
import { limits } from '../../core/limits.ts';

export interface WholeRequest {
  /** As it came, and its path alone. */
  url: string;
  path: string;
  /** By lower-case names, each line by itself. Without a prototype, as Node makes it. */
  headersDistinct: Record<string, string[]>;
  body: Buffer;
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
/** They change what a request is, or what comes after it. */
const odd = ['transfer-encoding', 'expect', 'upgrade', 'trailer', 'proxy-connection'] as const;
const lineEnd = '\r\n';
const headEnd = Buffer.from('\r\n\r\n');

export function readWhole(bytes: Buffer): Reading {
  const end = bytes.indexOf(headEnd);
  if (end < 0 || end > limits.directHeadBytesMax) return 'doubt';
  const head = plainHead.exec(bytes.toString('latin1', 0, end + lineEnd.length));
  if (head === null) return 'doubt';
  const [, url = '', lines = ''] = head;
  const headersDistinct = readFields(lines);
  const length = headersDistinct && plainLengthOf(headersDistinct);
  if (headersDistinct === undefined || length === undefined) return 'doubt';
  const bodyAt = end + headEnd.length;
  const missing = bodyAt + length - bytes.length;
  if (missing > 0) return length <= limits.smallBodyBytes ? 'unfinished' : 'doubt';
  if (missing < 0) return 'doubt'; // What comes behind it is another request.
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  return { url, path, headersDistinct, body: bytes.subarray(bodyAt) };
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
