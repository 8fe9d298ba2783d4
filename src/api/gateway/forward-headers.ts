// The head of a request as the API behind the gateway gets it: without what concerns one connection only, and with
// the facts that the API can no longer see itself. It must never let a caller set one of these facts.
import type { IncomingMessage } from 'node:http';

export interface Forwarding {
  /** The Host header for the API; undefined: that of the caller. */
  host: string | undefined;
  /** Whether a proxy in front may say who the caller is. */
  trustProxy: boolean;
  isSecure: boolean;
  requestId: string;
  /** Replaces the caller's, if this node has a tracer. */
  trace: readonly (readonly [string, string])[];
  /** Further headers from Ringback. */
  own: readonly (readonly [string, string])[];
}

/** Of one connection, not of the message (RFC 9110, 7.6.1). `Expect` was answered by this server. */
const hopByHop = new Set([
  'connection',
  'expect',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** `Connection` may name further headers, but not those that the message depends on. */
const neverListed = new Set(['host', 'content-length', 'content-type', 'content-encoding']);

type Line = readonly [string, string];

/** As a flat list of names and values, in the caller's order and spelling. */
export function forwardHeaders(
  request: Pick<IncomingMessage, 'rawHeaders' | 'headers' | 'socket'>,
  forwarding: Forwarding,
): string[] {
  const { requestId, trace, own, host } = forwarding;
  const isSet = new Set([...trace, ...own].map(([name]) => name.toLowerCase()));
  if (host !== undefined) isSet.add('host');
  const kept = endToEnd(linesOf(request.rawHeaders)).filter(([name]) => {
    const plain = name.toLowerCase();
    return !isSet.has(plain) && !isReserved(plain);
  });
  const te = linesOf(request.rawHeaders).filter(([name]) => name.toLowerCase() === 'te');
  const acceptsTrailers = te.some(([, value]) => /(?:^|[,\s])trailers(?:$|[,;\s])/i.test(value));
  const hasId = request.headers['x-request-id'] !== undefined;
  return [
    ...(host === undefined ? [] : [['Host', host] as const]),
    ...kept,
    ...(acceptsTrailers ? [['TE', 'trailers'] as const] : []),
    ...(hasId ? [] : [['X-Request-Id', requestId] as const]),
    ...forwardedLines(request, forwarding),
    ...trace,
    ...own,
  ].flat();
}

/** The head of an answer for the caller. `hasTrailers`: whether trailers can be sent to this caller. */
export function answerLines(raw: readonly string[], hasTrailers: boolean): string[] {
  const lines = linesOf(raw);
  const announced = hasTrailers ? lines.filter(([name]) => name.toLowerCase() === 'trailer') : [];
  return [...endToEnd(lines), ...announced].flat();
}

function linesOf(raw: readonly string[]): Line[] {
  const lines: Line[] = [];
  for (let at = 0; at < raw.length; at += 2) lines.push([raw[at] ?? '', raw[at + 1] ?? '']);
  return lines;
}

function endToEnd(lines: readonly Line[]): readonly Line[] {
  const listed = new Set(
    lines
      .filter(([name]) => name.toLowerCase() === 'connection')
      .flatMap(([, value]) => value.toLowerCase().split(','))
      .map((name) => name.trim())
      .filter((name) => !neverListed.has(name)),
  );
  return lines.filter(([name]) => {
    const plain = name.toLowerCase();
    return !hopByHop.has(plain) && !listed.has(plain);
  });
}

/**
 * Headers whose values the API gets from Ringback only. Many servers read `_` as `-`, so that spelling is reserved
 * as well.
 */
function isReserved(name: string): boolean {
  const plain = name.replaceAll('_', '-');
  return (
    plain === 'forwarded' ||
    plain === 'x-real-ip' ||
    plain.startsWith('x-forwarded-') ||
    /^ringback-(?:subscription|app|key|customer)$/.test(plain)
  );
}

function forwardedLines(
  { headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>,
  { trustProxy, isSecure }: Forwarding,
): Line[] {
  const given = (name: string): string | undefined => {
    const value = trustProxy ? headers[name] : undefined;
    return Array.isArray(value) ? value.join(', ') : value;
  };
  const address = (socket.remoteAddress ?? '').replace(/^::ffff:(?=\d+\.)/, '');
  const { host = '' } = headers;
  const proto = isSecure ? 'https' : 'http';
  const node = address.includes(':') ? `"[${address}]"` : address;
  const own = `for=${node};host="${host.replaceAll(/["\\]/g, '')}";proto=${proto}`;
  const port = given('x-forwarded-port');
  return [
    ['X-Forwarded-For', appended(given('x-forwarded-for'), address)],
    ['X-Forwarded-Host', given('x-forwarded-host') ?? host],
    ['X-Forwarded-Proto', given('x-forwarded-proto') ?? proto],
    ...(port === undefined ? [] : [['X-Forwarded-Port', port] as const]),
    ['Forwarded', appended(given('forwarded'), own)],
  ];
}

function appended(before: string | undefined, value: string): string {
  return before === undefined ? value : `${before}, ${value}`;
}
