// A raw receiver: the test decides what to do with each connection. It counts connections, started requests and closed
// connections.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { Tally } from './awaitable-count.ts';

export interface RawReceiver extends AsyncDisposable {
  url: string;
  connected: Tally;
  closed: Tally;
  /** Requests that have started; each is small and comes in one piece. */
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
    socket.on('end', () => socket.end()); // The caller has closed the connection.
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
