// Streams, slow sides and failures of the API behind the gateway. Signals and counts decide, never a duration.
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { start, type StartOptions } from '../api/harness.ts';
import { sleepyWorld, type SleepyWorld } from '../engine/sleepy-world.ts';
import { answering, bodyOf, startGateway, talk, type Gateway } from './stage.ts';

const get = 'GET / HTTP/1.1\nHost: a\nConnection: close\n\n';
const post = 'POST / HTTP/1.1\nHost: a\nConnection: close\nContent-Length: 2\n\nab';

function problemIn(answer: string): { status: number; code: unknown; detail: unknown } {
  const problem = JSON.parse(bodyOf(answer)) as Record<string, unknown>;
  const status = Number(answer.split(' ')[1]);
  assert.equal(problem['status'], status, answer);
  return { status, code: problem['code'], detail: problem['detail'] };
}

async function open(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

async function read(socket: Socket): Promise<string> {
  const piece = once(socket, 'data') as Promise<[Buffer]>;
  socket.resume();
  const [bytes] = await piece;
  socket.pause(); // Otherwise what comes before the next read would be lost.
  return bytes.toString('latin1');
}

/** A gateway before a server of the test. */
async function startBefore(
  server: Server,
  options: Pick<StartOptions, 'world'> = {},
): Promise<AsyncDisposable & { url: string }> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const env = {
    RINGBACK_UPSTREAM: `http://127.0.0.1:${port}`,
    RINGBACK_UPSTREAM_TIMEOUT: '777ms',
  };
  const service = await start({ ...options, env });
  const stop = async (): Promise<void> => {
    await service[Symbol.asyncDispose]();
    server.close();
  };
  return { url: service.url, [Symbol.asyncDispose]: stop };
}

/** The upstream timeout passes. */
async function runOut({ nextNap, clock }: SleepyWorld): Promise<void> {
  let nap = await nextNap();
  while (nap.ms !== 777) nap = await nextNap();
  clock.ms += nap.ms;
  nap.wake();
}

