// Headers that a subscription adds to its callbacks. They must not change what the request is,
// where it goes or who appears to have sent it. A value may be a secret, so no message repeats it.
import { strict as assert } from 'node:assert';
import type { Header } from './attempt.ts';
import { limits } from '../limits/limits.ts';
import { fieldIn, type Fault } from '../errors/problem.ts';

export type HeadersReading =
  | { kind: 'headers'; headers: readonly Header[] }
  | { kind: 'faulty'; faults: readonly Fault[] };

/** `field` names the place in the request: `body#/headers`. */
export function readCallbackHeaders(value: unknown, field: string): HeadersReading {
  const whole = (message: string): HeadersReading => faulty([{ field, message }]);
  if (!isObject(value)) return whole('is not an object, expected header names and values');
  const entries = Object.entries(value);
  if (entries.length > limits.callbackHeadersMax) {
    return whole(`has ${entries.length} headers, expected at most ${limits.callbackHeadersMax}`);
  }
  const faults: Fault[] = [];
  const headers: Header[] = [];
  const taken = new Set<string>();
  for (const [name, text] of entries) {
    const message = nameFault(name, taken) ?? valueFault(text);
    taken.add(asRead(name));
    if (message !== undefined) faults.push({ field: fieldIn(field, name), message });
    else if (typeof text === 'string') headers.push([name, text]);
  }
  if (faults.length > 0) return faulty(faults);
  const bytes = headers.reduce((sum, [name, text]) => sum + name.length + text.length, 0);
  if (bytes > limits.callbackHeadersBytesMax) {
    return whole(`has ${bytes} bytes, expected at most ${limits.callbackHeadersBytesMax}`);
  }
  return { kind: 'headers', headers };
}

/** The headers of a subscription as they are kept. */
export interface KeptHeaders {
  /** Those that the subscriber adds to all callbacks. */
  own: readonly Header[];
  /** Those that the document declares for one callback, with values of the subscribe request. */
  declared: readonly DeclaredHeader[];
}

export interface DeclaredHeader {
  /** `query`: an API key that is added to the URL when it is sent, and recorded nowhere. */
  in: 'header' | 'query';
  header: Header;
  /** The id of the callback's definition. */
  callback: string;
  expiresMs: number | undefined;
  /**
   * Of a credential: the origins that it is sent to. So it stays behind when the URL is changed to
   * another receiver.
   */
  origins: readonly string[] | undefined;
}

/** The plaintext that seal.ts seals: one row each, those of the document with six elements. */
export function encodeHeaders({ own, declared }: KeptHeaders): Uint8Array {
  const rows = declared.map(({ in: place, header, callback, expiresMs, origins }) => [
    ...header,
    callback,
    expiresMs,
    place,
    origins,
  ]);
  return Buffer.from(JSON.stringify([...own, ...rows]));
}

export function decodeHeaders(plain: Uint8Array): KeptHeaders {
  const rows: unknown = JSON.parse(Buffer.from(plain).toString());
  assert(Array.isArray(rows), 'Cannot decode headers: expected a list');
  const own: Header[] = [];
  const declared: DeclaredHeader[] = [];
  for (const row of rows) {
    const [name, text, callback, expiresMs, place, origins]: unknown[] = Array.isArray(row)
      ? row
      : [];
    assert(typeof name === 'string' && typeof text === 'string', 'Cannot decode a header');
    if (typeof callback !== 'string') own.push([name, text]);
    else {
      const until = typeof expiresMs === 'number' ? expiresMs : undefined;
      declared.push({
        in: place === 'query' ? 'query' : 'header',
        header: [name, text],
        callback,
        expiresMs: until,
        origins: Array.isArray(origins) ? origins.map(String) : undefined,
      });
    }
  }
  return { own, declared };
}

/** What is wrong with a header that a document declares; undefined: it can be sent. */
export function headerNameFault(name: string): string | undefined {
  return nameFault(name, new Set());
}

