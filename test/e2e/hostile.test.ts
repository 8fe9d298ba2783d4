// Receivers that do what no receiver should. Whatever they do, an attempt is over in time, is on
// record under the right name, and nobody else waits for it.
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { start, type Running } from '../api/harness.ts';
import { drip, flood, receiveRaw, type RawReceiver } from './raw-receiver.ts';
import { header, receive, type Receiver } from './receiver.ts';
import {
  attempted,
  get,
  onlyDelivery,
  publish,
  subscribe,
  type DeliveryView,
  type Page,
} from './stage.ts';
import { Tally } from './tally.ts';

interface Behaviour {
  serve: (socket: Socket) => void;
  /** The attempt's error; or `delivered`, since a complete 2xx head came. */
  means: 'delivered' | 'timeout' | 'reset' | 'protocol' | 'too_large' | 'redirect' | 'status';
  /** Whether more came than is kept. */
  isCut?: boolean;
}

/**
 * Left alone, these receivers would go on for half a minute or for ever; by default an attempt may take
 * 15 s. So what took less was ended by us, however late a busy machine rang the bell.
 */
const endedMs = 10_000;

/** Log lines of errors: a receiver's doing is none of ours. */
const ownFailure = /"level":[56]0/;

const chunkedHead = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
const bomb = gzipSync(Buffer.alloc(64 * 1_048_576), { level: 9 });

function answer(text: string): (socket: Socket) => void {
  return (socket) => socket.write(text);
}

