// An overloaded node over real sockets, with a store that does not answer for a while and a frozen clock:
// which requests it refuses, with what answer, and which it still serves.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers';
import { setImmediate as turn } from 'node:timers/promises';
import { limits } from '../../src/core/limits/limits.ts';
import { openStore } from '../../src/store/open/open.ts';
import { Tally } from '../e2e/awaitable-count.ts';
import { frozenWorld, type FrozenWorld } from './frozen-world.ts';
import { rawClient, type RawClient } from './raw-client.ts';
import { start, type Answer, type Call, type Started } from './harness.ts';

interface Stage extends AsyncDisposable {
  service: Started;
  world: FrozenWorld;
  /** Resolves when the admission metric has the expected value. */
  shows: (figure: string, expected: (value: number) => boolean) => Promise<void>;
  /** Fills the app's share of publishes; they are answered once the store answers again. */
  flood: () => Promise<Promise<Answer>[]>;
  goOn: () => void;
  /** Delayed refusals. */
  waits: Tally;
  /** Ends the delay of the latest one. */
  endWait: () => void;
}

const publish: Call = {
  method: 'POST',
  path: '/events',
  body: { event: 'order.created', payload: { message: 'hello' } },
};

const { refusalEveryMs } = limits;

/** Each look is a request, so this amounts to many seconds. */
const looksMax = 5_000;

async function stage(): Promise<Stage> {
  const asked = new Tally('publishes have reached the store');
  const silence = Promise.withResolvers<void>();
  let isSilent = false;
  const waits = new Tally('refusals wait');
  let endWait = (): void => undefined;
  const frozen = frozenWorld();
  const world: FrozenWorld = {
    ...frozen,
    sleep: async (ms, signal) => {
      // The test controls only the delays of the first two refusals that are not immediate.
      if (ms !== refusalEveryMs && ms !== 2 * refusalEveryMs) return frozen.sleep(ms, signal);
      waits.add();
      return new Promise((resolve) => {
        endWait = resolve;
      });
    },
  };
  const service = await start({
    world,
    openStore: async (options) => {
      const store = await openStore(options);
      return {
        ...store,
        edit: async (verb, input) => {
          if (isSilent && verb === 'publish') {
            asked.add();
            await silence.promise;
          }
          return store.edit(verb, input);
        },
      };
    },
  });
  return {
    service,
    world,
    shows: async (figure, expected) => {
      const line = new RegExp(`^ringback_admission_${RegExp.escape(figure)} (.*)$`, 'm');
      for (let looks = 0; looks < looksMax; looks += 1) {
        const { text } = await service.call({ path: '/metrics' });
        if (expected(Number(line.exec(text)?.[1]))) return;
        await turn();
      }
      assert.fail(`${figure} did not reach the expected value in ${looksMax} reads`);
    },
    flood: async () => {
      assert.equal((await service.call(publish)).status, 202, 'the key is cached now');
      isSilent = true;
      const { publishesInFlightMax: places, appShareTimes } = limits;
      const most = (places / (appShareTimes + 1)) * appShareTimes; // The share of one app.
      const answers = Array.from({ length: most }, async () => service.call(publish));
      await asked.reach(most);
      return answers;
    },
    goOn: () => silence.resolve(),
    waits,
    endWait: () => endWait(),
    [Symbol.asyncDispose]: async () => {
      silence.resolve();
      await service[Symbol.asyncDispose]();
    },
  };
}

