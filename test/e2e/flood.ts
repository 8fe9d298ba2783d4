// A flood of publishes from a separate process over a fixed number of sockets: either a number of requests as fast as
// responses free the sockets, or a rate, whether or not the service keeps up. It parses just enough HTTP to count responses.
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** A rate is in requests per second; a request without a free socket is not sent, but counted as `unsent`. */
export type FloodLoad = { requests: number } | { rate: number; forMs: number };

export interface FloodOrder {
  url: string;
  key: string;
  load: FloodLoad;
  sockets: number;
  path: '/events' | '/events/batch';
  /** Sent in rotation. */
  bodies: readonly string[];
}

export interface FloodReport {
  /** Responses by status and error code: `202`, `503 overloaded`. */
  answers: Record<string, number>;
  /** Event ids in the responses, with the index of the body. */
  accepted: { body: number; eventIds: string[] }[];
  /** Requests for which no socket was free. */
  unsent: number;
  /** Requests without a response, because the connection was closed, refused or reset. */
  broken: number;
  /** Response times of accepted and of refused requests, ascending. */
  acceptedMs: number[];
  refusedMs: number[];
}

const tickMs = 5;
/** Longer than any response takes on the slowest machine. */
const answerMsMax = 180_000;
/** The service closes connections that were idle for 10 s, so do not reuse one after this time. */
const restMsMax = 4_000;

process.on('message', (order: FloodOrder) => {
  void flood(order).then((report) => process.send?.(report, () => process.disconnect?.()));
});

async function flood(order: FloodOrder): Promise<FloodReport> {
  const report: FloodReport = {
    answers: {},
    accepted: [],
    unsent: 0,
    broken: 0,
    acceptedMs: [],
    refusedMs: [],
  };
  const lines = Array.from({ length: order.sockets }, () => new Line(order, report));
  // Connect before the measurement: connections have a separate limit.
  await Promise.all(lines.map(async (line) => line.open()));
  const free = [...lines];
  if ('requests' in order.load) await sendCount(order, order.load.requests, free);
  else await sendAtRate(order, order.load, { free, report });
  // Wait for the last answers; a request without one after this counts as broken.
  const patienceMs = performance.now() + answerMsMax;
  while (free.length < lines.length && performance.now() < patienceMs) await wait(tickMs);
  for (const line of lines) line.close();
  report.acceptedMs.sort((a, b) => a - b);
  report.refusedMs.sort((a, b) => a - b);
  return report;
}

/** Every socket sends its next request as soon as it gets a response. */
async function sendCount(order: FloodOrder, requests: number, free: Line[]): Promise<void> {
  let sent = 0;
  while (sent < requests) {
    const line = free.pop();
    if (line === undefined) {
      await wait(0);
      continue;
    }
    line.send(sent % order.bodies.length, () => free.push(line));
    sent += 1;
  }
}

async function sendAtRate(
  order: FloodOrder,
  { rate, forMs }: { rate: number; forMs: number },
  { free, report }: { free: Line[]; report: FloodReport },
): Promise<void> {
  const startMs = performance.now();
  let sent = 0;
  for (let atMs = 0; atMs < forMs; atMs = performance.now() - startMs) {
    const due = Math.floor((atMs / 1000) * rate);
    for (; sent < due; sent += 1) {
      const line = free.pop();
      if (line === undefined) {
        report.unsent += due - sent;
        sent = due;
        break;
      }
      line.send(sent % order.bodies.length, () => free.push(line));
    }
    await wait(tickMs);
  }
}

/** One socket, one request at a time. */
class Line {
  readonly #order: FloodOrder;
  readonly #report: FloodReport;
  readonly #heads: Buffer[];
  #socket: Socket | undefined;
  #restsSinceMs = 0;
  #text = '';
  #waiting: { body: number; sentMs: number; free: () => void } | undefined;

  constructor(order: FloodOrder, report: FloodReport) {
    this.#order = order;
    this.#report = report;
    this.#heads = order.bodies.map((body) =>
      Buffer.from(
        `POST ${order.path} HTTP/1.1\r\nhost: flood\r\nx-api-key: ${order.key}\r\n` +
          `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      ),
    );
  }

  async open(): Promise<void> {
    this.#socket ??= this.#open();
    const socket = this.#socket;
    await new Promise((resolve) => {
      socket.once('connect', resolve).once('close', resolve);
    });
  }

  send(body: number, free: () => void): void {
    const sentMs = performance.now();
    this.#waiting = { body, sentMs, free };
    if (sentMs - this.#restsSinceMs > restMsMax) this.#forget();
    this.#socket ??= this.#open();
    this.#socket.write(this.#heads[body] ?? '');
  }

  close(): void {
    const broken = this.#waiting !== undefined;
    this.#waiting = undefined;
    if (broken) this.#report.broken += 1;
    this.#socket?.destroy();
  }

  #open(): Socket {
    const { hostname, port } = new URL(this.#order.url);
    const socket = connect(Number(port), hostname);
    socket.setNoDelay(true);
    this.#restsSinceMs = performance.now();
    socket.on('data', (data: Buffer) => this.#hear(data.toString('latin1')));
    socket.on('error', () => undefined); // `close` follows.
    socket.on('close', () => this.#lost(socket));
    return socket;
  }

  #forget(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  #lost(socket: Socket): void {
    if (this.#socket !== socket) return;
    this.#socket = undefined;
    this.#text = '';
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting === undefined) return;
    this.#report.broken += 1;
    waiting.free();
  }

  #hear(text: string): void {
    this.#text += text;
    const end = this.#text.indexOf('\r\n\r\n');
    if (end < 0) return;
    const head = this.#text.slice(0, end).toLowerCase();
    const length = Number(/content-length: (\d+)/.exec(head)?.[1] ?? 0);
    if (this.#text.length < end + 4 + length) return;
    const waiting = this.#waiting;
    const body = this.#text.slice(end + 4);
    this.#text = '';
    this.#waiting = undefined;
    this.#restsSinceMs = performance.now();
    if (/\r\nconnection: close/.test(head)) this.#forget();
    if (waiting === undefined) return;
    this.#count(head.slice(9, 12), body, waiting);
    waiting.free();
  }

  #count(status: string, text: string, { body, sentMs }: { body: number; sentMs: number }): void {
    const { answers, accepted, acceptedMs, refusedMs } = this.#report;
    const code = status === '202' ? '' : ` ${/"code":"(\w+)"/.exec(text)?.[1] ?? 'none'}`;
    answers[status + code] = (answers[status + code] ?? 0) + 1;
    const tookMs = performance.now() - sentMs;
    if (status !== '202') {
      refusedMs.push(tookMs);
      return;
    }
    acceptedMs.push(tookMs);
    const eventIds = Array.from(text.matchAll(/"eventId":"(evt_\w+)"/g), ([, id = '']) => id);
    accepted.push({ body, eventIds });
  }
}
