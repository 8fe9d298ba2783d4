// A Ringback that answers `POST /exchanges` as the test says, and keeps what it got.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { Exchange } from '../../src/middleware/middleware.ts';

export interface FakeRingback extends AsyncDisposable {
  url: string;
  exchanges: Exchange[];
  idempotencyKeys: (string | undefined)[];
  answer: (response: ServerResponse) => void;
}

export function answerWith(status: number, body: object): FakeRingback['answer'] {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };
}

export const registered = answerWith(201, {
  registered: true,
  subscription: { id: 'sub_1' },
});

export async function fakeRingback(): Promise<FakeRingback> {
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      fake.exchanges.push(body as Exchange);
      fake.idempotencyKeys.push(request.headers['idempotency-key'] as string | undefined);
      fake.answer(response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const fake: FakeRingback = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    exchanges: [],
    idempotencyKeys: [],
    answer: registered,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  return fake;
}
