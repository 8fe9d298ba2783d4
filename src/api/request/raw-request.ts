// The contents of a request as plain values. Repeated query parameters, headers and cookies stay
// visible, so that no later code has to guess which of two values was meant.
import type { IncomingMessage } from 'node:http';
import { readKey, type PresentedKey } from '../../core/domain/key.ts';

export interface RawHead {
  /** Decoded, in order, including repetitions. */
  query: readonly (readonly [string, string])[];
  /** Lower-case names; repeated headers are joined by commas, as RFC 9110 says. */
  header: ReadonlyMap<string, string>;
  /** In order, including repetitions. */
  cookies: readonly (readonly [string, string])[];
  hasBody: boolean;
  /** Every line of a header, for headers that must not be repeated. */
  headerLines: (name: string) => readonly string[];
  /** Parses and hashes a key that the request presents. */
  keyOf: (presented: string) => PresentedKey;
}

declare module 'node:net' {
  interface Socket {
    /** The key last presented on this connection, cached with it. */
    shown?: { text: string; key: PresentedKey };
  }
}

interface Heading extends Pick<IncomingMessage, 'url' | 'headersDistinct' | 'socket'> {
  /** Given if Content-Length was removed from the headers. */
  hasBody?: boolean;
}

export function readHead(request: Heading): RawHead {
  const { headersDistinct, socket } = request;
  const header = new Map<string, string>();
  // The object has no prototype, so `for in` sees only its own names, and no list of entries is
  // built.
  for (const name in headersDistinct) {
    const lines = headersDistinct[name];
    if (lines !== undefined) header.set(name, textOf(lines));
  }
  const headerLines = (name: string): readonly string[] =>
    headersDistinct[name.toLowerCase()] ?? [];
  const cookies = header.has('cookie') ? headerLines('cookie').flatMap(readCookies) : [];
  // A publisher presents the same key in all requests of a connection, and a hash takes 3 to 10 µs.
  const keyOf = (text: string): PresentedKey => {
    if (socket.shown?.text !== text) socket.shown = { text, key: readKey(text) };
    return socket.shown.key;
  };
  const query = readQuery(request.url ?? '');
  const { hasBody = announcesBody(header) } = request;
  return { query, header, cookies, hasBody, headerLines, keyOf };
}

function announcesBody(header: ReadonlyMap<string, string>): boolean {
  return Number(header.get('content-length') ?? 0) > 0 || header.has('transfer-encoding');
}

function textOf(lines: readonly string[]): string {
  const [line = '', ...more] = lines;
  return more.length === 0 ? line : lines.join(', ');
}

function readQuery(url: string): [string, string][] {
  const mark = url.indexOf('?');
  return mark < 0 ? [] : [...new URLSearchParams(url.slice(mark + 1))];
}

/**
 * The target without an origin, which a proxy may add (RFC 9112, 3.2.2) and which means nothing
 * here.
 */
export function pathAndQuery(url: string): string {
  return url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/]*/i, '');
}

/** The first parameter that is not percent-encoded UTF-8, as errors name it. */
export function unreadableParameter(url: string): string | undefined {
  const mark = url.indexOf('?');
  if (mark < 0) return undefined;
  const bad = url
    .slice(mark + 1)
    .split('&')
    .find((pair) => decoded(pair) === undefined);
  if (bad === undefined) return undefined;
  const name = decoded(bad.split('=', 1)[0] ?? '');
  return name === undefined ? 'query' : `query.${name}`;
}

/**
 * Undefined if the text is not percent-encoded UTF-8. Returns the text, not a boolean: a bundler
 * removed the call when its result was unused.
 */
export function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function readCookies(line: string): [string, string][] {
  const cookies: [string, string][] = [];
  for (const pair of line.split(';')) {
    const equals = pair.indexOf('=');
    if (equals < 0) continue;
    cookies.push([pair.slice(0, equals).trim(), unquote(pair.slice(equals + 1).trim())]);
  }
  return cookies;
}

function unquote(value: string): string {
  return value.length >= 2 && value.startsWith('"') && value.endsWith('"')
    ? value.slice(1, -1)
    : value;
}

/** Parses `application/json; charset=utf-8`; undefined if it is not a media type. */
export function readMediaType(
  text: string | undefined,
): { mediaType: string; charset: string | undefined } | undefined {
  if (text === 'application/json') return { mediaType: text, charset: undefined }; // The usual case.
  // Each space can match in only one way; otherwise a hostile header would take exponential time.
  const found =
    /^([\w.+-]+\/[\w.+-]+)((?:[ \t]*;(?:[ \t]*[\w.+-]+=(?:[\w.+-]+|"[^"\\]*"))?)*)$/.exec(
      text ?? '',
    );
  if (found === null) return undefined;
  const charset = /charset="?([^";]+)/i.exec(found[2] ?? '')?.[1];
  return { mediaType: (found[1] ?? '').toLowerCase(), charset: charset?.toLowerCase() };
}
