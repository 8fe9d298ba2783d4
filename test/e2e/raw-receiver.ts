// A receiver made of bytes: what it does with a connection is up to the test. It says when somebody
// has connected, when a request began, and when a connection is over.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { Tally } from './awaitable-count.ts';

export interface RawReceiver extends AsyncDisposable {
  url: string;
  connected: Tally;
  closed: Tally;
  /** Requests that began: each comes in one piece, since it is small. */
  requests: Tally;
}

/** `serve` is called for each connection. */
export async function receiveRaw(serve: (socket: Socket) => void): Promise<RawReceiver> {
  const connected = new Tally('connections');
  const closed = new Tally('connections were closed');
  const requests = new Tally('requests began');
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    connected.add();
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('end', () => socket.end()); // The caller is gone.
    socket.on('close', () => {
      sockets.delete(socket);
      closed.add();
    });
    socket.on('data', (data: Buffer) => {
      if (data.toString('latin1', 0, 6).startsWith('POST /')) requests.add();
    });
    serve(socket);
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
