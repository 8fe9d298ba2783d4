import assert from 'node:assert/strict';
import { getEventListeners, once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { after, describe, it } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { makeCertificate } from '../../../test/egress/certificate.ts';
import {
  answering,
  guardOf,
  makeSender,
  ok,
  post,
  recorder,
  resolving,
  startReceiver,
  stopReceivers,
} from '../../../test/egress/receiver.ts';
import { reuseCases } from '../../../test/egress/reuse-cases.ts';
import { sleepyWorld } from '../../../test/engine/sleepy-world.ts';
import { realWorld } from '../../core/base/world.ts';
import type { Connector } from './connect.ts';
import type { SenderResult } from './exchange.ts';
import type { Resolution } from '../guard/resolve.ts';
import type { Sender } from './send.ts';

after(stopReceivers);

function statusOf(result: SenderResult): number | string {
  return result.kind === 'answered' ? result.status : JSON.stringify(result);
}

function errorOf(result: SenderResult): string {
  return result.kind === 'failed' ? result.error : JSON.stringify(result);
}

function textOf(result: SenderResult): string {
  assert(result.kind === 'answered', JSON.stringify(result));
  return Buffer.from(result.body).toString();
}

/** Holds its response back until the test releases it. */
function holding(): { serve: (socket: Socket) => void; heard: Promise<Socket> } {
  const { promise, resolve } = Promise.withResolvers<Socket>();
  return {
    serve: (socket) => {
      socket.once('data', () => resolve(socket));
    },
    heard: promise,
  };
}

/** Dials that never complete until they are aborted. */
function hanging(): Connector & { givenUp: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return {
    givenUp: promise,
    async connect({ signal }) {
      if (!signal.aborted) await once(signal, 'abort');
      resolve();
      throw signal.reason;
    },
  };
}

/** Sends the pieces one at a time, so that each is read before the next one is sent. */
async function inTurns(socket: Socket, pieces: readonly string[]): Promise<void> {
  for (const piece of pieces) {
    socket.write(piece);
    for (let turns = 0; turns < 5; turns += 1) await turn();
  }
}

async function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

describe('send', () => {
  it('counts only the lines of the head, not those of a body in the same packet', async () => {
    const body = '\n'.repeat(900);
    const receiver = await startReceiver(answering(ok(body)));
    const sender = makeSender();
    const result = await sender.send(post(receiver.url));
    assert.equal(statusOf(result), 200);
    assert.equal(textOf(result), body);
    await sender.close();
  });

  it('keeps responses apart, although all of them are read into one buffer', async () => {
    const letters = ['a', 'b', 'c', 'd'];
    // In pieces, so that all responses are in flight together: each head is complete only with its
    // second piece.
    const receivers = await Promise.all(
      letters.map(async (letter) =>
        startReceiver((socket) => {
          const pieces = [
            `HTTP/1.1 200 OK\r\nx-who: ${letter}`,
            `\r\ncontent-length: 5000\r\n\r\n${letter}`,
            letter.repeat(4_999),
          ];
          socket.on('data', () => void inTurns(socket, pieces));
        }),
      ),
    );
    const sender = makeSender();
    const results = await Promise.all(receivers.map(async ({ url }) => sender.send(post(url))));
    const heard = results.map((result) => [
      result.kind === 'answered' ? result.headers[0] : undefined,
      textOf(result),
    ]);
    assert.deepEqual(
      heard,
      letters.map((letter) => [['x-who', letter], letter.repeat(5_000)]),
    );
    await sender.close();
  });

  it('sends method, path, headers and bytes, and returns status, headers and body', async () => {
    const heads: string[] = [];
    const receiver = await startReceiver((socket) => {
      socket.on('data', (data) => {
        heads.push(data.toString('latin1'));
        socket.write('HTTP/1.1 202 Fine\r\nX-Name: v\r\nContent-Length: 5\r\n\r\nhello');
      });
    });
    const sender = makeSender();
    const result = await sender.send({
      app: 1,
      method: 'PUT',
      url: `http://hooks.example.com:${receiver.port}/a/b?x=1`,
      headers: ['x-a', '1'],
      body: Buffer.from([0, 255, 10]),
      timeoutMs: 5_000,
    });
    assert(result.kind === 'answered');
    assert.equal(result.status, 202);
    assert.equal(result.cut, false);
    assert.equal(textOf(result), 'hello');
    assert.deepEqual(result.headers, [
      ['x-name', 'v'],
      ['content-length', '5'],
    ]);
    const [head = '', body] = heads.join('').split('\r\n\r\n');
    assert.deepEqual(head.split('\r\n'), [
      'PUT /a/b?x=1 HTTP/1.1',
      `host: hooks.example.com:${receiver.port}`,
      'connection: keep-alive',
      'x-a: 1',
      'content-length: 3',
    ]);
    assert.equal(body, '\0\xff\n');
    await sender.close();
  });

  it('sends every method of a callback, and reports a 3xx as a response', async () => {
    const receiver = await startReceiver(answering(ok('', '302 Found')));
    const sender = makeSender();
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'GET', 'OPTIONS', 'QUERY']) {
      assert.equal(statusOf(await sender.send(post(receiver.url, { method }))), 302, method);
    }
    await sender.close();
  });

  it('never rejects a request that cannot be written', async () => {
    const sender = makeSender();
    const rows = [
      { method: 'PO ST' },
      { method: 'CONNECT' },
      { headers: ['bad name', 'x'] },
      { headers: ['x', 'a\r\nb: c'] },
      { headers: ['transfer-encoding', 'chunked'] },
      { headers: ['content-length', '1'] },
    ];
    const receiver = await startReceiver(answering(ok()));
    for (const row of rows) {
      const request = post(receiver.url, row);
      assert.equal(errorOf(await sender.send(request)), 'protocol', JSON.stringify(row));
    }
    assert.equal(receiver.seen.bytes, 0);
    await sender.close();
  });

  it('reads a body only for a short time, whatever time is left', async () => {
    const { world, clock, nextNap } = sleepyWorld();
    const receiver = await startReceiver((socket) => {
      socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\n\r\nx'));
    });
    const sender = makeSender({ world, limits: { responseReadMs: 50 } });
    const sent = sender.send(post(receiver.url, { timeoutMs: 60_000 }));
    // After the sleeps of the request and of the connection, one begins when the head has arrived.
    let reading = await nextNap();
    while (reading.ms !== 50) reading = await nextNap();
    clock.ms += 50;
    reading.wake();
    const result = await sent;
    assert(result.kind === 'answered');
    assert.deepEqual([result.cut, textOf(result)], [true, 'x']);
    await receiver.empty();
    await sender.close();
  });

  it('gives a slow body after a late head no more time than its request has', async () => {
    const { world, clock, nextNap } = sleepyWorld();
    const { serve, heard } = holding();
    const receiver = await startReceiver(serve);
    let onLook = (): void => undefined; // Called when the clock is read, as when a head has arrived.
    const monotonicMs = (): number => {
      onLook();
      return clock.ms;
    };
    const sender = makeSender({
      world: { ...world, monotonicMs },
      limits: { responseReadMs: 1_000 },
    });
    const sent = sender.send(post(receiver.url, { timeoutMs: 5_000 }));
    const deadline = await nextNap();
    assert.equal(deadline.ms, 5_000);
    const socket = await heard;
    clock.ms += 4_500;
    const read = new Promise<void>((resolve) => {
      onLook = resolve;
    });
    socket.write('HTTP/1.1 200 OK\r\n\r\nx');
    await read;
    clock.ms += 500;
    deadline.wake();
    // With more time left, a sleep would begin.
    const result = await Promise.race([sent, nextNap()]);
    assert('kind' in result && result.kind === 'answered', JSON.stringify(result));
    assert.deepEqual([result.status, result.cut, textOf(result)], [200, true, 'x']);
    await receiver.empty();
    await sender.close();
  });

  it('uses the name of the URL for TLS', async () => {
    const { certificate, key } = makeCertificate('hooks.example.com');
    const server = createTlsServer({ cert: certificate, key });
    const receiver = await startReceiver(answering(ok()), server);
    const sender = makeSender({ tls: { ca: certificate } });
    const url = `https://hooks.example.com:${receiver.port}/`;
    for (let i = 0; i < 3; i += 1) assert.equal(statusOf(await sender.send(post(url))), 200);
    assert.equal(receiver.seen.accepted, 1);
    await sender.close();
    await receiver.empty();
  });
});

