// Prints a request for the wire. It never writes anything that a receiver could read as another
// request or as other headers.
import assert from 'node:assert/strict';

export interface RequestParts {
  readonly method: string;
  readonly path: string;
  /** Value of the Host header. */
  readonly authority: string;
  /** Alternating names and values. */
  readonly headers: readonly string[];
  readonly body: Uint8Array;
}

export interface RequestBytes {
  readonly first: Uint8Array;
  /** A body that is too long to copy behind its head. */
  readonly rest: Uint8Array | undefined;
}

export class BadRequest extends Error {
  override readonly name = 'BadRequest';
}

/** Throws BadRequest, whose message says what cannot be written. */
export function requestBytes(parts: RequestParts): RequestBytes {
  const { body } = parts;
  const head = headOf(parts);
  const isShort = body.length <= copiedBytesMax;
  const first = Buffer.allocUnsafe(head.length + (isShort ? body.length : 0));
  first.write(head, 'latin1');
  if (!isShort) return { first, rest: body };
  first.set(body, head.length);
  return { first, rest: undefined };
}

function headOf({ method, path, authority, headers, body }: RequestParts): string {
  if (!token.test(method) || method === 'CONNECT') throw new BadRequest('its method');
  if (!visible.test(path) || !visible.test(authority)) throw new BadRequest('its URL');
  assert(headers.length % 2 === 0, 'Names and values come in turn.');
  let head = `${method} ${path} HTTP/1.1\r\nhost: ${authority}\r\nconnection: keep-alive\r\n`;
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? '';
    const value = headers[at + 1] ?? '';
    if (!isName(name)) {
      throw new BadRequest(`the header ${JSON.stringify(name.slice(0, 80))}`);
    }
    if (!fieldValue.test(value)) throw new BadRequest(`the value of the header ${name}`);
    head += name + ': ' + value + '\r\n';
  }
  const hasLength = body.length > 0 || expectingBody.has(method);
  return hasLength ? `${head}content-length: ${body.length}\r\n\r\n` : `${head}\r\n`;
}

/**
 * Most names are the same in every callback, so one set lookup replaces a pattern and another set.
 */
function isName(name: string): boolean {
  if (knownNames.has(name)) return true;
  if (!token.test(name) || ownNames.has(name.toLowerCase())) return false;
  if (knownNames.size < knownNamesMax) knownNames.add(name);
  return true;
}

const knownNames = new Set<string>();
const knownNamesMax = 100;
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const visible = /^[\x21-\x7e]+$/;
const fieldValue = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Headers that frame the message or name its host: only this file may set them, once. */
const ownNames: ReadonlySet<string> = new Set([
  'host',
  'connection',
  'keep-alive',
  'content-length',
  'transfer-encoding',
  'te',
  'trailer',
  'upgrade',
  'expect',
]);
const expectingBody: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'QUERY']);
const copiedBytesMax = 16_384;
