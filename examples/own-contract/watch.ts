// A client of the Reports API, as its document describes it: watches a report until all of its pages are
// here, and stops watching. Nothing in it knows of Ringback but the verifying of callbacks.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createReceiver, type Callback, type Receiver } from 'ringback/receiver';
import { credentials, port, report, url } from './settings.ts';

interface Watcher {
  watcher: string;
  secret: string;
}

/** Below `baseUrl`, as reports.yaml has them. */
const paths = ['/pages', '/complete'] as const;
const pages = new Set<number>();
let pageCount: number | undefined;
const complete = Promise.withResolvers<void>();
/** A callback may come before the answer that has the secret: it waits. */
const receiver = Promise.withResolvers<Receiver>();

const server = createServer((request, response) => {
  // Anybody can ask for anything: what is no path of ours is never read as a URL.
  const [asked] = (request.url ?? '').split('?');
  const path = paths.find((one) => one === asked);
  if (path === undefined) {
    response.writeHead(404).end();
    return;
  }
  receiver.promise.then(
    (ready) => ready.node((callback) => take(path, callback))(request, response),
    () => response.writeHead(503).end(),
  );
});

/** They may come in any order, and more than once. */
function take(path: (typeof paths)[number], callback: Callback): void {
  const given = callback.json();
  if (typeof given !== 'object' || given === null) throw new TypeError('Expected an object');
  if (path === '/pages' && 'number' in given && 'rows' in given && Array.isArray(given.rows)) {
    pages.add(Number(given.number));
    console.log(`Page ${String(given.number)} of ${report}: ${given.rows.length} rows`);
  } else if (path === '/complete' && 'pages' in given) {
    pageCount = Number(given.pages);
  } else {
    throw new TypeError(`Cannot read the callback at ${path}`);
  }
  if (pages.size === pageCount) complete.resolve();
}

async function watch(baseUrl: string): Promise<Watcher> {
  const response = await fetch(`${url}/v2/reports/${report}/watchers`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...credentials() },
    body: JSON.stringify({ baseUrl }),
  });
  const answer: unknown = await response.json();
  if (response.status === 201 && typeof answer === 'object' && answer !== null) {
    if ('watcher' in answer && 'secret' in answer) {
      return { watcher: String(answer.watcher), secret: String(answer.secret) };
    }
  }
  throw new Error(`Cannot watch ${report}: ${response.status} ${JSON.stringify(answer)}`);
}

server.listen(port, '127.0.0.1');
await once(server, 'listening');
const address = server.address();
const here = typeof address === 'object' && address !== null ? address.port : port;
try {
  const { watcher, secret } = await watch(`http://127.0.0.1:${here}`);
  receiver.resolve(createReceiver({ secret, acceptedStatus: 204 })); // As reports.yaml has it.
  console.log(`Watching ${report}: ${watcher}`);
  process.once('SIGINT', () => complete.resolve());
  await complete.promise;
  // The link of the answer says so: `stopWatching` takes the watcher.
  const headers = credentials();
  const ended = await fetch(`${url}/v2/watchers/${watcher}`, { method: 'DELETE', headers });
  console.log(`Complete after ${pages.size} pages. Stopped watching: ${ended.status}`);
} finally {
  server.close();
}