describe('send and connections', () => {
  it('reuses a connection, but not beyond its maximum age', async () => {
    const receiver = await startReceiver(answering(ok()));
    let aheadMs = 0;
    const real = realWorld();
    const world = { ...real, monotonicMs: () => real.monotonicMs() + aheadMs };
    const sender = makeSender({ world });
    for (const [stepMs, accepted] of [
      [0, 1],
      [30_000, 1],
      [29_000, 1],
      [2_000, 2],
    ] as const) {
      aheadMs += stepMs;
      assert.equal(statusOf(await sender.send(post(receiver.url))), 200);
      assert.equal(receiver.seen.accepted, accepted);
    }
    await sender.close();
    await receiver.empty();
  });

  it('does not reuse a connection whose response announced a forbidden body', async () => {
    const late = 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nlate';
    const rows: [method: string, answer: string][] = [
      ['POST', `HTTP/1.1 204 No\r\ncontent-length: ${late.length}\r\n\r\n`],
      ['POST', 'HTTP/1.1 204 No\r\ntransfer-encoding: chunked\r\n\r\n'],
      ['HEAD', 'HTTP/1.1 200 OK\r\ncontent-length: 44\r\n\r\n'],
    ];
    for (const [method, answer] of rows) {
      const receiver = await startReceiver(answering(answer));
      const sender = makeSender();
      for (let i = 0; i < 2; i += 1) await sender.send(post(receiver.url, { method }));
      assert.equal(receiver.seen.accepted, 2, answer);
      await receiver.empty();
      await sender.close();
    }
  });

  for (const { what, answer, isKept } of reuseCases) {
    it(`${isKept ? 'keeps' : 'drops'} a connection after ${what}`, async () => {
      const receiver = await startReceiver(answering(answer));
      const sender = makeSender();
      const results = [
        await sender.send(post(receiver.url)),
        await sender.send(post(receiver.url)),
      ];
      assert(results.every(({ kind }) => kind === 'answered'));
      assert.equal(receiver.seen.accepted, isKept ? 1 : 2);
      await sender.close();
      await receiver.empty();
    });
  }

  it('sends no request over a connection of another app', async () => {
    const receiver = await startReceiver(answering(ok()));
    const sender = makeSender();
    const accepted: number[] = [];
    for (const app of [1, 2, 1, 2, 3]) {
      assert.equal(statusOf(await sender.send(post(receiver.url, { app }))), 200);
      accepted.push(receiver.seen.accepted);
    }
    assert.deepEqual(accepted, [1, 2, 2, 2, 3]);
    assert.deepEqual(sender.count(), { sending: 0, origins: 1, open: 3, idle: 3 });
    await sender.close();
    assert.deepEqual(sender.count(), { sending: 0, origins: 0, open: 0, idle: 0 });
    await receiver.empty();
  });

  it('opens no more connections to an origin for several apps than for one, and serves them all', async () => {
    const sender = makeSender({ limits: { connectionsPerOriginMax: 3 } });
    let most = 0;
    const receiver = await startReceiver((socket) => {
      socket.on('data', () => {
        most = Math.max(most, sender.count().open);
        socket.write(ok());
      });
    });
    const sent = Array.from({ length: 60 }, async (_, index) =>
      sender.send(post(receiver.url, { app: index % 7 })),
    );
    assert.deepEqual([...new Set((await Promise.all(sent)).map(statusOf))], [200]);
    assert.equal(most, 3);
    await sender.close();
    assert.deepEqual(sender.count(), { sending: 0, origins: 0, open: 0, idle: 0 });
    await receiver.empty();
  });

  it('closes the idle connection of another app when the origin is at its limit', async () => {
    const { serve, heard } = holding();
    let isFirst = true;
    const receiver = await startReceiver((socket) => {
      if (isFirst) answering(ok())(socket);
      else serve(socket);
      isFirst = false;
    });
    const sender = makeSender({ limits: { connectionsPerOriginMax: 1 } });
    assert.equal(statusOf(await sender.send(post(receiver.url, { app: 1 }))), 200);
    const second = sender.send(post(receiver.url, { app: 2 }));
    const third = sender.send(post(receiver.url, { app: 1, timeoutMs: 50 }));
    assert.deepEqual(await third, { kind: 'not_started', reason: 'busy' });
    (await heard).write(ok());
    assert.equal(statusOf(await second), 200);
    assert.equal(receiver.seen.accepted, 2);
    assert.deepEqual(sender.count(), { sending: 0, origins: 1, open: 1, idle: 1 });
    await sender.close();
    await receiver.empty();
  });

  it('lets apps take turns at an origin that is at its limit', async () => {
    const turns: string[] = [];
    const receiver = await startReceiver((socket) => {
      socket.on('data', (data: Buffer) => {
        turns.push(/^POST \/(\d)/.exec(data.toString('latin1'))?.[1] ?? '');
        socket.write(ok());
      });
    });
    const sender = makeSender({ limits: { connectionsPerOriginMax: 1 } });
    const url = (app: number): string => receiver.url.replace(/hook$/, String(app));
    const sent = [1, 1, 1, 1, 2, 2].map(async (app) => sender.send(post(url(app), { app })));
    assert.deepEqual([...new Set((await Promise.all(sent)).map(statusOf))], [200]);
    assert.deepEqual(turns, ['1', '1', '2', '1', '2', '1']);
    await sender.close();
    await receiver.empty();
  });

  it('closes a connection that is idle too long', async () => {
    const receiver = await startReceiver(answering(ok()));
    const sender = makeSender({ limits: { connectionIdleMs: 20 } });
    await sender.send(post(receiver.url));
    await receiver.empty();
    await turn();
    assert.deepEqual(sender.count(), { sending: 0, origins: 0, open: 0, idle: 0 });
    await sender.close();
  });

  it('opens no more than allowed to one origin, and serves all waiting requests', async () => {
    let together = 0;
    let most = 0;
    const receiver = await startReceiver((socket) => {
      socket.on('data', () => {
        together += 1;
        most = Math.max(most, together);
        setImmediate(() => {
          together -= 1;
          socket.write(ok());
        });
      });
    });
    const sender = makeSender({ limits: { connectionsPerOriginMax: 3 } });
    const sent = Array.from({ length: 60 }, async () => sender.send(post(receiver.url)));
    assert.deepEqual([...new Set((await Promise.all(sent)).map(statusOf))], [200]);
    assert.equal(receiver.seen.accepted, 3);
    assert(most <= 3);
    await sender.close();
    await receiver.empty();
  });

  it('opens few connections for a burst that is answered quickly', async () => {
    const receiver = await startReceiver(answering(ok()));
    const patient = { connectionsEagerMax: 3, connectionPatienceMs: 60_000 };
    const sender = makeSender({ limits: patient });
    const sent = Array.from({ length: 60 }, async () => sender.send(post(receiver.url)));
    assert.deepEqual([...new Set((await Promise.all(sent)).map(statusOf))], [200]);
    assert.equal(receiver.seen.accepted, 3);
    await sender.close();
    await receiver.empty();
  });

  it('opens more for requests that have waited', async () => {
    const waiting: Socket[] = [];
    const receiver = await startReceiver((socket) => {
      socket.on('data', () => {
        waiting.push(socket);
        if (waiting.length === 20) for (const each of waiting) each.write(ok());
      });
    });
    const sender = makeSender({ limits: { connectionsEagerMax: 3, connectionPatienceMs: 1 } });
    const sent = Array.from({ length: 20 }, async () => sender.send(post(receiver.url)));
    assert.deepEqual([...new Set((await Promise.all(sent)).map(statusOf))], [200]);
    assert.equal(receiver.seen.accepted, 20);
    await sender.close();
    await receiver.empty();
  });

  it('serves all waiting requests when the receiver closes after each response', async () => {
    const closing = 'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok';
    const receiver = await startReceiver(answering(closing));
    const sender = makeSender({ limits: { connectionsPerOriginMax: 2 } });
    const sent = Array.from({ length: 40 }, async () => sender.send(post(receiver.url)));
    assert.deepEqual([...new Set((await Promise.all(sent)).map(statusOf))], [200]);
    assert.equal(receiver.seen.requests, 40);
    await sender.close();
    await receiver.empty();
  });

  it('returns busy when no connection was free until the deadline', async () => {
    const { serve, heard } = holding();
    const receiver = await startReceiver(serve);
    const sender = makeSender({ limits: { connectionsPerOriginMax: 1 } });
    const first = sender.send(post(receiver.url));
    const second = sender.send(post(receiver.url, { timeoutMs: 50 }));
    assert.deepEqual(await second, { kind: 'not_started', reason: 'busy' });
    (await heard).write(ok());
    assert.equal(statusOf(await first), 200);
    assert.equal(receiver.seen.requests, 1);
    await sender.close();
  });

  it('does not blame the receiver when this node has no sockets left', async () => {
    const connector: Connector = {
      async connect() {
        throw Object.assign(new Error('too many open files'), { code: 'EMFILE' });
      },
    };
    const sender = makeSender({ connector });
    const result = await sender.send(post('http://127.0.0.1:4000/'));
    assert.deepEqual(result, { kind: 'not_started', reason: 'busy' });
    await sender.close();
  });

  it('closes the longest idle connection when too many are idle', async () => {
    const sender = makeSender({ limits: { connectionsIdleMax: 2 } });
    const receivers = await Promise.all(
      Array.from({ length: 3 }, async () => startReceiver(answering(ok()))),
    );
    for (const { url } of receivers) await sender.send(post(url));
    await receivers[0]?.empty();
    assert.deepEqual(sender.count(), { sending: 0, origins: 2, open: 2, idle: 2 });
    await sender.close();
    await Promise.all(receivers.map(async (receiver) => receiver.empty()));
  });

  it('retains nothing of 2,000 requests to 200 receivers', async () => {
    const receivers = await Promise.all(
      Array.from({ length: 200 }, async () => startReceiver(answering(ok()))),
    );
    const sender = makeSender({ limits: { connectionsIdleMax: 50 } });
    for (let round = 0; round < 10; round += 1) {
      const results = await Promise.all(receivers.map(async ({ url }) => sender.send(post(url))));
      assert(results.every(({ kind }) => kind === 'answered'));
      assert.deepEqual(sender.count(), { sending: 0, origins: 50, open: 50, idle: 50 });
    }
    await sender.close();
    assert.deepEqual(sender.count(), { sending: 0, origins: 0, open: 0, idle: 0 });
    await Promise.all(receivers.map(async (receiver) => receiver.empty()));
  });
});

