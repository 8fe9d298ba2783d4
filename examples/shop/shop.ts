// Receives callbacks about orders: verified, written down, answered, and only then worked off. Each of its
// customers has a URL and a secret of its own.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createReceiver, gone, type Callback } from 'ringback/receiver';
import { openDatabase, type OrderNews } from './database.ts';
import { databaseFile, port } from './settings.ts';

using database = openDatabase(databaseFile);

const server = createServer((request, response) => {
  const [, name] = /^\/hooks\/([a-z][a-z0-9-]*)$/.exec(request.url ?? '') ?? [];
  const customer = name === undefined ? undefined : database.customer(name);
  if (customer === undefined || request.method !== 'POST') {
    response.writeHead(404).end();
    return;
  }
  const { secret, hasLeft } = customer;
  // Only a genuine callback learns whether the customer has left.
  createReceiver({ secret }).node((callback) => {
    if (hasLeft) return gone(); // 410: Ringback ends the subscription.
    database.take({ webhookId: callback.id, customer: customer.name, news: readNews(callback) });
    setImmediate(workOff); // After the answer: a sender waits some seconds only.
  })(request, response);
});

/** Handles pending callbacks, also those stored before a crash. Slow work goes here: mail, printing, other services. */
function workOff(): void {
  try {
    for (let done = database.workOff(); done !== undefined; done = database.workOff()) {
      if (done.kind === 'failed') {
        console.error(`Cannot handle number ${done.number} of the inbox, set aside:`, done.error);
        continue;
      }
      const { customer, news, isNews } = done;
      const { order, state } = news;
      console.log(`${customer}: order ${order} is ${state}${isNews ? '' : ' (known already)'}`);
    }
  } catch (error) {
    console.error('Cannot work off the inbox; the next callback or start tries again:', error);
  }
}

/** Throws, which is answered with 500: Ringback shows it, and tries again when we have learnt to read it. */
function readNews(callback: Callback): OrderNews {
  const given = callback.json();
  if (typeof given === 'object' && given !== null) {
    if ('order' in given && 'state' in given && 'version' in given) {
      const { order, state, version } = given;
      // A number beyond 2^53 was rounded when it was read: it is not what was sent.
      const isVersion = typeof version === 'number' && Number.isSafeInteger(version);
      if (typeof order === 'string' && typeof state === 'string' && isVersion) {
        return { order, state, version };
      }
    }
  }
  throw new TypeError(`Cannot read ${callback.id}: expected an order, its state and its version`);
}

workOff();
const stop = (): void => void server.close();
process.once('SIGINT', stop).once('SIGTERM', stop);
server.listen(port, '127.0.0.1', () => console.log(`The shop listens on port ${port}`));
await once(server, 'close');
