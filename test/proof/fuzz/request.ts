// One request of the fuzzer, its bytes on the wire, and the expected kind of response.
import type { Operation } from './document.ts';

/**
 * `valid`: obeys the schemas and the descriptions. `written`: obeys the schemas. `broken`: breaks exactly one
 * rule. `wild`: anything, so no status is expected.
 */
export type Intent = 'valid' | 'written' | 'broken' | 'wild';

export interface Caller {
  name: string;
  app: string;
  key: string;
  scopes: readonly string[];
  /** Revoked. */
  isDead?: boolean;
}

export type Pair = readonly [name: string, value: string];

export interface FuzzRequest {
  operation: Operation;
  intent: Intent;
  /** The broken rule, or the changes that made the request wild. */
  rule: string;
  /** Undefined for a request without a key. */
  caller: Caller | undefined;
  /** Where the request carries its key. */
  carrier: 'header' | 'query' | 'cookie' | 'session' | 'portal' | 'none';
  /** Contains an id of another app. */
  isForeign: boolean;
  method: string;
  /** Encoded, as sent. */
  path: string;
  /** Not yet encoded; `rawQuery` replaces it. */
  query: readonly Pair[];
  rawQuery?: string;
  headers: readonly Pair[];
  body: Uint8Array | undefined;
  /** Raw bytes to send instead, on a new connection. */
  raw?: Uint8Array;
}

export function targetOf({ path, query, rawQuery }: FuzzRequest): string {
  const text = rawQuery ?? query.map((pair) => pair.map(encode).join('=')).join('&');
  return text === '' ? path : `${path}?${text}`;
}

/** Replaces lone surrogates, which UTF-8 cannot encode. */
export function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

export function bytesOf(request: FuzzRequest, host: string): Uint8Array {
  if (request.raw !== undefined) return request.raw;
  const { method, headers, body } = request;
  const hasHost = headers.some(([name]) => name.toLowerCase() === 'host');
  const hasLength = headers.some(([name]) => /^(content-length|transfer-encoding)$/i.test(name));
  const isBodiless = body === undefined && (method === 'GET' || method === 'HEAD');
  const lines = [
    `${method} ${targetOf(request)} HTTP/1.1`,
    ...(hasHost ? [] : [`Host: ${host}`]),
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(hasLength || isBodiless ? [] : [`Content-Length: ${body?.byteLength ?? 0}`]),
  ];
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  return body === undefined ? head : Buffer.concat([head, body]);
}

const shownMax = 1_500;

/** The request as text, so that it can be sent again; the key is replaced by its name. */
export function show(request: FuzzRequest): string {
  const { caller, intent, rule } = request;
  const text = Buffer.from(bytesOf(request, 'x')).toString('latin1');
  const secret = caller?.key ?? '';
  const shown = secret === '' ? text : text.replaceAll(secret, `<key of ${caller?.name}>`);
  return `${intent} (${rule}) by ${caller?.name ?? 'nobody'}: ${JSON.stringify(shown.slice(0, shownMax))}`;
}

/** Large bodies may be nested too deeply for a recursive function. */
export function isDeep(body: Uint8Array | undefined): boolean {
  return body !== undefined && body.byteLength > deepBytesMin;
}

const deepBytesMin = 4_096;

export function asJson(body: Uint8Array | undefined): unknown {
  if (body === undefined) return undefined;
  try {
    return JSON.parse(Buffer.from(body).toString()) as unknown;
  } catch {
    return undefined;
  }
}

/** Whether it carries a session: of the console, or of a portal. */
export function isOfSession({ carrier }: Pick<FuzzRequest, 'carrier'>): boolean {
  return carrier === 'session' || carrier === 'portal';
}

/** Whether the caller may do what needs the scope. `admin` includes `retry`. */
export function mayDo({ scopes }: Pick<Caller, 'scopes'>, scope: string): boolean {
  return scopes.includes(scope) || (scope === 'retry' && scopes.includes('admin'));
}