describe('send on a connection that the receiver has closed', () => {
  /** Answers the first request of each connection; the second one gets `end`. */
  function once200(end: (socket: Socket) => void): (socket: Socket) => void {
    return (socket) => {
      let requests = 0;
      socket.on('data', () => {
        requests += 1;
        if (requests === 1) socket.write(ok());
        else end(socket);
      });
    };
  }

  async function sendTwice(
    sender: Sender,
    url: string,
    onStart?: () => boolean,
  ): Promise<SenderResult> {
    assert.equal(statusOf(await sender.send(post(url))), 200);
    return sender.send(post(url), onStart === undefined ? {} : { onStart });
  }

  const ends = {
    end: (socket: Socket) => socket.end(),
    destroy: (socket: Socket) => socket.destroy(),
    reset: (socket: Socket) => socket.resetAndDestroy(),
  };
  for (const [name, end] of Object.entries(ends)) {
    it(`repeats the request once on a fresh connection: ${name}`, async () => {
      const receiver = await startReceiver(once200(end));
      const sender = makeSender();
      let starts = 0;
      const onStart = (): boolean => {
        starts += 1;
        return true;
      };
      assert.equal(statusOf(await sendTwice(sender, receiver.url, onStart)), 200);
      assert.equal(starts, 2);
      assert.equal(receiver.seen.requests, 3);
      assert.equal(receiver.seen.accepted, 2);
      await sender.close();
      await receiver.empty();
    });
  }

  it('does not repeat it on another idle connection', async () => {
    const receiver = await startReceiver(once200(ends.end));
    const sender = makeSender();
    const both = [1, 2].map(async () => sender.send(post(receiver.url)));
    assert.deepEqual((await Promise.all(both)).map(statusOf), [200, 200]);
    assert.equal(sender.count().idle, 2);
    assert.equal(statusOf(await sender.send(post(receiver.url))), 200);
    assert.equal(receiver.seen.accepted, 3);
    await sender.close();
    await receiver.empty();
  });

  it('does not repeat it again when the fresh connection is closed as well', async () => {
    let connections = 0;
    const receiver = await startReceiver((socket) => {
      connections += 1;
      if (connections === 1) once200(ends.end)(socket);
      else socket.on('data', () => socket.end());
    });
    const sender = makeSender();
    assert.equal(errorOf(await sendTwice(sender, receiver.url)), 'reset');
    assert.equal(receiver.seen.requests, 3);
    await sender.close();
  });

  it('does not call onStart for a connection that was just destroyed', async () => {
    const receiver = await startReceiver(answering(ok()));
    const sockets: Socket[] = [];
    const inner = recorder(receiver.port);
    const connector: Connector = {
      async connect(target) {
        const socket = await inner.connect(target);
        sockets.push(socket);
        return socket;
      },
    };
    const sender = makeSender({ connector });
    assert.equal(statusOf(await sender.send(post(receiver.url))), 200);
    sockets[0]?.destroy();
    let starts = 0;
    const onStart = (): boolean => {
      starts += 1;
      return true;
    };
    assert.equal(statusOf(await sender.send(post(receiver.url), { onStart })), 200);
    assert.equal(starts, 1);
    assert.equal(receiver.seen.requests, 2);
    await sender.close();
    await receiver.empty();
  });

  it('does not repeat the first request on a connection', async () => {
    const receiver = await startReceiver((socket) => socket.on('data', () => socket.end()));
    const sender = makeSender();
    assert.equal(errorOf(await sender.send(post(receiver.url))), 'reset');
    assert.equal(receiver.seen.requests, 1);
    await sender.close();
  });

  it('does not repeat after a byte of a response', async () => {
    const receiver = await startReceiver(once200((socket) => socket.end('H')));
    const sender = makeSender();
    assert.equal(errorOf(await sendTwice(sender, receiver.url)), 'reset');
    assert.equal(receiver.seen.requests, 2);
    await sender.close();
  });

  it('does not repeat a request that was pending for long', async () => {
    const late = (socket: Socket): void => void setTimeout(() => socket.end(), 60);
    const receiver = await startReceiver(once200(late));
    const sender = makeSender({ limits: { connectionStaleMs: 20 } });
    assert.equal(errorOf(await sendTwice(sender, receiver.url)), 'reset');
    assert.equal(receiver.seen.requests, 2);
    await sender.close();
  });

  it('calls onStart again before it repeats, and then reports the loss', async () => {
    const receiver = await startReceiver(once200(ends.end));
    const sender = makeSender();
    const allowed = [true, false];
    const result = await sendTwice(sender, receiver.url, () => allowed.shift() ?? false);
    assert.equal(errorOf(result), 'reset');
    assert.equal(receiver.seen.requests, 2);
    await sender.close();
    await receiver.empty();
  });

  it('loses no request to a receiver that keeps closing idle connections', async () => {
    // The receiver closes 0 to 2 ms after each response; the next request follows 0 to 2 ms later.
    const receiver = await startReceiver((socket) => {
      let answered = 0;
      socket.on('data', () => {
        socket.write(ok());
        answered += 1;
        setTimeout(
          () => (answered % 2 === 0 ? socket.end() : socket.resetAndDestroy()),
          answered % 3,
        );
      });
    });
    const sender = makeSender();
    for (let i = 0; i < 300; i += 1) {
      assert.equal(statusOf(await sender.send(post(receiver.url))), 200, `request ${i}`);
      await new Promise((resolve) => setTimeout(resolve, i % 3));
    }
    await sender.close();
    await receiver.empty();
  });
});