export function headerValueFault(value: string): string | undefined {
  return valueFault(value, limits.declaredHeaderCharsMax);
}

/** What is added to the requests of one callback. The subscriber's own headers replace those of the same name. */
export function headersOf(
  { own, declared }: KeptHeaders,
  { definition, url }: { definition: string; url: string },
): SentHeaders {
  const taken = new Set(own.map(([name]) => asRead(name)));
  const origin = URL.parse(url)?.origin;
  const ofCallback = declared.filter(
    ({ callback, origins }) =>
      callback === definition &&
      (origins === undefined || (origin !== undefined && origins.includes(origin))),
  );
  const sent = ofCallback.filter((one) => one.in === 'header' && !taken.has(asRead(one.header[0])));
  const lasting = sent.filter(({ expiresMs }) => expiresMs === undefined);
  return {
    headers: lasting.length === 0 ? own : [...own, ...lasting.map(({ header }) => header)],
    expiring: sent.flatMap(({ header, expiresMs }) =>
      expiresMs === undefined ? [] : [{ header, expiresMs }],
    ),
    secretQuery: ofCallback
      .filter((one) => one.in === 'query')
      .map(({ header }) => header.map(encodeURIComponent).join('='))
      .join('&'),
  };
}

export interface SentHeaders {
  headers: readonly Header[];
  expiring: readonly { header: Header; expiresMs: number }[];
  /** Percent-encoded pairs: `a=1&b=2`. */
  secretQuery: string;
}

/** Headers that define the request, or that only Ringback or a proxy may set. */
const denied: ReadonlySet<string> = new Set([
  'host',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'upgrade',
  'expect',
  'cookie',
  'accept-encoding',
  'user-agent',
  'traceparent',
  'tracestate',
]);
/** More headers that would change the request or its apparent sender. */
const reserved: ReadonlySet<string> = new Set([
  'http2-settings',
  'date',
  'range',
  'via',
  'forwarded',
  'x-forwarded',
  'x-real-ip',
  'x-method-override',
  'x-rewrite-url',
]);
const deniedPrefixes = [
  'content-',
  'if-',
  'proxy-',
  'sec-',
  'x-forwarded-',
  'x-http-method',
  'x-original-',
  'webhook-',
  'ringback-',
];

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
// No space at either end: it would be trimmed in transit.
const printable = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/;

function nameFault(name: string, taken: ReadonlySet<string>): string | undefined {
  const most = limits.callbackHeaderNameCharsMax;
  if (name.length > most) return `is a name of ${name.length} characters, expected at most ${most}`;
  if (!token.test(name))
    return "is not a header name, expected letters, digits and !#$%&'*+.^_`|~-";
  const read = asRead(name);
  if (taken.has(read)) return 'appears twice, expected each name once, regardless of case';
  if (denied.has(read)) return 'is a header that Ringback sets itself, expected another name';
  if (reserved.has(read)) return 'is reserved, expected another name';
  const prefix = deniedPrefixes.find((one) => read.startsWith(one));
  return prefix && `starts with ${prefix}, which is reserved, expected another name`;
}

/**
 * CGI, WSGI and PHP read `_` as `-`, some servers any punctuation: `Webhook_Id` could pass for
 * ours.
 */
function asRead(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '-');
}

function valueFault(
  value: unknown,
  most: number = limits.callbackHeaderCharsMax,
): string | undefined {
  if (typeof value !== 'string') return 'is not a string, expected the value of the header';
  if (value.length === 0 || value.length > most) {
    return `has a value of ${value.length} characters, expected 1 to ${most}`;
  }
  if (printable.test(value)) return undefined;
  return (
    'has a value that cannot be sent, expected printable ASCII without leading or ' +
    'trailing spaces'
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function faulty(faults: readonly Fault[]): HeadersReading {
  return { kind: 'faulty', faults };
}
