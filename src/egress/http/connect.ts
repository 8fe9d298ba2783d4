// Opens a connection to a vetted URL. It must never connect anywhere else: the socket goes to an
// address that the guard has checked, and the address it reached is checked again before a byte is
// sent. No proxies, no unix sockets, no DNS lookups; the TLS server name and the Host header are
// those of the URL.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { OnReadOpts, Socket } from 'node:net';
import { isIP, connect as tcpConnect } from 'node:net';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import { showUrl } from '../../core/secrets/redact.ts';
import { limits } from '../../core/limits/limits.ts';
import type { World } from '../../core/base/world.ts';
import { realWorld } from '../../core/base/world.ts';
import { isSame, parseAddress } from '../guard/address.ts';
import { Deadlines } from './deadlines.ts';
import type { CallbackUrl, Guard, Refused, Unresolved, Vetted } from '../guard/guard.ts';

/**
 * Loaded this way because importing node:tls parses all root certificates at once, for a list that
 * is not used; that delays each start.
 */
const { connect: tlsConnect } = process.getBuiltinModule('node:tls');

export interface Connector {
  /**
   * Opens TCP to exactly this address. Rejects once the signal is aborted, and leaves no socket
   * behind.
   */
  connect(target: ConnectTarget): Promise<Socket>;
}

export interface ConnectTarget {
  readonly address: string;
  readonly port: number;
  readonly signal: AbortSignal;
  readonly onBytes?: OnBytes | undefined;
}

/**
 * Receives bytes without a stream, in place of `data` events. The piece is valid only during the
 * call.
 */
export type OnBytes = (piece: Buffer) => void;

export interface DialOptions {
  readonly guard: Guard;
  readonly connector?: Connector;
  readonly world?: Pick<World, 'sleep' | 'monotonicMs'>;
  readonly deadlines?: Deadlines;
  /** For all addresses and the TLS handshake together. */
  readonly timeoutMs?: number;
  readonly tls?: Pick<ConnectionOptions, 'ca' | 'ALPNProtocols' | 'session'>;
  /** For connectors that support it, and without TLS only. */
  readonly onBytes?: OnBytes;
}

export type DialResult =
  | { readonly kind: 'connected'; readonly socket: Socket | TLSSocket; readonly address: string }
  | { readonly kind: 'blocked'; readonly message: string }
  | {
      readonly kind: 'failed';
      readonly reason: 'connect' | 'tls' | 'timeout' | 'aborted';
      readonly message: string;
      readonly cause: unknown;
    };

// Only the first few of many addresses are tried, so that each has time for a handshake.
const dialAddressesMax = 3;
const keepAliveDelayMs = 60_000;

/** Tries the vetted addresses in order; each gets an equal share of the remaining time. */
export async function dial(
  vetted: Vetted,
  options: DialOptions & { readonly signal?: AbortSignal },
): Promise<DialResult> {
  const { world = realWorld(), timeoutMs = limits.connectTimeoutMs, signal } = options;
  const { deadlines = new Deadlines(world) } = options;
  const addresses = vetted.addresses.slice(0, dialAddressesMax);
  assert(addresses.length > 0, 'A vetted URL has at least one address.');
  const startMs = world.monotonicMs();
  let result: DialResult | undefined;
  for (const [index, address] of addresses.entries()) {
    const leftMs = timeoutMs - (world.monotonicMs() - startMs);
    const shareMs = Math.max(1, Math.floor(leftMs / (addresses.length - index)));
    const deadline = startDeadline({ deadlines, ms: shareMs, signal });
    result = await dialOne(vetted.url, address, { ...options, deadline: deadline.signal });
    deadline.stop();
    const next = result.kind === 'failed' && ['connect', 'timeout'].includes(result.reason);
    if (!next) return result;
  }
  assert(result !== undefined);
  return result;
}

/** The connector of the machine. It refuses names: the system would look them up unguarded. */
export function systemConnector(): Connector {
  return {
    async connect({ address, port, signal, onBytes }) {
      assert(isIP(address) !== 0, `Cannot connect to "${address}": expected an address.`);
      const socket = tcpConnect({
        host: address,
        port,
        autoSelectFamily: false,
        noDelay: true,
        keepAlive: true,
        keepAliveInitialDelay: keepAliveDelayMs,
        ...(onBytes && { onread: readIntoBuffer(onBytes) }),
      });
      socket.on('error', ignoreError);
      try {
        await once(socket, 'connect', { signal });
        return socket;
      } catch (error) {
        socket.destroy();
        throw error;
      }
    },
  };
}

/**
 * The read buffer of all sockets; each read is consumed in the same turn. Without it Node allocates
 * 64 KiB for each read and returns most of it, a third of the cost of a request:
 * docs/performance.md.
 */
const landing = Buffer.allocUnsafeSlow(65_536);

function readIntoBuffer(onBytes: OnBytes): OnReadOpts {
  const callback = (length: number): boolean => {
    onBytes(landing.subarray(0, length));
    return true;
  };
  return { buffer: landing, callback };
}

/** Why there is no socket. */
export class DialError extends Error {
  readonly result: Refused | Unresolved | Exclude<DialResult, { kind: 'connected' }>;

