// Order, rate and concurrency as a receiver sees them, over real sockets.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { start, type Running } from '../api/harness.ts';
import { receive, type Receiver, type Reply } from './receiver.ts';
import { patch, quiet, subscribe, until } from './stage.ts';
import { Tally } from './awaitable-count.ts';

/** A receiver that answers when the test says so, and counts who is there at once. */
interface Holding extends AsyncDisposable {
  receiver: Receiver;
  /** How many are there, how many were there at once since the last look, and all that came. */
  open: () => number;
  most: () => number;
  came: Tally;
  /** Answers all who are there, and from now on everybody at once. */
  release: () => void;
  hold: () => void;
}

async function holding(): Promise<Holding> {
  const came = new Tally('callbacks came');
  const waiting = new Set<() => void>();
  let [open, most, isHolding] = [0, 0, true];
  const receiver = await receive(async (): Promise<Reply> => {
    open += 1;
    most = Math.max(most, open);
    came.add();
    // Also without being held it stays for a turn, so that others can come meanwhile.
    await new Promise<void>((resolve) =>
      isHolding ? waiting.add(resolve) : setImmediate(resolve),
    );
    open -= 1;
    return 200;
  });
  return {
    receiver,
    came,
    open: () => open,
    most: () => {
      const seen = most;
      most = open;
      return seen;
    },
    release: () => {
      isHolding = false;
      for (const go of waiting) go();
      waiting.clear();
    },
    hold: () => (isHolding = true),
    [Symbol.asyncDispose]: async () => receiver[Symbol.asyncDispose](),
  };
}

async function publishMany(service: Running, count: number, event = 'a'): Promise<void> {
  const events = Array.from({ length: count }, (_, at) => ({
    event,
    payload: { message: `${at}` },
  }));
  const answer = await service.call({ method: 'POST', path: '/events/batch', body: { events } });
  assert.equal(answer.status, 202, answer.text);
}

async function change(service: Running, id: string, body: object): Promise<void> {
  const answer = await patch(service, id, body);
  assert.equal(answer.status, 200, answer.text);
}

describe('concurrency', () => {
  it('is never exceeded by a burst, and a change of it is obeyed by the next attempts', async () => {
    await using service = await start();
    await using holder = await holding();
    const { receiver, came, open, most, release, hold } = holder;
    const { id } = await subscribe(service, receiver.url);
    await change(service, id, { concurrency: 5 });
    await publishMany(service, 200);
    await came.reach(5);
    // Lowered while five are there: the next ones come two at a time.
    await change(service, id, { concurrency: 2 });
    assert.equal(open(), 5);
    assert.equal(most(), 5);
    hold();
    release();
    hold();
    await came.reach(7);
    assert.equal(most(), 5);
    release();
    await came.reach(60);
    assert.equal(most(), 2);
    await change(service, id, { concurrency: 20 });
    await came.reach(150); // It rises by one with each success.
    hold();
    await until(
      async () => open(),
      (count) => count === 20,
    );
    release();
    await came.reach(200);
    await quiet(service);
    assert.equal(most(), 20);
    assert.equal(came.count, 200);
  });

  it('is set at subscribe, for each callback by itself', async () => {
    await using service = await start();
    await using one = await holding();
    await using two = await holding();
    const urls = { inProgressUrl: one.receiver.url, failedUrl: two.receiver.url };
    await subscribe(service, { body: { ...urls, 'x-ringback': { concurrency: 3 } } });
    await publishMany(service, 50, 'inProgress');
    await publishMany(service, 50, 'failed');
    await Promise.all([one.came.reach(3), two.came.reach(3)]);
    for (const each of [one, two]) each.release();
    await Promise.all([one.came.reach(50), two.came.reach(50)]);
    assert.deepEqual([one.most(), two.most()], [3, 3]);
  });
});

describe('a rate limit', () => {
  it('is kept for all callbacks together', async () => {
    await using service = await start();
    const arrivals: number[] = [];
    const note = (): number => {
      arrivals.push(Date.now());
      return 200;
    };
    await using one = await receive(note);
    await using two = await receive(note);
    const urls = { inProgressUrl: one.url, failedUrl: two.url };
    const rateLimit = 40;
    await subscribe(service, { body: { ...urls, 'x-ringback': { rateLimit } } });
    const startMs = Date.now();
    await publishMany(service, 30, 'inProgress');
    await publishMany(service, 30, 'failed');
    await Promise.all([one.waitFor(30), two.waitFor(30)]);
    // A slow machine may be late, and that is all: at no time more have come than the rate allows.
    for (const [index, atMs] of arrivals.entries()) {
      const allowed = rateLimit + ((atMs - startMs) * rateLimit) / 1_000;
      assert(index + 1 <= allowed, `${index + 1} came after ${atMs - startMs} ms`);
    }
  });
});

describe('an ordered subscription', () => {
  it('is called for one event after the other, whichever callback hears it', async () => {
    await using service = await start({ env: { RINGBACK_RETRY: Array(9).fill('10ms').join(',') } });
    const heard: string[] = [];
    let open = 0;
    const script = async ({ body }: { body: Buffer }): Promise<number> => {
      open += 1;
      assert.equal(open, 1, 'two at once');
      await new Promise((resolve) => setImmediate(resolve));
      open -= 1;
      const { message } = JSON.parse(body.toString()) as { message: string };
      const isFirst = heard.at(-1) !== message;
      heard.push(message);
      return isFirst && Number(message) % 3 === 0 ? 500 : 200;
    };
    await using one = await receive(script);
    await using two = await receive(script);
    const urls = { inProgressUrl: one.url, failedUrl: two.url };
    await subscribe(service, { body: { ...urls, 'x-ringback': { ordered: true } } });
    const events = Array.from({ length: 20 }, (_, at) => ({
      event: at % 2 === 0 ? 'inProgress' : 'failed',
      payload: { message: String(at) },
    }));
    for (const half of [events.slice(0, 10), events.slice(10)]) {
      const body = { events: half };
      const answer = await service.call({ method: 'POST', path: '/events/batch', body });
      assert.equal(answer.status, 202, answer.text);
    }
    await quiet(service);
    const expected = events.flatMap((_, at) =>
      at % 3 === 0 ? [String(at), String(at)] : String(at),
    );
    assert.deepEqual(heard, expected);
  });
});
