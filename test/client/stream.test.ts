import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createClient, RingbackError, UnreachableError } from '../../src/client/client.ts';
import { clientLimits } from '../../src/client/limits.ts';
import {
  hangUp,
  json,
  problem,
  rawService,
  timeoutMs,
  virtualTime,
  type Behave,
} from './raw-service.ts';

const key = 'rbk_hush_hush_hush';

function frame(id: string): string {
  return `retry: 2000\nevent: changes\nid: ${id}\ndata: {"at":"${id}"}\n\n`;
}

/** Sends the texts, then ends or stays open. */
function sends(then: 'end' | 'stay', ...texts: string[]): Behave {
  return (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    if (then === 'end') response.end(texts.join(''));
    else response.write(texts.join(''));
  };
}

function time(): ReturnType<typeof virtualTime> {
  return virtualTime([timeoutMs, clientLimits.streamSilenceMs]);
}

/** Reads this many frames, then stops. */
async function take(count: number, frames: AsyncIterable<{ at: string }>): Promise<string[]> {
  const seen: string[] = [];
  for await (const { at } of frames) {
    seen.push(at);
    if (seen.length === count) break;
  }
  return seen;
}

describe('stream', () => {
  it('resumes after a cut, an end, a bye and temporary refusals', async () => {
    let cut = (): void => undefined;
    await using service = await rawService(
      (response, seen) => {
        cut = () => void response.destroy();
        return sends('stay', frame('a'), frame('b'), 'id: never\ndata: {"at":')(response, seen);
      },
      problem(503, 'overloaded', { 'retry-after': '9' }),
      hangUp,
      sends('end', frame('c'), ': still here\nid: c2\n\n'),
      sends('stay', frame('d'), 'event: bye\ndata: {}\n\n'),
      sends('stay', frame('e')),
    );
    const clock = time();
    const client = createClient({ url: service.url, key, ...clock });
    const read: string[] = [];
    for await (const { at } of client.stream()) {
      read.push(at);
      if (at === 'b') cut(); // Not earlier, because unread frames would be lost with the connection.
      if (at === 'e') break;
    }
    assert.deepEqual(read, ['a', 'b', 'c', 'd', 'e']);
    const ids = service.seen.map(({ headers }) => headers['last-event-id']);
    assert.deepEqual(ids, [undefined, 'b', 'b', 'b', 'c2', 'd']);
    const [first = 0, second = 0, third = 0, fourth = 0] = clock.waits;
    assert.equal(clock.waits.length, 5);
    assert.ok(first >= 1_000 && first <= 2_000, 'as the service asked by retry');
    assert.ok(second >= 9_000, 'as the service asked by Retry-After');
    assert.ok(third >= 4_000, 'longer after failures in a row');
    assert.ok(fourth <= 2_000, 'short again after it was open');
  });

  it('waits before it reconnects, even with retry: 0', async () => {
    await using service = await rawService(
      sends('end', 'retry: 0\n\n'),
      sends('end', `${frame('a')}retry: 0\n\n`),
      sends('stay', frame('b')),
    );
    const clock = time();
    const client = createClient({ url: service.url, key, ...clock });
    assert.deepEqual(await take(2, client.stream()), ['a', 'b']);
    assert.equal(clock.waits.length, 2);
    for (const ms of clock.waits) assert.ok(ms >= clientLimits.streamAgainMsMin / 2, `${ms} ms`);
  });

  it('starts at the given id, and returns the id of each frame', async () => {
    await using service = await rawService(sends('stay', frame('b')));
    const client = createClient({ url: service.url, key, ...time() });
    for await (const { lastEventId } of client.stream({ lastEventId: 'a' })) {
      assert.equal(lastEventId, 'b');
      break;
    }
    assert.equal(service.seen[0]?.headers['last-event-id'], 'a');
  });

  it('closes the connection when the reader stops', async () => {
    const closed = Promise.withResolvers<void>();
    await using service = await rawService((response, seen) => {
      response.on('close', closed.resolve);
      return sends('stay', frame('a'))(response, seen);
    });
    await take(1, createClient({ url: service.url, key, ...time() }).stream());
    await closed.promise;
  });

  it('ends when a signal aborts: while it reads, waits, and opens', async () => {
    const reading = new AbortController();
    await using service = await rawService(sends('stay', frame('a')));
    const seen: string[] = [];
    const client = createClient({ url: service.url, key, signal: reading.signal, ...time() });
    for await (const { at } of client.stream()) {
      seen.push(at);
      setImmediate(() => reading.abort());
    }
    assert.deepEqual(seen, ['a']);
    const waiting = new AbortController();
    await using busy = await rawService(problem(503, 'overloaded'));
    const patient = createClient({
      url: busy.url,
      sleep: async (ms) => {
        if (ms < 5_000) waiting.abort();
        return new Promise(() => undefined);
      },
    });
    assert.deepEqual(await take(1, patient.stream({ signal: waiting.signal })), []);
    const opening = new AbortController();
    await using silent = await rawService(() => opening.abort());
    const other = createClient({ url: silent.url, ...time() });
    assert.deepEqual(await take(1, other.stream({ signal: opening.signal })), []);
    assert.deepEqual(await take(1, other.stream({ signal: opening.signal })), []);
    assert.equal(silent.seen.length, 1);
  });

  it('fails on permanent refusals, also after it was open', async () => {
    for (const status of [401, 403, 404]) {
      await using service = await rawService(sends('end', frame('a')), problem(status, 'no'));
      const client = createClient({ url: service.url, key, ...time() });
      await assert.rejects(
        take(9, client.stream()),
        (error) => error instanceof RingbackError && error.status === status,
      );
      assert.equal(service.seen.length, 2);
    }
  });

  it('fails after the usual tries if it never opened', async () => {
    await using service = await rawService(hangUp);
    const client = createClient({ url: service.url, key, retries: 2, ...time() });
    await assert.rejects(take(1, client.stream()), UnreachableError);
    assert.equal(service.seen.length, 3);
  });

  it('treats a silent connection as dead', async () => {
    const clock = time();
    const silent: Behave = (response, seen) => {
      void sends('stay', frame('a'))(response, seen);
    };
    await using service = await rawService(silent, sends('stay', frame('b')));
    const client = createClient({ url: service.url, key, ...clock });
    const seen: string[] = [];
    for await (const { at } of client.stream()) {
      seen.push(at);
      if (at === 'b') break;
      // After this frame the stream waits for more, and its time limit runs.
      setImmediate(() => clock.runOut());
    }
    assert.deepEqual(seen, ['a', 'b']);
    assert.equal(service.seen.length, 2);
  });

  it('reports a response that is not a stream, and frames that are not JSON', async () => {
    await using page = await rawService(json(200, {}));
    const client = createClient({ url: page.url, key, ...time() });
    await assert.rejects(take(1, client.stream()), /expected text\/event-stream/);
    await using broken = await rawService(sends('stay', 'event: changes\ndata: {\n\n'));
    const other = createClient({ url: broken.url, key, ...time() });
    await assert.rejects(take(1, other.stream()), /a frame of the stream is not valid JSON/);
  });
});
