// Stands between the order service and Ringback, and loses a publish on its way there or its answer on
// the way back: the two moments in which a program that dies does not know what became of it.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { inTime, patienceMs } from '../e2e/awaitable-count.ts';

export interface Gate extends AsyncDisposable {
  url: string;
  /** Resolves with what Ringback has answered (empty: it was not asked), which nobody else hears. */
  lost: Promise<string>;
}

export async function openGate(target: string, loses: 'request' | 'answer'): Promise<Gate> {
  const lost = Promise.withResolvers<string>();
  const server = createServer((request) => {
    const pass = async (): Promise<string> => {
      const body = await buffer(request);
      if (loses === 'request') return '';
      const {
        host: _,
        connection: _connection,
        'content-length': _length,
        ...kept
      } = request.headers;
      const headers = Object.entries(kept).map(([name, value]): [string, string] => [
        name,
        String(value),
      ]);
      const { method = '', url = '' } = request;
      const answer = await fetch(target + url, { method, headers, body: Uint8Array.from(body) });
      assert.equal(answer.status, 202);
      return answer.text();
    };
    pass().then(lost.resolve, lost.reject);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert(typeof address === 'object' && address !== null);
  return {
    url: `http://127.0.0.1:${address.port}`,
    lost: inTime(lost.promise, patienceMs, () => 'nobody came to the gate'),
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
