// All hostile receivers at once, as a process of their own: it does what it is told to, one behaviour at a
// time on all its ports, and reports what it saw. What it measures is how long callers stay.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { createSecureContext, TLSSocket, type SecureContext } from 'node:tls';
import { neverAccept, neverListen } from '../../egress/unreachable-receivers.ts';
import { strayPath } from '../../egress/receiver-behaviours.ts';
import { shownBy, type Certificates, type Shown } from '../../egress/tls-behaviours.ts';
import { cases, isWhole, type Case, type ReceiverKind } from './cases.ts';

export type Order =
  | { kind: 'open'; ports: Readonly<Record<ReceiverKind, number>>; certificates: Certificates }
  /** The index of a case; or they all answer well, and hang up. */
  | { kind: 'behave'; as: number | 'well' }
  /** All attempts are over. */
  | { kind: 'report' }
  /** They are not. */
  | { kind: 'look' };

export type ReceiverPorts = Readonly<Record<ReceiverKind, readonly number[]>>;

/** Of one behaviour. */
export interface Seen {
  accepted: number;
  requests: number;
  /** Requests that only a followed redirect leads to. */
  strays: number;
  /** The most callers at a time, on one port. */
  most: number;
  /** The longest that a caller stayed, from its coming to its going. */
  heldMs: number;
  /** Who was still there a while after all attempts were over. */
  left: number;
}

const patienceMs = 5_000;
const lookMs = 10;
const closing = 'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok';

const well = { serve: answerAndClose, shows: 'good', isWhole: false } as const;
let acting: { serve: Case['serve']; shows: Shown | undefined; isWhole: boolean } = well;
let seen = nothingSeen();
const sockets = new Set<Socket>();
const contexts = new Map<Shown, SecureContext>();
let contextOf: (shows: Shown) => SecureContext;

process.on('message', (order: Order) => {
  void obey(order).then((answer) => process.send?.(answer));
});
process.on('disconnect', () => process.exit());

async function obey(order: Order): Promise<ReceiverPorts | Seen | 'done'> {
  switch (order.kind) {
    case 'open':
      contextOf = (shows) => {
        const context =
          contexts.get(shows) ?? createSecureContext(shownBy(order.certificates, shows));
        contexts.set(shows, context);
        return context;
      };
      return open(order.ports);
    case 'behave':
      for (const socket of sockets) socket.destroy();
      acting = order.as === 'well' ? well : actingAs(order.as);
      seen = nothingSeen();
      return 'done';
    case 'report':
      return report();
    case 'look':
      return seen;
  }
}

function actingAs(index: number): typeof acting {
  const found = cases[index];
  assert(found, `there is no case ${index}`);
  return { serve: found.serve, shows: found.shows, isWhole: isWhole(found) };
}

function nothingSeen(): Seen {
  return { accepted: 0, requests: 0, strays: 0, most: 0, heldMs: 0, left: 0 };
}

async function open({
  http,
  https,
  deaf,
  absent,
}: Record<ReceiverKind, number>): Promise<ReceiverPorts> {
  // Both end with this process: the one by a connection that it holds, the other by a pipe.
  const never = deaf === 0 ? undefined : await neverAccept(deaf);
  const none = await neverListen(absent);
  process.on('exit', () => void never?.[Symbol.asyncDispose]());
  return {
    http: await listen(http, () => false),
    https: await listen(https, () => true),
    deaf: never?.ports ?? [],
    absent: none.ports,
  };
}

async function listen(count: number, isSecure: () => boolean): Promise<number[]> {
  const ports: number[] = [];
  for (let port = 0; port < count; port += 1) {
    let callers = 0;
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      callers += 1;
      seen.most = Math.max(seen.most, callers);
      socket.on('close', () => (callers -= 1));
      meet(socket, isSecure() ? acting.shows : undefined);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    assert(typeof address === 'object' && address !== null);
    ports.push(address.port);
  }
  return ports;
}

function meet(socket: Socket, shows: Shown | undefined): void {
  const mine = seen;
  const { serve } = acting;
  const cameMs = performance.now();
  mine.accepted += 1;
  sockets.add(socket);
  socket.on('error', () => undefined);
  socket.on('close', () => {
    sockets.delete(socket);
    mine.heldMs = Math.max(mine.heldMs, performance.now() - cameMs);
  });
  const served = shows === undefined ? socket : secure(socket, contextOf(shows));
  served.on('end', () => served.end()); // The caller is gone.
  served.on('data', (data: Buffer) => {
    const line = data.toString('latin1', 0, 32);
    if (line.startsWith('POST ')) mine.requests += 1;
    if (line.includes(` ${strayPath}`)) mine.strays += 1;
  });
  serve(served);
}

function secure(socket: Socket, secureContext: SecureContext): TLSSocket {
  const secured = new TLSSocket(socket, { isServer: true, secureContext });
  secured.on('error', () => socket.destroy());
  secured.on('close', () => socket.destroy());
  return secured;
}

function answerAndClose(socket: Socket): void {
  socket.once('data', () => socket.end(closing));
}

/** Whoever may be used again stays, and that is well. */
async function report(): Promise<Seen> {
  const lastMs = performance.now() + patienceMs;
  while (!acting.isWhole && sockets.size > 0 && performance.now() < lastMs) await wait(lookMs);
  const left = acting.isWhole ? 0 : sockets.size;
  for (const socket of sockets) socket.destroy();
  return { ...seen, left };
}
