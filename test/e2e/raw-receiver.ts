// A receiver made of bytes: what it does with a connection is up to the test. It says when somebody
// has connected, when a request began, and when a connection is over.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { Tally } from './tally.ts';

export interface RawReceiver extends AsyncDisposable {
  url: string;
  connected: Tally;
  closed: Tally;
  /** Requests that began: each comes in one piece, since it is small. */
  requests: Tally;
}

/** `serve` is called for each request that begins, with the connection that it came on. */
export async function receiveRaw(serve: (socket: Socket) => void): Promise<RawReceiver> {
  const connected = new Tally('connections');
  const closed = new Tally('connections were closed');
  const requests = new Tally('requests began');
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    connected.add();
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      closed.add();
    });
    socket.on('data', (data: Buffer) => {
      if (!data.toString('latin1', 0, 6).startsWith('POST /')) return;
      requests.add();
      serve(socket);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert(typeof address === 'object' && address !== null);
  return {
    url: `http://127.0.0.1:${address.port}/hook`,
    connected,
    closed,
    requests,
    [Symbol.asyncDispose]: async () => {
      const ended = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await ended;
    },
  };
}

/** Writes a piece again and again, at most as fast as it is taken, until the connection is over. */
export function flood(socket: Socket, piece: string | Uint8Array): void {
  // After an error it is not destroyed yet for a moment: what is written then fails at once and calls
  // back at once, for ever.
  const more = (error?: Error | null): void => {
    if (!socket.destroyed && (error ?? undefined) === undefined) socket.write(piece, more);
  };
  more();
}

/** Writes one byte of the text at once and one each second. */
export function drip(socket: Socket, text: string): void {
  const bytes = Buffer.from(text);
  let sent = 0;
  const next = (): void => {
    if (socket.destroyed || sent >= bytes.length) return;
    socket.write(bytes.subarray(sent, sent + 1));
    sent += 1;
  };
  next();
  const timer = setInterval(next, 1_000);
  socket.on('close', () => clearInterval(timer));
}
