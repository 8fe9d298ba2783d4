// One request of the fuzzer: how it is written on the wire, and what has to come of it.
import type { Operation } from './document.ts';

/**
 * `valid`: all rules hold, those of descriptions too. `written`: those of the schemas hold. `broken`: exactly
 * one does not. `wild`: nobody knows.
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
  /** Which rule was broken, or in which way it is wild. */
  rule: string;
  /** Undefined: nobody. */
  caller: Caller | undefined;
  /** Where the key stands. */
  carrier: 'header' | 'query' | 'cookie' | 'session' | 'none';
  /** Holds an id of another app. */
  isForeign: boolean;
  method: string;
  /** As it goes over the wire. */
  path: string;
  /** Not yet encoded, unless `rawQuery` stands in its place. */
  query: readonly Pair[];
  rawQuery?: string;
  headers: readonly Pair[];
  body: Uint8Array | undefined;
  /** Instead of everything: bytes on a connection of their own. */
  raw?: Uint8Array;
}

export function targetOf({ path, query, rawQuery }: FuzzRequest): string {
  const text = rawQuery ?? query.map((pair) => pair.map(encode).join('=')).join('&');
  return text === '' ? path : `${path}?${text}`;
}

/** Half characters have no UTF-8. */
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

/** In full, for whoever wants to send it again; keys are named, not shown. */
export function show(request: FuzzRequest): string {
  const { caller, intent, rule } = request;
  const text = Buffer.from(bytesOf(request, 'x')).toString('latin1');
  const secret = caller?.key ?? '';
  const shown = secret === '' ? text : text.replaceAll(secret, `<key of ${caller?.name}>`);
  return `${intent} (${rule}) by ${caller?.name ?? 'nobody'}: ${JSON.stringify(shown.slice(0, shownMax))}`;
}

export function asJson(body: Uint8Array | undefined): unknown {
  if (body === undefined) return undefined;
  try {
    return JSON.parse(Buffer.from(body).toString()) as unknown;
  } catch {
    return undefined;
  }
}
