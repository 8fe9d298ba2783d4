// Misbehaviours of receivers over http, and the expected outcome of each: one catalogue for the tests of the sender,
// of the whole service, and for the proof. Each behaviour serves one connection.
import type { Socket } from 'node:net';
import { limits } from '../../src/core/limits/limits.ts';
import { answering, ok } from './receiver.ts';
import { bomb, dripping, endlessly, head, thenEnds } from './hostile-connections.ts';

export interface Expected {
  /** The outcome: a status with how the body ended, or the name of the error. */
  readonly is: string;
  readonly message?: RegExp;
  readonly body?: string;
  /** How many requests a receiver on http sees; 1 by default. */
  readonly requests?: number;
  /** Only the deadline ends it. */
  readonly isEndless?: true;
}

export interface Behaviour extends Expected {
  readonly does: string;
  readonly serve: (socket: Socket) => void;
}

/** What the service must record about the attempt. */
export interface Meaning {
  state: 'delivered' | 'failed';
  status?: number;
  error?: string;
}

export function meaningOf({ is }: Expected): Meaning {
  const status = Number(/^(\d{3}) /.exec(is)?.[1]);
  if (Number.isNaN(status)) return { state: 'failed', error: is };
  if (status >= 200 && status <= 299) return { state: 'delivered', status };
  return { state: 'failed', status, error: status <= 399 ? 'redirect' : 'status' };
}

/** Redirects to a path that the sender must never request. */
function redirecting(status: number): Row {
  const serve = (socket: Socket): void => {
    const location = `http://127.0.0.1:${socket.localPort}${strayPath}`;
    answering(`HTTP/1.1 ${status} Go\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`)(
      socket,
    );
  };
  return [`redirects with ${status}`, serve, { is: `${status} whole` }];
}

/** A request for this path has followed a redirect. */
export const strayPath = '/stray';

const chunkedHead = `${head}transfer-encoding: chunked\r\n\r\n`;
const sixEncodings = 'content-encoding: gzip, br, gzip, br, gzip, br';
/** Only a complete head until the deadline. */
const headOnly = { is: '200 cut', body: '', isEndless: true } as const;
const timeout = { is: 'timeout', isEndless: true } as const;

type Row = readonly [does: string, serve: (socket: Socket) => void, expected: Expected];

const rows: readonly Row[] = [
  // Time.
  ['hangs after accept', (socket) => socket.resume(), { ...timeout, message: /not respond/ }],
  ['drips its head', dripping('', `${head}x: `), timeout],
  ['drips its status line', dripping('HTTP/1.1 200 ', 'x'), timeout],
  ['drips its body', dripping(`${head}\r\n`, 'x'), { is: '200 cut', isEndless: true }],
  ['drips a chunk extension', dripping(`${chunkedHead}5;x=`, 'x'), headOnly],
  ['drips trailers', dripping(`${chunkedHead}0\r\n`, 'x: y\r\n'), headOnly],
  [
    'drips 103',
    dripping('', 'HTTP/1.1 103 Early Hints\r\n\r\n'),
    { ...timeout, message: /not respond/ },
  ],
  ['stops after its head', answering(`${head}content-length: 5\r\n\r\n`), headOnly],
  [
    'stops in the middle of its body',
    answering(`${head}content-length: 5\r\n\r\nhel`),
    { is: '200 cut', body: 'hel', isEndless: true },
  ],
  // Size.
  ['never ends its body', endlessly(`${head}\r\n`, 'x'.repeat(65_536)), { is: '200 cut' }],
  [
    'never ends its chunks of one byte',
    endlessly(chunkedHead, '1\r\nx\r\n'.repeat(10_000)),
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
  ['never ends its empty headers', endlessly(head, 'a:\r\n'.repeat(2_000)), { is: 'too_large' }],
  [
    'sends four thousand headers',
    answering(`${head}${'a:\r\n'.repeat(4_000)}content-length: 0\r\n\r\n`),
    { is: 'too_large', message: /512 lines/ },
  ],
  [
    'sends four hundred headers',
    answering(`${head}${'a:\r\n'.repeat(400)}content-length: 0\r\n\r\n`),
    { is: '200 whole' },
  ],
  ['never ends one header', endlessly(`${head}x: `, 'x'.repeat(4_096)), { is: 'too_large' }],
  ['never ends a name', endlessly(head, 'x'.repeat(4_096)), { is: 'too_large' }],
  [
    'sends a header of 64 KiB',
    answering(`${head}x: ${'x'.repeat(65_536)}\r\ncontent-length: 0\r\n\r\n`),
    { is: 'too_large', message: /16 KiB/ },
  ],
  [
    'never ends its status line',
    endlessly('HTTP/1.1 200 ', 'x'.repeat(4_096)),
    { is: 'too_large' },
  ],
  [
    'never ends its trailers',
    endlessly(`${chunkedHead}0\r\n`, 'x: y\r\n'.repeat(500)),
    { is: '200 cut', body: '' },
  ],
  ['floods 103', endlessly('', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(50)), { is: 'protocol' }],
  ['floods 100', endlessly('', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(50)), { is: 'protocol' }],
  ['sends a gzip bomb', (socket) => answering(bomb())(socket), { is: '200 cut' }],
  [
    'claims six encodings',
    answering(`${head}${sixEncodings}\r\ncontent-length: 1\r\n\r\nx`),
    { is: '200 whole', body: 'x' },
  ],
  [
    'never ends the body of a 500',
    endlessly('HTTP/1.1 500 No\r\n\r\n', 'x'.repeat(65_536)),
    { is: '500 cut' },
  ],
  [
    'never ends a chunk extension',
    endlessly(`${chunkedHead}5;x=`, 'x'.repeat(65_536)),
    { is: '200 cut', body: '' },
  ],
  ['sends garbage for ever', endlessly('', Buffer.alloc(65_536, 0xee)), { is: 'protocol' }],
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
  ['has a bad chunk size', answering(`${chunkedHead}zz\r\n`), { is: '200 cut' }],
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
  ['closes in a chunk', thenEnds(`${chunkedHead}9\r\nhal`, 'end'), { is: '200 cut', body: 'hal' }],
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
  [
    'answers before it is asked',
    (socket) => void socket.write(`${head}connection: close\r\ncontent-length: 2\r\n\r\nok`),
    { is: '200 whole' },
  ],
  redirecting(301),
  redirecting(302),
  redirecting(303),
  redirecting(307),
  redirecting(308),
  [
    'redirects to itself',
    answering('HTTP/1.1 307 Loop\r\nlocation: /hook\r\ncontent-length: 0\r\n\r\n'),
    { is: '307 whole' },
  ],
  ['answers 500', answering(ok('no', '500 No')), { is: '500 whole' }],
];

export const behaviours: readonly Behaviour[] = rows.map(([does, serve, expected]) => ({
  does,
  serve,
  ...expected,
}));
