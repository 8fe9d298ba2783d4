// Clients that all send one request at the same moment, over a connection each, in a process of their own. A client that
// is refused with 503 tries again after a second, over the same connection. They write and read plain bytes: 500 calls
// of `fetch` take half a second of CPU time, on cores that the measured program needs.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { answerParent } from './child-process.ts';
import { createCutter } from './http-pieces.ts';
import { machineMs } from './machine-clock.ts';

export interface Burst {
  port: number;
  headers: Readonly<Record<string, string>>;
  /** One for each client, which sends it with POST. */
  paths: readonly string[];
  /** A client that was not answered with 201 by then is counted with it. */
  patienceMs: number;
}

export interface Bursted {
  /** Per client, from its first try to its answer. */
  tookMs: number[];
  /** Answers with 503. */
  refused: number;
}

const retryMs = 1_000;
const statusAt = 'HTTP/1.1 '.length;

if (process.send !== undefined) answerParent(run);

async function run(burst: Burst): Promise<Bursted> {
  const clients = await Promise.all(burst.paths.map(async (path) => client(burst, path)));
  return {
    tookMs: clients.map(({ tookMs }) => tookMs),
    refused: clients.reduce((sum, { refused }) => sum + refused, 0),
  };
}

async function client(
  { port, headers, patienceMs }: Burst,
  path: string,
): Promise<{ tookMs: number; refused: number }> {
  const request = requestOf(path, headers);
  const sinceMs = machineMs();
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  socket.on('error', () => undefined); // It closes the socket, which is reported by `close`.
  let refused = 0;
  while (machineMs() - sinceMs < patienceMs) {
    const status = await ask(socket, request);
    if (status === '201') return { tookMs: machineMs() - sinceMs, refused };
    if (status !== '503') throw new Error(`A request of the burst was answered with ${status}`);
    refused += 1;
    await new Promise((resolve) => void setTimeout(resolve, retryMs));
  }
  return { tookMs: patienceMs, refused };
}

async function ask(socket: Socket, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (): void => reject(new Error('A connection of the burst was closed'));
    const cut = createCutter(({ head }) => {
      socket.off('data', cut).off('close', fail);
      resolve(head.slice(statusAt, statusAt + 3));
    });
    socket.on('data', cut).on('close', fail).write(request);
  });
}

function requestOf(path: string, headers: Burst['headers']): string {
  const fields = Object.entries({ host: '127.0.0.1', 'content-length': '0', ...headers });
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}
