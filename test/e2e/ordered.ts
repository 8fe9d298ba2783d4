// Checks an ordered subscription whose receiver fails at random while nodes are killed, on any database. Events are
// numbered, and published one after the other.
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
  /** Numbers of events, in the order of their first acceptance. */
  accepted: readonly number[];
  acceptances: Tally;
  attempts: Tally;
  /** Withholds responses until `letGo` is called, so that events published meanwhile stay pending. */
  hold: () => { letGo: () => void };
  /** Throws if the receiver saw a violation. */
  check: () => void;
}

/** A receiver that rejects, hangs up and delays at random, and must never get two requests at once. */
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
    // An accepted event may come again if its outcome was lost in a crash.
    if (number !== last && number !== last + 1) faults.push(`${number} came after ${last}`);
    // Not often enough in a row to open the circuit breaker.
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
    // An attempt has ended when its response is written or its connection is closed.
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

/** Fast retries, and more of them than the receiver needs. */
export const orderedEnv = { RINGBACK_RETRY: Array(20).fill('10ms').join(',') };

/** Publishes numbered events, each after the response to the previous one. */
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
