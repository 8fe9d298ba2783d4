// Scripted receivers on loopback, and a sender that resolves any name to them.
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import type { Server, Socket } from 'node:net';
import { createServer } from 'node:net';
import { realWorld } from '../../src/core/base/world.ts';
import { systemConnector, type Connector } from '../../src/egress/http/connect.ts';
import type { SendRequest } from '../../src/egress/http/exchange.ts';
import type { Guard } from '../../src/egress/guard/guard.ts';
import { createGuard } from '../../src/egress/guard/guard.ts';
import { parseAllowTargets } from '../../src/egress/guard/allow-list.ts';
import type { Resolver } from '../../src/egress/guard/resolve.ts';
import type { Sender, SenderOptions } from '../../src/egress/http/send.ts';
import { createSender } from '../../src/egress/http/send.ts';

export interface Receiver {
  readonly port: number;
  readonly url: string;
  /** Connections since the start, bytes read on them, and requests begun. */
  readonly seen: { accepted: number; bytes: number; requests: number };
  /** Resolves when no connection is open. */
  empty(): Promise<void>;
  stop(): Promise<void>;
}

const started = new Set<Receiver>();

/** For after(), so that no receiver keeps the test's process alive. */
export async function stopReceivers(): Promise<void> {
  await Promise.all([...started].map(async (receiver) => receiver.stop()));
}

/** Calls `serve` for each connection. `server` may be one of TLS. */
export async function startReceiver(
  serve: (socket: Socket, seen: Receiver['seen']) => void,
  server: Server = createServer({ allowHalfOpen: true }),
): Promise<Receiver> {
  const seen = { accepted: 0, bytes: 0, requests: 0 };
  const sockets = new Set<Socket>();
  const changes = new EventEmitter();
  server.on('connection', (socket: Socket) => {
    seen.accepted += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      changes.emit('close');
    });
  });
  const event = 'setSecureContext' in server ? 'secureConnection' : 'connection';
  server.on('tlsClientError', () => undefined);
  server.on(event, (socket: Socket) => {
    socket.on('error', () => undefined);
    socket.on('end', () => socket.end()); // The sender has closed.
    socket.on('data', (data: Buffer) => {
      seen.bytes += data.length;
      if (/^[A-Z]+ /.test(data.toString('latin1', 0, 10))) seen.requests += 1;
    });
    serve(socket, seen);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert(typeof address === 'object' && address !== null);
  const receiver: Receiver = {
    port: address.port,
    url: `http://127.0.0.1:${address.port}/hook`,
    seen,
    empty: async () => {
      while (sockets.size > 0) await once(changes, 'close');
    },
    stop: async () => {
      started.delete(receiver);
      for (const socket of sockets) socket.destroy();
      if (server.listening) server.close();
      await receiver.empty();
    },
  };
  started.add(receiver);
  return receiver;
}

/** Answers each request with the same bytes. Requests are small, so each arrives in one piece. */
export function answering(...pieces: (string | Uint8Array)[]): (socket: Socket) => void {
  return (socket) => {
    socket.on('data', () => {
      for (const piece of pieces) socket.write(piece);
    });
  };
}

/** A valid response that keeps the connection open. */
export function ok(body = 'ok', status = '200 OK'): string {
  return `HTTP/1.1 ${status}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

/** Resolves every name to these addresses. */
export function resolving(...addresses: string[]): Resolver {
  return { resolve: async () => ({ kind: 'addresses', addresses }) };
}

export function guardOf(
  options: { allow?: string; requireHttps?: boolean; resolver?: Resolver } = {},
): Guard {
  const { allow = 'loopback', requireHttps = false, resolver = resolving('127.0.0.1') } = options;
  const read = parseAllowTargets(allow);
  assert(read.kind === 'allow');
  return createGuard({ policy: { allow: read.allow, requireHttps }, resolver });
}

export function makeSender(options: Partial<SenderOptions> = {}): Sender {
  return createSender({ guard: guardOf(), world: realWorld(), ...options });
}

export function post(url: string, parts: Partial<SendRequest> = {}): SendRequest {
  const headers = ['content-type', 'application/json'];
  const body = Buffer.from('{"message":"hello"}');
  return { app: 1, method: 'POST', url, headers, body, timeoutMs: 5_000, ...parts };
}

/** Records every dial, and redirects it to a port on loopback. */
export function recorder(port?: number): Connector & { dials: string[] } {
  const dials: string[] = [];
  const system = systemConnector();
  return {
    dials,
    async connect(target) {
      dials.push(target.address);
      if (port === undefined) throw new Error('This test must not dial.');
      return system.connect({ ...target, address: '127.0.0.1', port });
    },
  };
}