describe('send and onStart', () => {
  it('writes no byte when onStart declines on a fresh connection', async () => {
    const receiver = await startReceiver(answering(ok()));
    const sender = makeSender();
    const result = await sender.send(post(receiver.url), { onStart: () => false });
    assert.deepEqual(result, { kind: 'not_started', reason: 'declined' });
    await receiver.empty();
    assert.deepEqual(receiver.seen, { accepted: 1, bytes: 0, requests: 0 });
    await sender.close();
  });

  it('writes no byte when onStart declines on a reused connection', async () => {
    const receiver = await startReceiver(answering(ok()));
    const sender = makeSender();
    await sender.send(post(receiver.url));
    const before = { ...receiver.seen };
    const result = await sender.send(post(receiver.url), { onStart: () => false });
    assert.deepEqual(result, { kind: 'not_started', reason: 'declined' });
    await receiver.empty();
    assert.deepEqual(receiver.seen, before);
    assert.equal(statusOf(await sender.send(post(receiver.url))), 200);
    await sender.close();
  });

  it('calls onStart when the connection is open, not before', async () => {
    const receiver = await startReceiver(answering(ok()));
    const log: string[] = [];
    const inner = recorder(receiver.port);
    const connector: Connector = {
      async connect(target) {
        const socket = await inner.connect(target);
        log.push('connected');
        return socket;
      },
    };
    const sender = makeSender({ connector });
    const onStart = (): boolean => log.push('asked') > 0;
    await sender.send(post(receiver.url), { onStart });
    assert.deepEqual(log, ['connected', 'asked']);
    await sender.close();
  });

  it('rethrows an exception of onStart, and writes no byte', async () => {
    const receiver = await startReceiver(answering(ok()));
    const sender = makeSender();
    const onStart = (): boolean => {
      throw new Error('a bug of the caller');
    };
    await assert.rejects(sender.send(post(receiver.url), { onStart }), /a bug of the caller/);
    await receiver.empty();
    assert.equal(receiver.seen.bytes, 0);
    await sender.close();
  });
});

