// A small order service. It responds as soon as the order and its event are on disk, so an outage of Ringback
// does not affect its clients.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createClient } from 'ringback/client';
import { openDatabase, type Order } from './database.ts';
import { startPublisher } from './publisher.ts';
import { databaseFile, port, requireKey, ringbackUrl } from './settings.ts';

const bodyBytesMax = 10_000;

using database = openDatabase(databaseFile);
const stopping = new AbortController();
const ringback = createClient({ url: ringbackUrl, key: requireKey(), signal: stopping.signal });
const publisher = startPublisher(database, ringback, stopping.signal);

const server = createServer((request, response) => {
  answer(request, response).catch((error: unknown) => {
    console.error('Cannot answer:', error);
    send(response, 500, { error: 'Something went wrong here' });
  });
});

/** POST /orders, GET /orders/{id}, POST /orders/{id}/paid, POST /orders/{id}/shipped */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = '', url = '' } = request;
  const [, root, id, step] = url.split('/');
  if (root !== 'orders') return send(response, 404, { error: `There is no ${url}` });
  if (method === 'POST' && id === undefined) {
    const order = readOrder(await readText(request));
    if (order === undefined) {
      return send(response, 400, { error: 'Expected {"customer": "…", "totalCents": 0 or more}' });
    }
    return tell(response, 201, database.create(order));
  }
  if (method === 'GET' && id !== undefined && step === undefined) {
    const order = database.get(id);
    return order === undefined
      ? send(response, 404, { error: `There is no order ${id}` })
      : send(response, 200, order);
  }
  if (method === 'POST' && id !== undefined && (step === 'paid' || step === 'shipped')) {
    const order = database.advance(id, step);
    return order === undefined
      ? send(response, 409, { error: `Order ${id} cannot be ${step} now` })
      : tell(response, 200, order);
  }
  send(response, 404, { error: `There is no ${method} ${url}` });
}

/** The order has changed, and its event is in the outbox. */
function tell(response: ServerResponse, status: number, order: Order): void {
  publisher.wake();
  send(response, status, order);
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function readOrder(text: string): { customer: string; totalCents: number } | undefined {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof given !== 'object' || given === null) return undefined;
  if (!('customer' in given) || !('totalCents' in given)) return undefined;
  const { customer, totalCents } = given;
  if (typeof customer !== 'string' || customer === '') return undefined;
  if (typeof totalCents !== 'number' || !Number.isSafeInteger(totalCents)) return undefined;
  return totalCents < 0 ? undefined : { customer, totalCents };
}

async function readText(request: IncomingMessage): Promise<string> {
  let text = '';
  request.setEncoding('utf8');
  for await (const chunk of request) {
    text += String(chunk);
    if (text.length > bodyBytesMax) return '';
  }
  return text;
}

const stop = (): void => {
  stopping.abort();
  server.close();
};
process.once('SIGINT', stop).once('SIGTERM', stop);

server.listen(port, '127.0.0.1', () => {
  const address = server.address();
  const where = typeof address === 'object' && address !== null ? address.port : port;
  console.log(`Taking orders on http://127.0.0.1:${where}/orders`);
});
await Promise.all([once(server, 'close'), publisher.ended]);