describe('an overloaded node', () => {
  it('503: refuses publishes at once, and accepts them again afterwards', async () => {
    await using on = await stage();
    const admitted = await on.flood();
    const refused = await on.service.call({ ...publish, headers: { 'x-request-id': 'mine' } });
    const { status, headers, json } = refused;
    assert.deepEqual([status, json['code'], json['requestId']], [503, 'overloaded', 'mine']);
    assert.equal(headers.get('content-type'), 'application/problem+json; charset=utf-8');
    assert.equal(headers.get('retry-after'), '1');
    assert.equal(headers.get('x-request-id'), 'mine');
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    on.goOn();
    for (const answer of await Promise.all(admitted)) assert.equal(answer.status, 202);
    assert.equal((await on.service.call(publish)).status, 202);
    const { text } = await on.service.call({ path: '/metrics' });
    assert.match(text, /ringback_refusals_total\{[^}]*publishEvent"[^}]*overloaded"\} 1\n/);
    assert.match(text, /ringback_admission_publish_limit 256\n/);
    assert.match(on.service.logged(), /"turnedAway":1,.*"msg":"overloaded"/);
  });

  it('sends a few refusals at once, and delays further ones, on both paths', async () => {
    await using on = await stage();
    // Each client keeps its connection, whose app is known after the first publish.
    using direct = rawClient(on.service.url);
    using node = rawClient(on.service.url);
    const send = async (client: RawClient, path: string): Promise<number> => {
      const type = ['Content-Type', 'application/json'] as const;
      const headers = [['X-API-Key', on.service.key] as const, type];
      const body = JSON.stringify(publish.body);
      return (await client.send({ method: 'POST', path, headers, body })).status;
    };
    const paths = [
      [direct, '/events'],
      [node, '/%65vents'],
    ] as const;
    for (const [client, path] of paths) assert.equal(await send(client, path), 202);
    const admitted = await on.flood();
    for (let n = 0; n < limits.refusalsAtOnceMax; n += 1) {
      const [client, path] = n % 2 === 0 ? paths[0] : paths[1]; // Neither connection may become idle for long.
      assert.equal(await send(client, path), 503);
    }
    assert.equal(on.waits.count, 0);
    for (const [n, [client, path]] of paths.entries()) {
      const later = send(client, path);
      await on.waits.reach(n + 1);
      on.endWait();
      assert.equal(await later, 503, path);
    }
    on.goOn();
    await Promise.all(admitted);
  });

  it('still answers probes, reads and unsubscribes', async () => {
    await using on = await stage();
    const body = { callbackUrl: 'http://127.0.0.1:9000/' };
    const { json } = await on.service.call({ method: 'POST', path: '/subscribe', body });
    const admitted = await on.flood();
    const status = async (call: Call): Promise<number> => (await on.service.call(call)).status;
    assert.equal(await status({ path: '/healthz', key: null }), 200);
    assert.equal(await status({ path: '/readyz', key: null }), 200);
    assert.equal(await status({ path: '/subscriptions' }), 200);
    assert.equal(await status({ path: '/stats' }), 200);
    const path = `/unsubscribe?Id=${String(json['subscriberId'])}`;
    assert.equal(await status({ method: 'POST', path }), 200);
    assert.equal(await status(publish), 503);
    on.goOn();
    await Promise.all(admitted);
  });

  it('503: starts few changes at once beside publishes, and refuses one that has waited too long', async () => {
    await using on = await stage();
    const admitted = await on.flood();
    const body = { callbackUrl: 'http://127.0.0.1:9000/' };
    const subscribe: Call = { method: 'POST', path: '/subscribe', body };
    for (let n = 0; n < limits.changesAtOnceMax; n += 1) {
      assert.equal((await on.service.call(subscribe)).status, 201);
    }
    const late = on.service.call(subscribe);
    await on.shows('changes_waiting', (count) => count === 1);
    const text = JSON.stringify(body);
    const head = `Content-Type: application/json\r\nX-API-Key: ${on.service.key}\r\n`;
    const leaving = begin(on.service, '/subscribe', `${head}Content-Length: ${text.length}`);
    leaving.write(text);
    await on.shows('changes_waiting', (count) => count === 2);
    leaving.destroy();
    await on.shows('changes_waiting', (count) => count === 1);
    on.world.advance(limits.changeTurnMs);
    on.goOn();
    const { status, headers, json } = await late;
    assert.deepEqual([status, json['code']], [503, 'overloaded']);
    assert.equal(headers.get('retry-after'), '1');
    await Promise.all(admitted);
    const { json: listed } = await on.service.call({ path: '/subscriptions' });
    assert.equal((listed['items'] as unknown[]).length, limits.changesAtOnceMax);
  });

  it('503: refuses publishes however their path is spelled', async () => {
    await using on = await stage();
    using raw = rawClient(on.service.url);
    const post = async (path: string): Promise<number> => {
      const headers = [
        ['X-API-Key', on.service.key],
        ['Content-Type', 'application/json'],
      ] as const;
      const call = { method: 'POST', path, headers, body: JSON.stringify(publish.body) };
      return (await raw.send(call)).status;
    };
    const paths = [
      '/%65vents',
      'http://x/events',
      '/events#a',
      '/events?api_key=x#b',
      '/events/b%61tch',
    ];
    for (const path of paths.slice(0, 4)) assert.equal(await post(path), 202, path);
    const admitted = await on.flood();
    for (const path of paths) assert.equal(await post(path), 503, path);
    on.goOn();
    await Promise.all(admitted);
  });

  for (const [path, reader] of [
    ['/events', 'the fast path'],
    ['/%65vents', 'Node and Fastify'],
  ]) {
    it(`starts one large publish per turn of the event loop: ${reader}`, async () => {
      let turns = 0;
      let isOver = false;
      const countTurns = (): void => {
        turns += 1;
        if (!isOver) setImmediate(countTurns);
      };
      const begun: number[] = [];
      const arrived = new Tally('large publishes have reached the store');
      await using service = await start({
        openStore: async (options) => {
          const store = await openStore(options);
          return {
            ...store,
            edit: async (verb, input) => {
              if (verb === 'publish') {
                begun.push(turns);
                arrived.add();
              }
              return store.edit(verb, input);
            },
          };
        },
      });
      const write = (socket: Socket, message: string): void => {
        const text = JSON.stringify({ event: 'order.created', payload: { message } });
        const head =
          `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
          `X-API-Key: ${service.key}\r\nContent-Length: ${text.length}\r\n\r\n`;
        socket.write(head + text);
      };
      const { hostname, port } = new URL(service.url);
      const sockets = Array.from({ length: 16 }, () =>
        connect({ host: hostname, port: Number(port) }),
      );
      // The service accepts connections one by one. Once all are open, it reads them in one turn.
      for (const socket of sockets) {
        write(socket, 'small');
        const [answer] = await once(socket, 'data');
        assert.match(String(answer), /^HTTP\/1.1 202 /);
      }
      begun.length = 0;
      countTurns();
      for (const socket of sockets) write(socket, 'm'.repeat(limits.smallBodyBytes));
      await arrived.reach(2 * sockets.length);
      isOver = true;
      assert.equal(new Set(begun).size, sockets.length, begun.join(', '));
      for (const socket of sockets) socket.destroy();
    });
  }

  it('counts the bytes of a response until it is read, on a keep-alive connection', async () => {
    await using on = await stage();
    const body = { event: 'order.created', payload: { message: 'm'.repeat(1_000_000) } };
    const { json } = await on.service.call({ ...publish, body });
    const { hostname, port, host } = new URL(on.service.url);
    const socket = connect({ host: hostname, port: Number(port) });
    const head = `GET /events/${String(json['eventId'])} HTTP/1.1\r\nHost: ${host}\r\n`;
    // More than the socket buffers hold without a reader.
    socket.write(`${head}X-API-Key: ${on.service.key}\r\n\r\n`.repeat(40));
    await on.shows('unread_bytes', (bytes) => bytes >= 1_000_000);
    socket.resume();
    await on.shows('unread_bytes', (bytes) => bytes === 0);
    socket.destroy();
  });

  it('accepts large bodies while clients without a key send theirs slowly', async () => {
    await using on = await stage();
    const length = limits.bytesInFlightMax / limits.bodyBytesMax;
    const sockets = Array.from({ length }, () => begin(on.service, '/console/session'));
    await on.shows('under_way{kind="change"}', (count) => count === length);
    const large = { event: 'order.created', payload: { message: 'm'.repeat(20_000) } };
    assert.equal((await on.service.call({ ...publish, body: large })).status, 202);
    for (const socket of sockets) socket.destroy();
  });

  it('413: refuses a large body where no key is required', async () => {
    await using on = await stage();
    const body = { key: 'k'.repeat(limits.smallBodyBytes) };
    const call: Call = { method: 'POST', path: '/console/session', key: null, body };
    const { status, json } = await on.service.call(call);
    assert.deepEqual([status, json['code']], [413, 'body_too_large']);
    assert.match(String(json['detail']), /larger than 16 KiB \(16,384 bytes\).*without a key/);
  });

  it('503: does not readmit a slow request after its place was given away', async () => {
    await using on = await stage();
    const text = JSON.stringify(publish.body);
    const head = `Content-Type: application/json\r\nX-API-Key: ${on.service.key}\r\n`;
    assert.equal((await on.service.call(publish)).status, 202);
    const late = begin(on.service, '/events', `${head}Content-Length: ${text.length}`);
    late.write(text.slice(0, -1));
    await on.shows('under_way{kind="publish"}', (count) => count === 1);
    on.world.advance(limits.arrivalMs);
    const admitted = await on.flood();
    late.write(text.slice(-1));
    const [answer] = await once(late, 'data');
    assert.match(String(answer), /^HTTP\/1.1 503 .*"code":"overloaded"/s);
    assert.match(String(answer), /retry-after: 1/i);
    late.destroy();
    on.goOn();
    await Promise.all(admitted);
  });
});

/** Sends the head of a request with a body; if the body is chunked, also its first byte. */
function begin(service: Started, path: string, head?: string): Socket {
  const { hostname, port, host } = new URL(service.url);
  const socket = connect({ host: hostname, port: Number(port) });
  const lines = head ?? 'Content-Type: application/json\r\nTransfer-Encoding: chunked';
  socket.write(`POST ${path} HTTP/1.1\r\nHost: ${host}\r\n${lines}\r\n\r\n`);
  if (head === undefined) socket.write('1\r\n{\r\n');
  return socket;
}