describe('the gateway and its API', () => {
  let gateway: Gateway;
  before(async () => {
    gateway = await startGateway();
  });
  after(async () => gateway[Symbol.asyncDispose]());

  it('answers 502 if nothing listens at the address of the API', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    await using lonely = await startGateway({ RINGBACK_UPSTREAM: `http://127.0.0.1:${port}` });
    const { status, code, detail } = problemIn(await talk(lonely.service.url, get));
    assert.deepEqual([status, code], [502, 'bad_gateway']);
    assert.match(String(detail), /cannot be reached: nothing listens at its address/);
  });

  it('answers 502 if the API closes without an answer, after another try for a safe method', async () => {
    const { api, service } = gateway;
    api.script = (_request, socket) => socket.end();
    api.requests.length = 0;
    assert.equal(problemIn(await talk(service.url, get)).code, 'bad_gateway');
    assert.equal(api.requests.length, 2);
    api.requests.length = 0;
    assert.equal(problemIn(await talk(service.url, post)).code, 'bad_gateway');
    assert.equal(api.requests.length, 1);
  });

  it('answers 502 if the answer is not HTTP, has two lengths, or a head that is too large', async () => {
    const { api, service } = gateway;
    const answers = [
      'hello\r\n\r\n',
      'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
      'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(70_000)}\r\n\r\n`,
    ];
    for (const answer of answers) {
      api.script = (_request, socket) => socket.write(answer);
      const { status, code } = problemIn(await talk(service.url, post));
      assert.deepEqual([status, code], [502, 'bad_gateway'], answer.slice(0, 80));
    }
  });

  it('breaks off when the API breaks off, so that no caller takes a part for the whole', async () => {
    const { api, service } = gateway;
    const halves = [
      'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n',
    ];
    for (const half of halves) {
      api.script = (_request, socket) => socket.write(half, () => socket.destroy());
      const answer = await talk(service.url, get);
      assert.match(answer, /^HTTP\/1\.1 200 OK/);
      assert.doesNotMatch(answer, /\r\n0\r\n\r\n$/);
    }
  });

  it('answers 504 if the API does not begin to answer in time', async () => {
    const server = createServer({ pauseOnConnect: true });
    const sleepy = sleepyWorld();
    await using slow = await startBefore(server, { world: sleepy.world });
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const answer = talk(slow.url, post);
    const [upstream] = await accepted;
    const closed = once(upstream, 'close');
    await read(upstream);
    upstream.resume();
    await runOut(sleepy);
    const { status, code, detail } = problemIn(await answer);
    assert.deepEqual([status, code], [504, 'gateway_timeout']);
    assert.match(String(detail), /within 0.777 seconds/);
    await closed;
  });

  it('lets an upload take any time as long as it goes on, and answers 408 if it stops', async () => {
    const server = createServer({ pauseOnConnect: true });
    const sleepy = sleepyWorld();
    await using slow = await startBefore(server, { world: sleepy.world });
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const client = await open(slow.url);
    client.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\na');
    const [upstream] = await accepted;
    let request = await read(upstream);
    while (!request.endsWith('a')) request += await read(upstream);
    for (const piece of ['b', 'c', 'd']) {
      client.write(piece);
      assert.equal(await read(upstream), piece);
      await runOut(sleepy);
    }
    await runOut(sleepy);
    assert.equal(problemIn(await read(client)).code, 'request_timeout');
    client.destroy();
  });

  it('lets an answer take any time once it has begun', async () => {
    const server = createServer({ pauseOnConnect: true });
    const sleepy = sleepyWorld();
    await using slow = await startBefore(server, { world: sleepy.world });
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const client = await open(slow.url);
    client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    const [upstream] = await accepted;
    await read(upstream);
    upstream.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n');
    assert.match(await read(client), /^HTTP\/1\.1 200 OK/);
    await runOut(sleepy);
    upstream.write('a');
    assert.equal(await read(client), 'a');
    upstream.write('b');
    assert.equal(await read(client), 'b');
    client.destroy();
    upstream.destroy();
  });

  it('streams both ways: each piece arrives before the next is sent', async () => {
    const server = createServer({ pauseOnConnect: true }); // `rawApi` waits for the whole request.
    await using streaming = await startBefore(server);
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const client = await open(streaming.url);
    client.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nab');
    const [upstream] = await accepted;
    let request = await read(upstream);
    while (!request.endsWith('ab')) request += await read(upstream);
    upstream.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
    assert.match(await read(client), /^HTTP\/1\.1 200 OK/);
    client.write('cd');
    assert.equal(await read(upstream), 'cd');
    for (const piece of ['1\r\nx\r\n', '1\r\ny\r\n']) {
      upstream.write(piece);
      assert.equal(await read(client), piece);
    }
    client.destroy();
    upstream.resume();
    await once(upstream, 'close');
  });

  it('carries large bodies in both directions unchanged', async () => {
    const echo = createHttpServer((request, response) => void request.pipe(response));
    await using echoing = await startBefore(echo);
    const body = Buffer.alloc(24 * 1_048_576, 'Ringback ');
    const answer = await fetch(echoing.url, { method: 'POST', body });
    assert.equal(hash('sha256', await answer.bytes()), hash('sha256', body));
  });

  it('reads from the API only as fast as the caller reads', async () => {
    const { api, service } = gateway;
    let written = 0;
    const chunk = Buffer.alloc(1_048_576);
    const total = 96;
    api.script = (request, socket) => {
      if (!request.startsWith('GET /large')) {
        answering('')(request, socket);
        return;
      }
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${total * chunk.length}\r\n\r\n`);
      const more = (): void => {
        while (written < total) {
          written += 1;
          if (!socket.write(chunk)) return void socket.once('drain', more);
        }
      };
      more();
    };
    const client = await open(service.url);
    client.pause();
    client.write('GET /large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    for (let at = 0; at < 100; at += 1) await talk(service.url, get);
    assert.ok(written > 0 && written < total / 2, `${written} MiB of ${total}`);
    let bytes = 0;
    client.on('data', (piece) => (bytes += piece.length)).resume();
    await once(client, 'close');
    assert.ok(bytes > total * chunk.length);
  });

  it('returns an answer that comes before the body, and then the next request of the connection', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', (head) => {
        const isPost = head.toString().startsWith('POST');
        const status = isPost ? '413 Too Large' : '200 OK';
        socket.write(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\n\r\n`);
      });
    });
    await using early = await startBefore(server);
    const client = await open(early.url);
    client.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2097152\r\n\r\nx');
    assert.match(await read(client), /^HTTP\/1\.1 413 Too Large\r\n/);
    client.write(Buffer.alloc(2_097_151));
    client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    assert.match(await read(client), /^HTTP\/1\.1 200 OK\r\n/);
    client.destroy();
  });

  it('ends the request to the API when the caller leaves', async () => {
    const { api, service } = gateway;
    const arrived = Promise.withResolvers<Socket>();
    api.script = (_request, socket) => arrived.resolve(socket);
    const client = await open(service.url);
    client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    const socket = await arrived.promise;
    client.destroy();
    await once(socket, 'close');
  });

  it('uses its connections to the API again', async () => {
    const { api, service } = gateway;
    api.script = answering('');
    await talk(service.url, get);
    const known = api.connections;
    for (let at = 0; at < 20; at += 1) await talk(service.url, get);
    assert.ok(api.connections - known <= 1, `${api.connections - known} new connections`);
  });

  it('answers a request in progress when it stops', async () => {
    const stopping = await startGateway();
    const arrived = Promise.withResolvers<Socket>();
    stopping.api.script = (_request, socket) => arrived.resolve(socket);
    const answer = talk(stopping.service.url, 'GET / HTTP/1.1\nHost: a\n\n');
    const socket = await arrived.promise;
    const stopped = stopping.service[Symbol.asyncDispose]();
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone');
    assert.match(await answer, /^HTTP\/1\.1 200 OK\r\n.*connection: close\r\n.*\r\n\r\ndone$/is);
    await stopped;
    await stopping.api[Symbol.asyncDispose]();
  });
});
