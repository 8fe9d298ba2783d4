// An ordered subscription whose receiver fails at random while nodes are killed: what must hold of it, on
// any database. Events are numbered, and published one after the other.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { virtualWorld } from '../engine/virtual-world.ts';
import type { Answer, Call } from '../api/harness.ts';
import { Tally } from './awaitable-count.ts';

export interface Ordered extends AsyncDisposable {
  url: string;
  random: () => number;
  /** Numbers of events, in the order in which they were accepted for the first time. */
  accepted: readonly number[];
  acceptances: Tally;
  attempts: Tally;
  /** Answers nothing until it is let go: so that what is published meanwhile waits. */
  hold: () => { letGo: () => void };
  /** Throws what the receiver saw that must not be. */
  check: () => void;
}

/** Refuses some, hangs up on some, and takes its time for some; it never has two at once. */
export async function receiveOrdered(seed: number): Promise<Ordered> {
  const world = virtualWorld({ seed });
  const accepted: number[] = [];
  const faults: string[] = [];
  const acceptances = new Tally('events were accepted in order');
  const attempts = new Tally('attempts came');
  let [open, failures] = [0, 0];
  let held = Promise.resolve();

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { message } = JSON.parse(await text(request)) as { message: string };
    await held;
    const number = Number(message);
    const last = accepted.at(-1) ?? -1;
    // One that was accepted may come again, if its acceptance was lost in a crash.
    if (number !== last && number !== last + 1) faults.push(`${number} came after ${last}`);
    // Not often enough in a row to break the lane.
    const chance = failures > 4 ? 1 : world.random();
    for (let turn = 0; turn < world.random() * 20; turn += 1) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (chance < 0.15) request.socket.destroy();
    else response.writeHead(chance < 0.35 ? 500 : 200).end();
    failures = chance < 0.35 ? failures + 1 : 0;
    if (chance < 0.35 || number === last) return;
    accepted.push(number);
    acceptances.add();
  };

  const server = createServer((request, response) => {
    open += 1;
    attempts.add();
    if (open > 1) faults.push(`${open} at once`);
    // Over is an attempt when its connection is, or its answer is written.
    response.once('close', () => (open -= 1));
    answer(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert(typeof address === 'object' && address !== null);
  return {
    url: `http://127.0.0.1:${address.port}/hook`,
    random: () => world.random(),
    accepted,
    acceptances,
    attempts,
    hold: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return { letGo: resolve };
    },
    check: () => {
      assert.deepEqual(faults, [], `seed ${seed}`);
      const expected = Array.from({ length: accepted.length }, (_, at) => at);
      assert.deepEqual(accepted, expected, `seed ${seed}`);
    },
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Retries that come at once, and more of them than the receiver refuses. */
export const orderedEnv = { RINGBACK_RETRY: Array(20).fill('10ms').join(',') };

/** Events from one number up to another, each when the last one was answered. */
export async function publishInOrder(
  call: (call: Call) => Promise<Answer>,
  { from, until }: { from: number; until: number },
): Promise<void> {
  for (let number = from; number < until; number += 1) {
    const body = { event: 'number', payload: { message: String(number) } };
    const headers = { 'idempotency-key': `number ${number}` };
    const answer = await call({ method: 'POST', path: '/events', headers, body });
    assert.equal(answer.status, 202, answer.text);
  }
}
