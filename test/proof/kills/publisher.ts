// The publisher, in its own thread. It publishes batches, each with its own idempotency key, and repeats a batch until
// it is answered, whatever happens to the service meanwhile.
import { Agent, request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { payloadOf } from '../../e2e/payload.ts';
import { brief, count, type Book } from './book.ts';

export interface PublisherOptions {
  book: Book;
  key: string;
  /** Events per request, concurrent requests, and how many undelivered events it allows before it waits. */
  batch: number;
  publishers: number;
  aheadMax: number;
  /** Event names, used in turn. */
  names: readonly string[];
}

/** The URL of the service; undefined while it does not run. */
export type ToPublisher = { url: string | undefined };
export type FromPublisher = { kind: 'done' } | { kind: 'flaw'; flaw: string };

const againMs = 10;
const answerMs = 60_000;

const assigned: PublisherOptions = workerData;
const { book, key, batch, publishers, aheadMax, names } = assigned;
const { counters, answeredAs } = book;
const agent = new Agent({ keepAlive: true, maxSockets: publishers });
let url: string | undefined;
let next = 0;

parentPort?.on('message', (message: ToPublisher) => {
  ({ url } = message);
});
await Promise.all(Array.from({ length: publishers }, publishAll));
parentPort?.postMessage({ kind: 'done' } satisfies FromPublisher);
parentPort?.close();

/** After every restart, repeats the last batch that the previous process answered. */
async function publishAll(): Promise<void> {
  let answered: { by: string; first: number } | undefined;
  while (next < answeredAs.length && counters[count.isOver] === 0) {
    const first = next;
    next = Math.min(first + batch, answeredAs.length);
    const by = await publish(first);
    if (answered !== undefined && answered.by !== by) {
      await publish(answered.first);
      Atomics.add(counters, count.repeated, 1);
    }
    answered = { by, first };
  }
}

/** Publishes a batch, and repeats it until it is answered. Returns the URL that answered. */
async function publish(first: number): Promise<string> {
  const body = bodyOf(first, Math.min(first + batch, answeredAs.length));
  for (;;) {
    const at = await room();
    Atomics.add(counters, count.asking, 1);
    const answer = await ask(at, first, body).catch(() => undefined);
    Atomics.sub(counters, count.asking, 1);
    if (answer?.status === 202) {
      noteAnswer(first, answer.text);
      return at;
    }
    Atomics.add(counters, answer === undefined ? count.unanswered : count.refused, 1);
    const isExpected = answer === undefined || answer.status === 503;
    if (!isExpected) flaw(`publish answered ${answer.status}: ${answer.text}`);
    await wait(againMs);
  }
}

/** Waits until the service runs and receivers are not too far behind; returns its URL. */
async function room(): Promise<string> {
  for (;;) {
    const ahead = (counters[count.answered] ?? 0) - (counters[count.delivered] ?? 0);
    if (url !== undefined && ahead <= aheadMax) return url;
    await wait(againMs);
  }
}

function noteAnswer(first: number, text: string): void {
  let number = first;
  for (const [, id = ''] of text.matchAll(/"eventId":"(evt_\w+)"/g)) {
    const name = brief(id);
    const before = answeredAs[number];
    if (before === 0) Atomics.add(counters, count.answered, 1);
    else if (before !== name) flaw(`I13: number ${number} was answered with two ids, one is ${id}`);
    answeredAs[number] = name;
    number += 1;
  }
  const made = number - first;
  const expected = Math.min(batch, answeredAs.length - first);
  if (made !== expected) flaw(`I13: a batch of ${expected} was answered with ${made} events`);
}

async function ask(
  at: string,
  first: number,
  body: Buffer,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = {
      'x-api-key': key,
      'content-type': 'application/json',
      'content-length': body.length,
      'idempotency-key': `from ${first}`,
    };
    const options = { method: 'POST', agent, headers, timeout: answerMs };
    const asked = request(`${at}/events/batch`, options, (response) => {
      let text = '';
      response.setEncoding('latin1');
      response.on('data', (piece: string) => {
        text += piece;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      response.on('error', reject);
      response.on('aborted', () => reject(new Error('aborted')));
    });
    asked.on('timeout', () => asked.destroy(new Error('no response')));
    asked.on('error', reject);
    asked.end(body);
  });
}

function bodyOf(first: number, end: number): Buffer {
  const events: string[] = [];
  for (let number = first; number < end; number += 1) {
    const name = names[number % names.length];
    events.push(`{"event":"${name}","payload":${payloadOf(number)}}`);
  }
  return Buffer.from(`{"events":[${events.join(',')}]}`);
}

function flaw(text: string): void {
  parentPort?.postMessage({ kind: 'flaw', flaw: text } satisfies FromPublisher);
}
