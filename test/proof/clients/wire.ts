// A raw connection: it sends bytes, collects bytes, and notices when the service closes it.
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

export interface Wire extends Disposable {
  socket: Socket;
  /** Everything received, as Latin-1, so that each character is one byte. */
  heard: () => string;
  /** Resolves with the lifetime of the connection when the service closes it. */
  ended: Promise<number>;
  isOver: () => boolean;
}

export interface WireOptions {
  /** Reads nothing, so that responses fill the socket buffers. */
  isDeaf?: boolean;
}

export function openWire(url: string, { isDeaf = false }: WireOptions = {}): Wire {
  const { hostname, port } = new URL(url);
  const beganMs = performance.now();
  // Half-open: this side must not close automatically, since the service has to close the connection.
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  const chunks: Buffer[] = [];
  const ended = Promise.withResolvers<number>();
  const end = (): void => {
    isOver = true;
    ended.resolve(performance.now() - beganMs);
  };
  let isOver = false;
  socket.on('error', () => undefined); // `close` follows.
  socket.on('close', end);
  if (isDeaf) socket.pause();
  else {
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('end', end);
  }
  return {
    socket,
    heard: () => Buffer.concat(chunks).toString('latin1'),
    ended: ended.promise,
    isOver: () => isOver,
    [Symbol.dispose]: () => socket.destroy(),
  };
}

/** Sends `bytes`, and reads until the service closes the connection or that many responses have arrived. */
export async function exchange(
  url: string,
  bytes: string | Buffer,
  answers = 1,
): Promise<Exchange> {
  using wire = openWire(url);
  const enough = Promise.withResolvers<void>();
  wire.socket.on('data', () => {
    if (readAnswers(wire.heard()).length >= answers) enough.resolve();
  });
  wire.socket.write(bytes, 'latin1');
  const isIn = Promise.race([wire.ended, enough.promise]).then(() => true);
  const isInTime = await Promise.race([isIn, wait(patienceMs, false, { ref: false })]);
  // Wait a moment longer, because an extra response would be a violation.
  await wait(settleMs);
  return { answers: readAnswers(wire.heard()), isOver: wire.isOver(), isInTime };
}

/** Longer than any limit of the service. */
const patienceMs = 60_000;
const settleMs = 5;

export interface Exchange {
  answers: readonly WireAnswer[];
  /** The service has closed the connection. */
  isOver: boolean;
  isInTime: boolean;
}

export interface WireAnswer {
  status: number;
  head: string;
  body: string;
}

/** Parses responses as a strict client does; bytes that are not a response get the status 0. */
export function readAnswers(
  heard: string,
  isHead: (n: number) => boolean = () => false,
): WireAnswer[] {
  const answers: WireAnswer[] = [];
  let at = 0;
  while (at < heard.length) {
    const end = heard.indexOf('\r\n\r\n', at);
    if (end < 0) break;
    const head = heard.slice(at, end);
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1] ?? 0);
    if (status === 0) return [...answers, { status, head, body: heard.slice(end + 4) }];
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
    const from = end + 4;
    const to = from + (isHead(answers.length) ? 0 : length);
    if (to > heard.length) break;
    if (status !== 100) answers.push({ status, head, body: heard.slice(from, to) });
    at = to;
  }
  return answers;
}

/** A request as bytes. */
export function requestOf(line: string, headers: readonly string[] = [], body = ''): string {
  return [`${line} HTTP/1.1`, 'Host: x', ...headers, '', body].join('\r\n');
}

/** A JSON request with a key and a Content-Length. */
export function jsonRequest(
  line: string,
  key: string,
  body: string,
  headers: string[] = [],
): string {
  const own = [
    `X-API-Key: ${key}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body, 'latin1')}`,
  ];
  return requestOf(line, [...own, ...headers], body);
}