describe('aborted send', () => {
  it('is aborted before it starts', async () => {
    const connector = hanging();
    const sender = makeSender({ connector });
    const controller = new AbortController();
    const result = sender.send(post('http://127.0.0.1:4000/'), { signal: controller.signal });
    await turn();
    controller.abort();
    assert.deepEqual(await result, { kind: 'aborted', started: false });
    await connector.givenUp;
    const { signal } = controller;
    const again = await sender.send(post('http://127.0.0.1:4000/'), { signal });
    assert.deepEqual(again, { kind: 'aborted', started: false });
    await sender.close();
  });

  it('is aborted while it waits for a response', async () => {
    const { serve, heard } = holding();
    const receiver = await startReceiver(serve);
    const sender = makeSender();
    const controller = new AbortController();
    const result = sender.send(post(receiver.url), { signal: controller.signal });
    await heard;
    controller.abort();
    assert.deepEqual(await result, { kind: 'aborted', started: true });
    await receiver.empty();
    await sender.close();
  });

  it('still counts as answered once the head has arrived', async () => {
    const { serve, heard } = holding();
    const receiver = await startReceiver(serve);
    const sender = makeSender();
    const controller = new AbortController();
    const result = sender.send(post(receiver.url), { signal: controller.signal });
    const socket = await heard;
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf');
    await turn();
    await turn();
    controller.abort();
    const answer = await result;
    assert(answer.kind === 'answered');
    assert.equal(answer.cut, true);
    await sender.close();
    await receiver.empty();
  });

  it('leaves no listener on the signal', async () => {
    const receiver = await startReceiver(answering(ok()));
    const sender = makeSender();
    const { signal } = new AbortController();
    await sender.send(post(receiver.url), { signal });
    assert.deepEqual(getEventListeners(signal, 'abort'), []);
    await sender.close();
  });
});