  constructor(result: DialError['result']) {
    super(result.message, result.kind === 'failed' ? { cause: result.cause } : undefined);
    this.name = 'DialError';
    this.result = result;
  }
}

/** Reads, vets and dials a URL; connects only to addresses that the guard has checked. */
export async function openVetted(
  href: string,
  options: DialOptions & { readonly signal?: AbortSignal },
): Promise<DialResult | Refused | Unresolved> {
  const read = options.guard.read(href);
  if (read.kind === 'refused') return read;
  const vetted = await options.guard.vet(read.url, options.signal);
  return vetted.kind === 'vetted' ? dial(vetted, options) : vetted;
}

async function dialOne(
  url: CallbackUrl,
  address: string,
  options: DialOptions & { readonly signal?: AbortSignal; readonly deadline: AbortSignal },
): Promise<DialResult> {
  const { guard, connector = systemConnector(), signal, deadline } = options;
  if (guard.checkAddress(address).kind === 'forbidden') return blocked(url);
  const onBytes = url.protocol === 'http:' ? options.onBytes : undefined;
  const target = { address, port: url.port, signal: deadline, onBytes };
  const opened = await attempt(connector.connect(target));
  if (opened.kind === 'threw') return failed(url, 'connect', { ...opened, signal, deadline });
  const { remoteAddress } = opened.value;
  const arrived = isSame(parseAddress(remoteAddress ?? ''), parseAddress(address));
  if (!arrived || guard.checkAddress(remoteAddress).kind === 'forbidden') {
    opened.value.destroy();
    // A peer that hangs up at once leaves no remote address: that is a failure, not an attack.
    if (remoteAddress !== undefined) return blocked(url);
    return failed(url, 'connect', { cause: undefined, signal, deadline });
  }
  if (url.protocol === 'http:') return { kind: 'connected', socket: opened.value, address };
  const secured = await attempt(secure(opened.value, { url, tls: options.tls, deadline }));
  if (secured.kind === 'threw') return failed(url, 'tls', { ...secured, signal, deadline });
  return { kind: 'connected', socket: secured.value, address };
}

async function secure(
  socket: Socket,
  options: { url: CallbackUrl; tls: DialOptions['tls']; deadline: AbortSignal },
): Promise<TLSSocket> {
  const { host } = options.url;
  // An address is not a valid TLS server name; the certificate is then checked against the address
  // itself.
  const peer = host.kind === 'address' ? { host: host.address } : { servername: host.name };
  const secured = tlsConnect({
    ALPNProtocols: ['http/1.1'],
    ...options.tls,
    ...peer,
    socket,
    minVersion: 'TLSv1.2',
    rejectUnauthorized: true, // Overrides NODE_TLS_REJECT_UNAUTHORIZED.
  });
  secured.on('error', ignoreError);
  try {
    await once(secured, 'secureConnect', { signal: options.deadline });
    return secured;
  } catch (error) {
    secured.destroy();
    socket.destroy();
    throw error;
  }
}

type Attempt<T> = { kind: 'value'; value: T } | { kind: 'threw'; cause: unknown };

async function attempt<T>(promise: Promise<T>): Promise<Attempt<T>> {
  try {
    return { kind: 'value', value: await promise };
  } catch (cause) {
    return { kind: 'threw', cause };
  }
}

// An error after the hand-over closes the socket, and its owner sees the close. Without this
// listener an error between two owners would end the process.
function ignoreError(): void {}

function blocked(url: CallbackUrl): DialResult {
  const message = `Cannot connect to callback URL "${showUrl(url.href)}": its address is not allowed`;
  return { kind: 'blocked', message };
}

function failed(
  url: CallbackUrl,
  stage: 'connect' | 'tls',
  why: { cause: unknown; signal: AbortSignal | undefined; deadline: AbortSignal },
): DialResult {
  const inTime = why.deadline.aborted ? 'timeout' : stage;
  const reason = why.signal?.aborted === true ? 'aborted' : inTime;
  const message = `Cannot connect to callback URL "${showUrl(url.href)}": ${failures[reason]}`;
  return { kind: 'failed', reason, message, cause: why.cause };
}

const failures = {
  connect: 'connection failed',
  tls: 'TLS handshake failed, or the certificate is not trusted',
  timeout: 'no connection in time',
  aborted: 'the attempt was abandoned',
} as const;

/**
 * A signal that is aborted when the time is up or when the caller's signal is. One that is no
 * longer needed is not aborted, since aborting is expensive.
 */
function startDeadline(options: {
  deadlines: Deadlines;
  ms: number;
  signal: AbortSignal | undefined;
}): { signal: AbortSignal; stop(): void } {
  const { deadlines, ms, signal } = options;
  const over = new AbortController();
  const expire = (): void => over.abort();
  const deadline = deadlines.set(ms, { expire });
  if (signal?.aborted === true) expire();
  signal?.addEventListener('abort', expire);
  const stop = (): void => {
    deadlines.clear(deadline);
    signal?.removeEventListener('abort', expire);
  };
  return { signal: over.signal, stop };
}
