// What a request carries, as plain values: repeated query parameters, headers and cookies stay
// visible, so that nobody downstream has to guess which of two values was meant.
import type { IncomingMessage } from 'node:http';
import { readKey, type PresentedKey } from '../core/key.ts';

export interface RawHead {
  /** Decoded, in order, repetitions included. */
  query: readonly (readonly [string, string])[];
  /** Lower-case names; a repeated header is joined by a comma, as RFC 9110 says. */
  header: ReadonlyMap<string, string>;
  /** In order, repetitions included. */
  cookies: readonly (readonly [string, string])[];
  hasBody: boolean;
  /** Every line of a header, for those that must not be repeated. */
  headerLines: (name: string) => readonly string[];
  /** A key that it shows. */
  keyOf: (presented: string) => PresentedKey;
}

declare module 'node:net' {
  interface Socket {
    /** The key that was shown last on this connection, which goes with it. */
    shown?: { text: string; key: PresentedKey };
  }
}

interface Heading extends Pick<IncomingMessage, 'url' | 'headersDistinct' | 'socket'> {
  /** Said where Content-Length is not among the headers any more. */
  hasBody?: boolean;
}

export function readHead(request: Heading): RawHead {
  const { headersDistinct, socket } = request;
  const header = new Map<string, string>();
  // It has no prototype: these are its own names, and no list of pairs is made of them.
  for (const name in headersDistinct) {
    const lines = headersDistinct[name];
    if (lines !== undefined) header.set(name, textOf(lines));
  }
  const headerLines = (name: string): readonly string[] =>
    headersDistinct[name.toLowerCase()] ?? [];
  const cookies = header.has('cookie') ? headerLines('cookie').flatMap(readCookies) : [];
  // Whoever publishes shows the same key in all requests of a connection, and a hash takes 3 to 10 µs.
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

/** What is asked for without an origin: a proxy may send one along (RFC 9112, 3.2.2), which says nothing here. */
export function pathAndQuery(url: string): string {
  return url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/]*/i, '');
}

/** The first parameter whose name or value is no percent-encoded UTF-8, as errors call it. */
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
 * Undefined when it is not validly percent-encoded UTF-8. The text itself is returned, and not only whether there is
 * one: a bundler left out a call whose result nobody used.
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

/** `application/json; charset=utf-8`, taken apart; undefined when it is no media type. */
export function readMediaType(
  text: string | undefined,
): { mediaType: string; charset: string | undefined } | undefined {
  if (text === 'application/json') return { mediaType: text, charset: undefined }; // As nearly all are.
  // A space can be read in one way only: with two, a hostile header would take exponential time.
  const found =
    /^([\w.+-]+\/[\w.+-]+)((?:[ \t]*;(?:[ \t]*[\w.+-]+=(?:[\w.+-]+|"[^"\\]*"))?)*)$/.exec(
      text ?? '',
    );
  if (found === null) return undefined;
  const charset = /charset="?([^";]+)/i.exec(found[2] ?? '')?.[1];
  return { mediaType: (found[1] ?? '').toLowerCase(), charset: charset?.toLowerCase() };
}