describe('close', () => {
  it('aborts requests in flight, leaves no socket and accepts no more', async () => {
    const { serve, heard } = holding();
    const receiver = await startReceiver(serve);
    const connector = hanging();
    const [sender, dialling] = [makeSender(), makeSender({ connector })];
    const sent = sender.send(post(receiver.url));
    const unsent = dialling.send(post(receiver.url));
    await heard;
    await Promise.all([sender.close(), sender.close(), dialling.close()]);
    assert.deepEqual(await sent, { kind: 'aborted', started: true });
    assert.deepEqual(await unsent, { kind: 'aborted', started: false });
    await connector.givenUp;
    await receiver.empty();
    assert.deepEqual(await sender.send(post(receiver.url)), { kind: 'aborted', started: false });
    assert.equal(receiver.seen.accepted, 1);
  });

  it('aborts requests that wait for a connection', async () => {
    const { serve, heard } = holding();
    const receiver = await startReceiver(serve);
    const sender = makeSender({ limits: { connectionsPerOriginMax: 1 } });
    const sent = [1, 2, 3].map(async () => sender.send(post(receiver.url)));
    await heard;
    await sender.close();
    const started = (await Promise.all(sent)).map((result) =>
      result.kind === 'aborted' ? result.started : JSON.stringify(result),
    );
    assert.deepEqual(started, [true, false, false]);
    await receiver.empty();
    assert.equal(receiver.seen.accepted, 1);
  });
});

