import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import type { Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { after, describe, it } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { makeCertificate } from '../../test/egress/certificate.ts';
import {
  answering,
  makeSender,
  ok,
  post,
  startReceiver,
  stopReceivers,
} from '../../test/egress/receiver.ts';
import { limits } from '../core/limits.ts';
import type { SenderOptions } from './send.ts';

/** For those who are waited for until it is over; all others have more time than they can need. */
const timeoutMs = 1_000;
const plentyMs = 60_000;
/** What is not ended in time goes on for ever, so it need not be tight on a busy machine. */
const marginMs = 10_000;

after(stopReceivers);

interface Expected {
  /** What comes of it: a status with how the body ended, or the error's name. */
  readonly is: string;
  readonly message?: RegExp;
  readonly body?: string;
  /** How many requests a receiver on http sees; 1 unless said otherwise. */
  readonly requests?: number;
}

/** Sends one request, and holds it to the deadline, to bounded memory and to no leftovers. */
async function meet(
  serve: (socket: Socket) => void,
  expected: Expected,
  parts: { server?: Server; sender?: Partial<SenderOptions>; name?: string } = {},
): Promise<void> {
  const receiver = await startReceiver(serve, parts.server);
  const sender = makeSender(parts.sender);
  const scheme = parts.name === undefined ? 'http' : 'https';
  const host = parts.name ?? 'hooks.example.com';
  const url = `${scheme}://${host}:${receiver.port}/`;
  const patienceMs = expected.is === 'timeout' ? timeoutMs : plentyMs;
  const result = await inTime(async () => sender.send(post(url, { timeoutMs: patienceMs })));
  switch (result.kind) {
    case 'answered':
      assert.equal(`${result.status} ${result.cut ? 'cut' : 'whole'}`, expected.is);
      assert(result.body.length <= limits.responseBytesMax);
      if (expected.body !== undefined) {
        assert.equal(Buffer.from(result.body).toString(), expected.body);
      }
      break;
    case 'failed':
      assert.equal(result.error, expected.is, result.message);
      assert.match(result.message, expected.message ?? /./);
      assert(result.message.includes(host), result.message);
      assert.doesNotMatch(result.message, /127\.0\.0\.1|:\d{4}|\n|Error/);
      break;
    case 'aborted':
    case 'not_started':
      assert.fail(JSON.stringify(result));
  }
  // What was not read to its end is closed at once, not only when all are.
  if (!expected.is.endsWith('whole')) {
    await receiver.empty();
    assert.deepEqual(sender.count(), { sending: 0, origins: 0, open: 0, idle: 0 });
  }
  await sender.close();
  await receiver.empty();
  if (parts.name === undefined) assert.equal(receiver.seen.requests, expected.requests ?? 1);
  await receiver.stop();
}

/** Within the deadline and the margin, beside a timer that is as late as this machine is busy. */
async function inTime<T>(send: () => Promise<T>): Promise<T> {
  const startMs = performance.now();
  const due = Promise.withResolvers<number>();
  const timer = setTimeout(() => due.resolve(performance.now() - startMs), timeoutMs);
  const result = await send();
  const tookMs = performance.now() - startMs;
  // One that has not fired yet is later still.
  const dueMs = tookMs < timeoutMs ? timeoutMs : await due.promise;
  clearTimeout(timer);
  assert(tookMs < dueMs + marginMs, `it took ${tookMs} ms, the timer ${dueMs} ms`);
  return result;
}

/** Writes until nobody reads any more. */
function endlessly(first: string, again: string | Uint8Array): (socket: Socket) => void {
  return (socket) => {
    const pour = (): void => {
      while (!socket.destroyed && socket.write(again));
    };
    socket.on('drain', pour);
    socket.once('data', () => {
      socket.write(first);
      pour();
    });
  };
}

/** Writes a text byte by byte, far too slowly. */
function dripping(first: string, rest: string): (socket: Socket) => void {
  return (socket) => {
    socket.once('data', () => {
      socket.write(first);
      let at = 0;
      const timer = setInterval(() => socket.write(rest.charAt(at++ % rest.length)), 100);
      socket.on('close', () => clearInterval(timer));
    });
  };
}

/** Sends this and then ends, or worse. */
function thenEnds(text: string, how: 'end' | 'destroy' | 'reset'): (socket: Socket) => void {
  return (socket) => {
    socket.once('data', () => {
      socket.write(text, () => {
        if (how === 'end') socket.end();
        else if (how === 'destroy') socket.destroy();
        else socket.resetAndDestroy();
      });
    });
  };
}

const head = 'HTTP/1.1 200 OK\r\n';
const bomb = gzipSync(Buffer.alloc(8 << 20));

const byteLevel: [string, (socket: Socket) => void, Expected][] = [
  // Time.
  ['hangs after accept', (socket) => socket.resume(), { is: 'timeout', message: /not answer/ }],
  ['drips its head', dripping('', `${head}x: `), { is: 'timeout' }],
  ['drips its status line', dripping('HTTP/1.1 200 ', 'x'), { is: 'timeout' }],
  ['drips its body', dripping(`${head}\r\n`, 'x'), { is: '200 cut' }],
  [
    'drips a chunk extension',
    dripping(`${head}transfer-encoding: chunked\r\n\r\n5;x=`, 'x'),
    { is: '200 cut', body: '' },
  ],
  [
    'drips trailers',
    dripping(`${head}transfer-encoding: chunked\r\n\r\n0\r\n`, 'x: y\r\n'),
    { is: '200 cut', body: '' },
  ],
  [
    'drips 103',
    dripping('', 'HTTP/1.1 103 Early Hints\r\n\r\n'),
    { is: 'timeout', message: /not answer/ },
  ],
  [
    'stops after its head',
    answering(`${head}content-length: 5\r\n\r\n`),
    { is: '200 cut', body: '' },
  ],
  [
    'stops in the middle of its body',
    answering(`${head}content-length: 5\r\n\r\nhel`),
    { is: '200 cut', body: 'hel' },
  ],
  // Size.
  ['never ends its body', endlessly(`${head}\r\n`, 'x'.repeat(65_536)), { is: '200 cut' }],
  [
    'never ends its chunks of one byte',
    endlessly(`${head}transfer-encoding: chunked\r\n\r\n`, '1\r\nx\r\n'.repeat(10_000)),
    { is: '200 cut' },
  ],
  [
    'announces too much',
    answering(`${head}content-length: 99999999999\r\n\r\n`, 'x'.repeat(20_000)),
    { is: '200 cut', body: 'x'.repeat(limits.responseBytesMax) },
  ],
  [
    'fills the limit exactly',
    answering(`${head}content-length: 16384\r\n\r\n`, 'x'.repeat(16_384)),
    { is: '200 whole', body: 'x'.repeat(16_384) },
  ],
  [
    'sends one byte more than the limit',
    answering(`${head}content-length: 16385\r\n\r\n`, 'x'.repeat(16_385)),
    { is: '200 cut', body: 'x'.repeat(16_384) },
  ],
  ['never ends its headers', endlessly(head, 'x-name: value\r\n'.repeat(500)), { is: 'too_large' }],
  ['never ends one header', endlessly(`${head}x: `, 'x'.repeat(4_096)), { is: 'too_large' }],
  ['never ends a name', endlessly(head, 'x'.repeat(4_096)), { is: 'too_large' }],
  [
    'sends a header of 64 KiB',
    answering(`${head}x: ${'x'.repeat(65_536)}\r\ncontent-length: 0\r\n\r\n`),
    { is: 'too_large', message: /16 KiB/ },
  ],
  ['never ends its status line', endlessly('HTTP/1.1 200 ', 'x'.repeat(4_096)), { is: 'timeout' }],
  [
    'never ends its trailers',
    endlessly(`${head}transfer-encoding: chunked\r\n\r\n0\r\n`, 'x: y\r\n'.repeat(500)),
    { is: '200 cut', body: '' },
  ],
  ['floods 103', endlessly('', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(50)), { is: 'protocol' }],
  ['floods 100', endlessly('', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(50)), { is: 'protocol' }],
  [
    'sends a gzip bomb',
    answering(`${head}content-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`, bomb),
    { is: bomb.length > limits.responseBytesMax ? '200 cut' : '200 whole' },
  ],
  [
    'claims six encodings',
    answering(
      `${head}content-encoding: gzip, br, gzip, br, gzip, br\r\ncontent-length: 1\r\n\r\nx`,
    ),
    { is: '200 whole', body: 'x' },
  ],
  // Not HTTP, or nearly.
  [
    'answers 101',
    answering('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
    { is: 'protocol' },
  ],
  [
    'answers 101 without upgrade',
    answering('HTTP/1.1 101 Switching Protocols\r\n\r\n'),
    { is: 'protocol' },
  ],
  [
    'speaks HTTP/0.9',
    thenEnds('<html>hello</html>', 'end'),
    { is: 'protocol', message: /not valid HTTP/ },
  ],
  ['speaks SSH', answering('SSH-2.0-OpenSSH_9.6\r\n'), { is: 'protocol' }],
  ['speaks HTTP/2', answering('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), { is: 'protocol' }],
  ['sends HTTP/2 frames', answering(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])), { is: 'protocol' }],
  [
    'speaks HTTP/9.9',
    answering('HTTP/9.9 200 OK\r\ncontent-length: 0\r\n\r\n'),
    { is: 'protocol' },
  ],
  ['answers 099', answering('HTTP/1.1 099 Odd\r\ncontent-length: 0\r\n\r\n'), { is: 'protocol' }],
  ['answers 000', answering('HTTP/1.1 000 Odd\r\ncontent-length: 0\r\n\r\n'), { is: 'protocol' }],
  ['answers 1000', answering('HTTP/1.1 1000 Odd\r\ncontent-length: 0\r\n\r\n'), { is: 'protocol' }],
  ['answers 999', answering('HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n'), { is: '999 whole' }],
  [
    'answers minus one',
    answering('HTTP/1.1 -01 Odd\r\ncontent-length: 0\r\n\r\n'),
    { is: 'protocol' },
  ],
  ['has no status', answering('HTTP/1.1\r\ncontent-length: 0\r\n\r\n'), { is: 'protocol' }],
  [
    'has a length and chunks',
    answering(`${head}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`),
    { is: 'protocol' },
  ],
  [
    'has two lengths',
    answering(`${head}content-length: 5\r\ncontent-length: 6\r\n\r\nhello`),
    { is: 'protocol' },
  ],
  ['has a negative length', answering(`${head}content-length: -1\r\n\r\n`), { is: 'protocol' }],
  [
    'has a bad chunk size',
    answering(`${head}transfer-encoding: chunked\r\n\r\nzz\r\n`),
    { is: '200 cut' },
  ],
  [
    'has NUL in a header',
    answering(`${head}x: a\0b\r\ncontent-length: 0\r\n\r\n`),
    { is: 'protocol' },
  ],
  [
    'has a space in a name',
    answering(`${head}x y: a\r\ncontent-length: 0\r\n\r\n`),
    { is: 'protocol' },
  ],
  ['sends NULs', answering(Buffer.alloc(100)), { is: 'protocol' }],
  [
    'uses names that objects have',
    answering(
      `${head}__proto__: a\r\nconstructor: b\r\nhasOwnProperty: c\r\ncontent-length: 0\r\n\r\n`,
    ),
    { is: '200 whole' },
  ],
  // Ends.
  ['closes at once', (socket) => socket.destroy(), { is: 'reset', requests: 0 }],
  ['ends at once', (socket) => socket.end(), { is: 'reset' }],
  ['resets at once', (socket) => socket.resetAndDestroy(), { is: 'reset', requests: 0 }],
  [
    'closes before it answers',
    thenEnds('', 'end'),
    { is: 'reset', message: /closed the connection/ },
  ],
  [
    'resets before it answers',
    (socket) => socket.once('data', () => socket.resetAndDestroy()),
    { is: 'reset' },
  ],
  ['closes in its status line', thenEnds('HTTP/1.1 20', 'end'), { is: 'reset' }],
  ['closes in its head', thenEnds(`${head}x: y\r\n`, 'end'), { is: 'reset' }],
  ['resets in its head', thenEnds(`${head}x: y\r\n`, 'reset'), { is: 'reset' }],
  [
    'closes in its body',
    thenEnds(`${head}content-length: 9\r\n\r\nhal`, 'end'),
    { is: '200 cut', body: 'hal' },
  ],
  [
    'destroys in its body',
    thenEnds(`${head}content-length: 9\r\n\r\nhal`, 'destroy'),
    { is: '200 cut' },
  ],
  [
    'resets in its body',
    thenEnds(`${head}content-length: 9\r\n\r\nhal`, 'reset'),
    { is: '200 cut' },
  ],
  [
    'closes in a chunk',
    thenEnds(`${head}transfer-encoding: chunked\r\n\r\n9\r\nhal`, 'end'),
    { is: '200 cut', body: 'hal' },
  ],
  [
    'closes in the body of a 500',
    thenEnds('HTTP/1.1 500 No\r\ncontent-length: 9\r\n\r\n', 'end'),
    { is: '500 cut' },
  ],
  [
    'ends its body by closing',
    thenEnds(`${head}\r\nhello`, 'end'),
    { is: '200 whole', body: 'hello' },
  ],
  ['half-closes before it answers', (socket) => socket.end().resume(), { is: 'reset' }],
  ['answers and half-closes', thenEnds(ok('hello'), 'end'), { is: '200 whole', body: 'hello' }],
  [
    'sends 103 first',
    answering('HTTP/1.1 103 Hints\r\nlink: x\r\n\r\n', ok()),
    { is: '200 whole', body: 'ok' },
  ],
  [
    'sends a body with 204',
    answering('HTTP/1.1 204 No\r\n\r\nhello'),
    { is: '204 whole', body: '' },
  ],
  ['sends more than it declared', answering(`${ok('he')}llo`), { is: '200 whole', body: 'he' }],
  ['answers twice', answering(ok('1') + ok('2')), { is: '200 whole', body: '1' }],
  ['answers before it is asked', (socket) => void socket.write(ok()), { is: '200 whole' }],
];

describe('send to a receiver on http that', { concurrency: 8 }, () => {
  for (const [title, serve, expected] of byteLevel) {
    it(title, async () => meet(serve, expected));
  }

  for (const status of [301, 302, 303, 307, 308]) {
    it(`redirects with ${status}, which is not followed`, async () => {
      const target = await startReceiver(answering(ok()));
      const location = `HTTP/1.1 ${status} Go\r\nlocation: ${target.url}\r\ncontent-length: 0\r\n\r\n`;
      await meet(answering(location), { is: `${status} whole` });
      assert.equal(target.seen.accepted, 0);
    });
  }

  it('redirects to itself, which is asked once', async () => {
    const loop = 'HTTP/1.1 307 Loop\r\nlocation: /\r\ncontent-length: 0\r\n\r\n';
    await meet(answering(loop), { is: '307 whole' });
  });

  it('never accepts', async (t) => {
    // A process that listens and then stops. Two connections fill its queue, the next gets no answer.
    const script = `const s = require('net').createServer().listen({port: 0, host: '127.0.0.1', backlog: 1}, () => {
      require('fs').writeSync(1, String(s.address().port));
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    });`;
    const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    const fillers = new Array<Socket>();
    t.after(() => {
      for (const socket of fillers) socket.destroy();
      child.kill('SIGKILL');
    });
    const [data] = await once(child.stdout, 'data');
    const port = Number(String(data));
    for (let i = 0; i < 8; i += 1) {
      fillers.push(connect({ port, host: '127.0.0.1' }).on('error', () => undefined));
    }
    await Promise.all(fillers.slice(0, 2).map(async (socket) => once(socket, 'connect')));
    const sender = makeSender();
    const url = `http://127.0.0.1:${port}/`;
    const result = await inTime(async () => sender.send(post(url, { timeoutMs })));
    assert(result.kind === 'failed');
    assert.equal(result.error, 'timeout');
    assert.match(result.message, /No connection/);
    await sender.close();
  });

  it('does not listen', async () => {
    const server = createServer();
    const { port } = await startReceiver(() => undefined, server);
    server.close();
    const sender = makeSender();
    const result = await sender.send(post(`http://hooks.example.com:${port}/`));
    assert.deepEqual(result, {
      kind: 'failed',
      error: 'refused',
      message: 'hooks.example.com refused the connection',
    });
    await sender.close();
  });

  it('answers like any other, by node:http', async () => {
    const server = createHttpServer((_request, response) => response.end('fine'));
    await meet(() => undefined, { is: '200 whole', body: 'fine' }, { server });
  });
});

describe('send to a receiver on https that', { concurrency: 8 }, () => {
  const name = 'hooks.example.com';
  const good = makeCertificate(name);
  const expired = makeCertificate(name, { until: '20210101' });
  const early = makeCertificate(name, { from: '20980101' });

  const rows = [
    ['has expired', expired, expired.certificate, 'has expired'],
    ['is not valid yet', early, early.certificate, 'is not valid yet'],
    ['is self-signed', good, undefined, 'is self-signed'],
    ['is of another name', makeCertificate('other.example.com'), 'own', 'another name'],
  ] as const;
  for (const [title, certificate, ca, says] of rows) {
    it(`has a certificate that ${title}`, async () => {
      const server = createTlsServer({ cert: certificate.certificate, key: certificate.key });
      const trusted = ca === 'own' ? certificate.certificate : ca;
      const sender = trusted === undefined ? {} : { tls: { ca: trusted } };
      const message = new RegExp(`^The TLS certificate of ${name} .*${says}`);
      await meet(answering(ok()), { is: 'tls', message }, { server, sender, name });
    });
  }

  it('speaks plain http', async () => {
    const message = /does not speak TLS/;
    await meet(answering('HTTP/1.1 400 No\r\n\r\n'), { is: 'tls', message }, { name });
  });

  it('speaks only TLS 1.0', async () => {
    const old = {
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    } as const;
    const server = createTlsServer({ cert: good.certificate, key: good.key, ...old });
    await meet(answering(ok()), { is: 'tls', message: /1\.2/ }, { server, name });
  });

  it('stalls in the handshake', async () => {
    await meet((socket) => socket.resume(), { is: 'timeout' }, { name });
  });

  it('closes in the handshake', async () => {
    await meet((socket) => socket.once('data', () => socket.end()), { is: 'reset' }, { name });
    const reset = (socket: Socket): unknown => socket.once('data', () => socket.resetAndDestroy());
    await meet(reset, { is: 'reset' }, { name });
  });

  it('answers well, and then badly', async () => {
    const sender = { tls: { ca: good.certificate } };
    const makeServer = (): Server => createTlsServer({ cert: good.certificate, key: good.key });
    await meet(
      answering(ok()),
      { is: '200 whole', body: 'ok' },
      { server: makeServer(), sender, name },
    );
    const cut = thenEnds(`${head}content-length: 9\r\n\r\nhal`, 'end');
    await meet(cut, { is: '200 cut', body: 'hal' }, { server: makeServer(), sender, name });
    const hang = (socket: Socket): unknown => socket.resume();
    await meet(hang, { is: 'timeout' }, { server: makeServer(), sender, name });
    const endless = endlessly(`${head}\r\n`, 'x'.repeat(65_536));
    await meet(endless, { is: '200 cut' }, { server: makeServer(), sender, name });
  });
});
