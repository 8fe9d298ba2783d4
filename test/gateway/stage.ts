// A gateway in front of an API whose bytes the test decides, and a client that sends exactly the given bytes.
import { once } from 'node:events';
import { createServer, connect, type AddressInfo, type Socket } from 'node:net';
import type { Environment } from '../../src/config.ts';
import { start, type Started, type StartOptions } from '../api/harness.ts';

/** Gets each request as text, one byte per character, and the socket to answer on. */
export type Script = (request: string, socket: Socket) => void;

export interface RawApi extends AsyncDisposable {
  url: string;
  /** Requests so far. */
  requests: string[];
  connections: number;
  script: Script;
}

/** Speaks HTTP only as far as it finds the end of a request: by its length, or by its last chunk. */
export async function rawApi(): Promise<RawApi> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    api.connections += 1;
    let text = '';
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1');
      const end = endOf(text);
      if (end < 0) return;
      const request = text.slice(0, end);
      text = text.slice(end);
      api.requests.push(request);
      api.script(request, socket);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const api: RawApi = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    connections: 0,
    script: answering(''),
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return api;
}

function endOf(text: string): number {
  const head = text.indexOf('\r\n\r\n') + 4;
  if (head < 4) return -1;
  if (/^transfer-encoding: chunked\r$/im.test(text.slice(0, head))) {
    const last = text.indexOf('0\r\n\r\n', head);
    return last < 0 ? -1 : last + 5;
  }
  const length = Number(/^content-length: (\d+)\r$/im.exec(text.slice(0, head))?.[1] ?? 0);
  return text.length < head + length ? -1 : head + length;
}

/** Answers with a head of these lines and a body. */
export function answering(body: string, lines: readonly string[] = []): Script {
  const length = `Content-Length: ${Buffer.byteLength(body, 'latin1')}`;
  return (_request, socket) => {
    socket.write(`HTTP/1.1 200 OK\r\n${[...lines, length].join('\r\n')}\r\n\r\n${body}`, 'latin1');
  };
}

export interface Gateway extends AsyncDisposable {
  api: RawApi;
  service: Started;
}

export async function startGateway(
  env: Environment = {},
  options: Omit<StartOptions, 'env'> = {},
): Promise<Gateway> {
  await using cleanup = new AsyncDisposableStack();
  const api = cleanup.use(await rawApi());
  const service = cleanup.use(
    await start({ ...options, env: { RINGBACK_UPSTREAM: api.url, ...env } }),
  );
  const running = cleanup.move();
  return { api, service, [Symbol.asyncDispose]: async () => running.disposeAsync() };
}

/** Sends these bytes, and returns what comes back until the connection ends. Lines end with LF in `text`. */
export async function talk(url: string, text: string): Promise<string> {
  return sendRaw(url, text.replaceAll('\n', '\r\n'));
}

export async function sendRaw(url: string, text: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.on('error', () => undefined);
  socket.write(text, 'latin1');
  await once(socket, 'close');
  return Buffer.concat(chunks).toString('latin1');
}

/** The lines of a head without those that are different each time. */
export function headOf(text: string): string[] {
  const [head = ''] = text.split('\r\n\r\n', 1);
  return head.split('\r\n').filter((line) => !/^(?:date|connection|keep-alive):/i.test(line));
}

/** The values of a header, in order. */
export function valuesOf(text: string, name: string): string[] {
  const [head = ''] = text.split('\r\n\r\n', 1);
  return head
    .split('\r\n')
    .filter((line) => line.toLowerCase().startsWith(`${name.toLowerCase()}:`))
    .map((line) => line.slice(name.length + 1).trim());
}

export function bodyOf(text: string): string {
  return text.slice(text.indexOf('\r\n\r\n') + 4);
}