describe('send and the guard', () => {
  it('refuses a URL without dialling, including http where https is required', async () => {
    const connector = recorder();
    const guard = guardOf({ allow: 'none' });
    const strict = guardOf({ requireHttps: true });
    const rows = [
      [guard, 'http://127.0.0.1:4000/'],
      [guard, 'http://[::ffff:127.0.0.1]/'],
      [guard, 'ftp://example.com/'],
      [guard, 'http://user:secret@example.com/'],
      [strict, 'http://127.0.0.1:4000/'],
    ] as const;
    for (const [by, url] of rows) {
      const sender = makeSender({ guard: by, connector });
      for (let i = 0; i < 2; i += 1) {
        const result = await sender.send(post(url));
        assert(result.kind === 'failed');
        assert.equal(result.error, 'blocked');
        assert.doesNotMatch(result.message, /secret/);
      }
      await sender.close();
    }
    assert.deepEqual(connector.dials, []);
  });

  it('dials nothing for names that resolve to a forbidden address, and does not name it', async () => {
    const connector = recorder();
    for (const address of ['10.1.2.3', '127.0.0.1', '169.254.169.254', '::1', 'fd00::1']) {
      const guard = guardOf({ allow: 'none', resolver: resolving('93.184.215.14', address) });
      const sender = makeSender({ guard, connector });
      const result = await sender.send(post('https://rebind.example.com/'));
      assert(result.kind === 'failed');
      assert.equal(result.error, 'blocked');
      assert(!result.message.includes(address));
      await sender.close();
    }
    assert.deepEqual(connector.dials, []);
  });

  it('vets a name again for each connection', async () => {
    const receiver = await startReceiver(
      answering('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n'),
    );
    const answers = [['127.0.0.1'], ['10.0.0.1']];
    const resolver = {
      resolve: async (): Promise<Resolution> => ({
        kind: 'addresses',
        addresses: answers.shift() ?? ['10.0.0.1'],
      }),
    };
    const connector = recorder(receiver.port);
    const sender = makeSender({ guard: guardOf({ resolver }), connector });
    const url = `http://rebind.example.com:${receiver.port}/`;
    assert.equal(statusOf(await sender.send(post(url))), 200);
    await receiver.empty();
    assert.equal(errorOf(await sender.send(post(url))), 'blocked');
    assert.deepEqual(connector.dials, ['127.0.0.1']);
    await sender.close();
  });

  it('reports names that are missing or cannot be looked up', async () => {
    const rows: [Resolution, RegExp][] = [
      [{ kind: 'missing' }, /no address/],
      [{ kind: 'failed', reason: 'server' }, /could not be resolved/],
      [{ kind: 'failed', reason: 'timeout' }, /could not be resolved/],
    ];
    for (const [answer, message] of rows) {
      const guard = guardOf({ resolver: { resolve: async () => answer } });
      const sender = makeSender({ guard });
      const result = await sender.send(post('https://gone.example.com/'));
      assert(result.kind === 'failed');
      assert.equal(result.error, 'dns');
      assert.match(result.message, message);
      await sender.close();
    }
  });

  const corpus = new URL('../../../../../shared/corpus/ssrf-urls.json', import.meta.url);
  const skip = existsSync(corpus) ? false : 'no ../shared/corpus/ssrf-urls.json here';
  it('dials nothing of the SSRF corpus', { skip }, async () => {
    const rows: unknown = JSON.parse(readFileSync(corpus, 'utf8'));
    assert(Array.isArray(rows) && rows.length > 4_000);
    const connector = recorder();
    const guard = guardOf({
      allow: 'none',
      resolver: { resolve: async () => ({ kind: 'missing' }) },
    });
    const sender = makeSender({ guard, connector });
    for (const { url } of rows as { url: string }[]) {
      const result = await sender.send(post(url));
      assert(result.kind === 'failed', url);
      // Some hosts are names, such as those of wildcard DNS services, which the test does not
      // resolve.
      assert(['blocked', 'dns'].includes(result.error), `${url}: ${result.error}`);
    }
    assert.deepEqual(connector.dials, []);
    assert.deepEqual(sender.count(), { sending: 0, origins: 0, open: 0, idle: 0 });
    await sender.close();
  });
});
