// The receivers, in their own thread. They implement just enough HTTP to be fast, compare every byte, and record which
// events came from which process of the service.
import { createServer, type Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { numberIn } from '../../e2e/payload.ts';
import { brief, count, type Book } from './book.ts';

export interface ReceiversOptions {
  book: Book;
  receivers: number;
  /** Every n-th request is answered with 500. */
  failEvery: number;
}

/** Replies with `quiet` when everything that a dead process has sent has been read. */
export type ToReceivers = { kind: 'gone' };
export type FromReceivers =
  | { kind: 'ready'; ports: number[] }
  | { kind: 'quiet' }
  | { kind: 'flaw'; flaw: string };

const flawsMax = 20;
const quietTurns = 50;
const accepted = Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
const failed = Buffer.from('HTTP/1.1 500 Not Now\r\ncontent-length: 0\r\n\r\n');

const { book, receivers, failEvery }: ReceiversOptions = workerData;
const { counters, cameAs, cameFrom, answeredAs, repeats } = book;
let flaws = 0;

const ports = await Promise.all(Array.from({ length: receivers }, listen));
parentPort?.on('message', () => void readOut());
tell({ kind: 'ready', ports });

async function readOut(): Promise<void> {
  for (let turn = 0; turn < quietTurns; turn += 1) await new Promise((then) => setImmediate(then));
  tell({ kind: 'quiet' });
}

async function listen(): Promise<number> {
  const server = createServer((socket) => {
    const from = counters[count.process] ?? 0;
    let held: Buffer = Buffer.alloc(0);
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    socket.on('data', (data: Buffer) => {
      held = held.length === 0 ? data : Buffer.concat([held, data]);
      held = held.subarray(hear(socket, held, from));
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Responds to the request if it is complete. Returns its length, or 0. */
function hear(socket: Socket, held: Buffer, from: number): number {
  const end = held.indexOf('\r\n\r\n');
  if (end < 0) return 0;
  const head = held.toString('latin1', 0, end);
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1]);
  if (held.length < end + 4 + length) return 0;
  const calls = Atomics.add(counters, count.callbacks, 1);
  if (calls % failEvery === failEvery - 1) {
    Atomics.add(counters, count.failed, 1);
    socket.write(failed);
  } else {
    const id = /\r\nwebhook-id: (\S+)/i.exec(head)?.[1] ?? '';
    note(id, held.subarray(end + 4, end + 4 + length), from);
    socket.write(accepted);
  }
  return end + 4 + length;
}

function note(id: string, body: Buffer, from: number): void {
  const number = numberIn(body);
  if (number === undefined || number >= answeredAs.length) {
    flaw(`I2: ${id} came with bytes that were never published: ${body.toString()}`);
    return;
  }
  const name = brief(id);
  const before = cameFrom[number] ?? 0;
  if (before === 0) {
    cameAs[number] = name;
    Atomics.add(counters, count.delivered, 1);
  } else {
    if (cameAs[number] !== name) flaw(`I13: number ${number} came as two events, one is ${id}`);
    if (before === from) flaw(`I5: number ${number} was delivered twice by process ${from}`);
    repeats[before] = (repeats[before] ?? 0) + 1;
  }
  cameFrom[number] = from;
}

function flaw(text: string): void {
  flaws += 1;
  if (flaws <= flawsMax) tell({ kind: 'flaw', flaw: text });
}

function tell(message: FromReceivers): void {
  parentPort?.postMessage(message);
}