const behaviours: Record<string, Behaviour> = {
  'hangs after the request': { serve: () => undefined, means: 'timeout' },
  'sends its head a byte a second': {
    serve: (socket) => drip(socket, 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'),
    means: 'timeout',
  },
  'sends headers for ever, slowly': {
    serve: (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      drip(socket, 'x-a: b\r\n'.repeat(100));
    },
    means: 'timeout',
  },
  'sends its body a byte a second': {
    serve: (socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n');
      drip(socket, 'x'.repeat(100));
    },
    means: 'delivered',
    isCut: true,
  },
  'sends a head and nothing more': {
    serve: answer('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n'),
    means: 'delivered',
    isCut: true,
  },
  'sends the extension of a chunk for ever': {
    serve: (socket) => {
      socket.write(`${chunkedHead}5;`);
      flood(socket, 'x'.repeat(65_536));
    },
    means: 'delivered',
    isCut: true,
  },
  'streams for ever': {
    serve: (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      flood(socket, 'x'.repeat(65_536));
    },
    means: 'delivered',
    isCut: true,
  },
  'streams an error for ever': {
    serve: (socket) => {
      socket.write('HTTP/1.1 500 No\r\n\r\n');
      flood(socket, 'x'.repeat(65_536));
    },
    means: 'status',
    isCut: true,
  },
  'closes before it answers': { serve: (socket) => socket.end(), means: 'reset' },
  'resets the connection': { serve: (socket) => socket.resetAndDestroy(), means: 'reset' },
  'closes in the middle of the head': {
    serve: (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-le'),
    means: 'reset',
  },
  'closes in the middle of the body': {
    serve: (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf'),
    means: 'delivered',
    isCut: true,
  },
  'sends 103 for ever': {
    serve: (socket) => flood(socket, 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'.repeat(64)),
    means: 'protocol',
  },
  'answers with a gzip bomb': {
    serve: (socket) => {
      const head = `content-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`;
      socket.write(`HTTP/1.1 200 OK\r\n${head}`);
      socket.write(bomb);
    },
    means: 'delivered',
    isCut: true,
  },
  'sends headers for ever': {
    serve: (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      flood(socket, 'x-a: bbbbbbbbbbbbbbbb\r\n'.repeat(256));
    },
    means: 'too_large',
  },
  'sends one header for ever': {
    serve: (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nx-a: ');
      flood(socket, 'b'.repeat(65_536));
    },
    means: 'too_large',
  },
  'sends garbage for ever': {
    serve: (socket) => flood(socket, Buffer.alloc(65_536, 0xee)),
    means: 'protocol',
  },
  'speaks SSH': { serve: answer('SSH-2.0-OpenSSH_9.9\r\n'), means: 'protocol' },
  'speaks HTTP/0.9': { serve: (socket) => socket.end('<p>hello'), means: 'protocol' },
  'switches protocols': {
    serve: answer('HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
    means: 'protocol',
  },
  'sends two lengths': {
    serve: answer('HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'),
    means: 'protocol',
  },
};

async function subscribeAll(
  service: Running,
  receivers: readonly { url: string }[],
): Promise<string[]> {
  const ids: string[] = [];
  for (const { url } of receivers) ids.push((await subscribe(service, url)).id);
  return ids;
}

function disposer(receivers: readonly AsyncDisposable[]): AsyncDisposable {
  return {
    [Symbol.asyncDispose]: async () => {
      await Promise.all(receivers.map(async (one) => one[Symbol.asyncDispose]()));
    },
  };
}

describe('with RINGBACK_TIMEOUT=1s, a receiver that', () => {
  const env = { RINGBACK_TIMEOUT: '1s', RINGBACK_RETRY: '1h' };
  for (const [does, { serve, means, isCut }] of Object.entries(behaviours)) {
    it(`${does}: ${means}, in time and on record`, async () => {
      await using service = await start({ env });
      await using receiver = await receiveRaw(serve);
      await subscribe(service, receiver.url);
      const id = await onlyDelivery(service, await publish(service, 'a'));
      await receiver.closed.reach(1);
      const delivery = await attempted(service, id);
      const [attempt, ...others] = delivery.attempts;
      assert(attempt);
      assert.deepEqual([others.length, receiver.requests.count], [0, 1]);
      assert.ok(attempt.tookMs <= endedMs, `it took ${attempt.tookMs} ms`);
      const isDelivered = means === 'delivered';
      assert.equal(delivery.state, isDelivered ? 'delivered' : 'due');
      assert.equal(attempt.error, isDelivered ? undefined : means);
      assert.equal(attempt.response?.isCut, isCut);
      assert.doesNotMatch(service.logged(), ownFailure);
      if (means === 'timeout') assert.ok(attempt.tookMs >= 990, `it took ${attempt.tookMs} ms`);
      if (attempt.response === undefined) assert.match(attempt.message ?? '', /127\.0\.0\.1/);
      else assert.ok(Buffer.byteLength(attempt.response.body) <= 3 * 16_384);
    });
  }

  it('redirects to another server: redirect, and the other one sees nobody', async () => {
    await using service = await start({ env });
    await using canary = await receiveRaw(() => undefined);
    await using receiver = await receiveRaw((socket) => {
      socket.end(`HTTP/1.1 307 Go\r\nlocation: ${canary.url}\r\ncontent-length: 0\r\n\r\n`);
    });
    await subscribe(service, receiver.url);
    const id = await onlyDelivery(service, await publish(service, 'a'));
    await receiver.closed.reach(1);
    const { state, error, status } = await attempted(service, id);
    assert.deepEqual([state, error, status], ['due', 'redirect', 307]);
    assert.equal(canary.connected.count, 0);
  });
});

describe('with the timeout that is set by default, a receiver that', () => {
  it('sends a head and hardly a body is waited for another second, not for fifteen', async () => {
    await using service = await start();
    await using receiver = await receiveRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n');
      drip(socket, 'x'.repeat(100));
    });
    await subscribe(service, receiver.url);
    const id = await onlyDelivery(service, await publish(service, 'a'));
    await receiver.closed.reach(1);
    const { state, attempts } = await attempted(service, id);
    assert.deepEqual([state, attempts[0]?.response?.isCut], ['delivered', true]);
    assert.ok((attempts[0]?.tookMs ?? Infinity) <= endedMs, `it took ${attempts[0]?.tookMs} ms`);
  });
});

describe('99 healthy subscriptions among hostile ones', () => {
  const healthyCount = 99;
  /** For thousands of callbacks on a machine that has other things to do. */
  const allMs = 120_000;

  /** Healthy receivers, and a count of all that they were called. */
  async function startHealthy(): Promise<{ receivers: Receiver[]; came: Tally }> {
    const came = new Tally('healthy callbacks came');
    const receivers: Receiver[] = [];
    for (let index = 0; index < healthyCount; index += 1) {
      receivers.push(
        await receive(() => {
          came.add();
          return 200;
        }),
      );
    }
    return { receivers, came };
  }

  async function startHostile(serves: readonly Behaviour['serve'][]): Promise<RawReceiver[]> {
    return Promise.all(serves.map(receiveRaw));
  }

  async function publishAll(
    service: Running,
    counts: { events: number; subscribers: number },
  ): Promise<string[]> {
    const ids: string[] = [];
    for (let index = 0; index < counts.events; index += 1) {
      const { eventId, deliveries } = await publish(service, `event.${index}`);
      assert.equal(deliveries, counts.subscribers);
      ids.push(eventId);
    }
    return ids;
  }

  function assertAllHeard(receivers: readonly Receiver[], eventIds: readonly string[]): void {
    const all = eventIds.toSorted();
    for (const { requests } of receivers) {
      // Each once: nothing is lost, and without a crash nothing comes twice.
      assert.deepEqual(requests.map((one) => header(one, 'webhook-id')).toSorted(), all);
    }
  }

  async function pendingOf(service: Running, subscriberId: string): Promise<DeliveryView[]> {
    const path = `/deliveries?limit=500&subscriberId=${subscriberId}`;
    const { items } = await get<Page<DeliveryView>>(service, path);
    return items.filter(({ state }) => state === 'due' || state === 'running');
  }

  it('hear 20 events each before one hostile attempt has given up its slot', async () => {
    const events = 20;
    await using service = await start({ env: { RINGBACK_TIMEOUT: '60s' } });
    const { receivers, came } = await startHealthy();
    await using _healthy = disposer(receivers);
    const hostile = await startHostile([
      () => undefined,
      (socket) => drip(socket, `HTTP/1.1 200 ${'OK '.repeat(100)}\r\n\r\n`),
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\n');
        drip(socket, 'x-a: b\r\n'.repeat(100));
      },
      ...Array.from({ length: 5 }, () => () => undefined),
    ]);
    await using _hostile = disposer(hostile);
    await subscribeAll(service, hostile);
    await subscribeAll(service, receivers);
    const subscribers = hostile.length + healthyCount;
    const eventIds = await publishAll(service, { events, subscribers });
    // Each takes all that one receiver may take at first.
    for (const { requests } of hostile) await requests.reach(8, allMs);
    await came.reach(healthyCount * events, allMs);
    for (const { requests, closed } of hostile) {
      assert.deepEqual([requests.count, closed.count], [8, 0]);
    }
    assertAllHeard(receivers, eventIds);
    assert.doesNotMatch(service.logged(), ownFailure);
  });

  it('hear 40 events each while hostile ones time out and are tried again', async () => {
    const events = 40;
    const waits = '200ms,1s,10s,1m,10m,1h'; // However long it takes, none is dead by then.
    // Long enough for the healthy ones on a busy machine: who is late is called again, and hears twice.
    await using service = await start({ env: { RINGBACK_TIMEOUT: '5s', RINGBACK_RETRY: waits } });
    const { receivers, came } = await startHealthy();
    await using _healthy = disposer(receivers);
    const failing = Object.values(behaviours).filter(({ means }) => means !== 'delivered');
    const hostile = await startHostile(failing.map(({ serve }) => serve));
    await using _hostile = disposer(hostile);
    const hostileIds = await subscribeAll(service, hostile);
    await subscribeAll(service, receivers);
    const subscribers = hostile.length + healthyCount;
    const eventIds = await publishAll(service, { events, subscribers });
    // Eight at first, and then at least one more.
    for (const { requests } of hostile) await requests.reach(9, allMs);
    await came.reach(healthyCount * events, allMs);
    for (const id of hostileIds) assert.equal((await pendingOf(service, id)).length, events);
    assertAllHeard(receivers, eventIds);
    assert.doesNotMatch(service.logged(), ownFailure);
  });
});
