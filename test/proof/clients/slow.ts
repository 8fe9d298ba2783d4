// Slow clients: they send a byte now and then, or read nothing, to hold resources that others need. The service
// must close each of these connections in time, and other clients must not be affected.
import { setTimeout as wait } from 'node:timers/promises';
import { limits } from '../../../src/core/limits/limits.ts';
import { besiege } from './siege.ts';
import type { Attempt, Target } from './target.ts';
import { openWire, requestOf } from './wire.ts';

interface Dawdler {
  first: (target: Target) => string;
  /** Sent repeatedly. */
  after: string;
  /** How long the service may keep the connection. */
  mostMs: (times: Times) => number;
}

interface Times {
  headMs: number;
  requestMs: number;
}

const head = ({ headMs }: Times): number => headMs;
const whole = ({ requestMs }: Times): number => requestMs;
const announced = ['Content-Type: application/json', 'Content-Length: 10000'];
const chunked = ['Content-Type: application/json', 'Transfer-Encoding: chunked'];
const keyed = ({ key }: Target): string => `X-API-Key: ${key}`;

const dawdlers: Record<string, Dawdler> = {
  'sends nothing': { first: () => '', after: '', mostMs: head },
  'sends half a line': { first: () => 'GET /heal', after: '', mostMs: head },
  'sends a header a bit at a time': {
    first: () => 'GET /healthz HTTP/1.1\r\nX-A: ',
    after: 'a',
    mostMs: head,
  },
  'sends headers one by one': {
    first: () => 'GET /healthz HTTP/1.1\r\n',
    after: 'X-A: b\r\n',
    mostMs: head,
  },
  'sends empty lines': { first: () => '', after: '\r\n', mostMs: head },
  'sends half a request behind a whole one': {
    first: () => `${requestOf('GET /healthz')}GET /h`,
    after: 'e',
    mostMs: head,
  },
  'sends a body a byte at a time': {
    first: (target) => requestOf('POST /events', [...announced, keyed(target)]),
    after: ' ',
    mostMs: whole,
  },
  'sends a body without a key': {
    first: () => requestOf('POST /events', announced),
    after: ' ',
    mostMs: whole,
  },
  'sends a body where no key is needed': {
    first: () => requestOf('POST /console/session', announced),
    after: ' ',
    mostMs: whole,
  },
  'sends chunks of a byte': {
    first: (target) => requestOf('POST /events', [...chunked, keyed(target)]),
    after: '1\r\n \r\n',
    mostMs: whole,
  },
  'sends the extension of a chunk': {
    first: (target) => `${requestOf('POST /events', [...chunked, keyed(target)])}1;`,
    after: 'x',
    mostMs: whole,
  },
  'sends trailers': {
    first: (target) => `${requestOf('POST /events', [...chunked, keyed(target)])}1\r\n{\r\n0\r\n`,
    after: 'X-A: b\r\n',
    mostMs: whole,
  },
  'waits for 100 Continue, and then sends nothing': {
    first: (target) =>
      requestOf('POST /events', [...announced, keyed(target), 'Expect: 100-continue']),
    after: '',
    mostMs: whole,
  },
  'sends a malformed request, and goes on': {
    first: () => 'garbage\r\n\r\n',
    after: 'x',
    mostMs: head,
  },
};

export interface SlowOptions {
  rounds: 1 | 2;
  each: number;
  /** One byte per this many ms. */
  everyMs: number;
  /** Until the next sweep of the connections, plus the delay of a busy machine. */
  spareMs: number;
  times: Times;
}

/** The real limits. */
export const slowFull = {
  rounds: 2,
  each: 40,
  everyMs: 500,
  spareMs: 4_000,
  times: { headMs: limits.headersTimeoutMs, requestMs: limits.requestTimeoutMs },
} as const;

/** Shorter limits; the code that enforces them is the same. */
export const slowSmall = {
  rounds: 1,
  each: 1,
  everyMs: 100,
  // Only a connection that is never closed takes this long.
  spareMs: 30_000,
  times: { headMs: 2_000, requestMs: 2_500 },
} as const;

export async function beSlow(attempt: Attempt, options: SlowOptions): Promise<void> {
  const { target, figures, violations } = attempt;
  const holds = new Map<string, number>();
  let count = 0;
  await besiege(attempt, { name: 'slow senders', rounds: options.rounds }, async () => {
    const all = Object.entries(dawdlers).flatMap(([name, dawdler]) =>
      Array.from({ length: options.each }, async () => {
        count += 1;
        const heldMs = await dawdle(target, dawdler, options);
        holds.set(name, Math.max(holds.get(name) ?? 0, heldMs));
      }),
    );
    await Promise.all(all);
  });
  for (const [name, { mostMs }] of Object.entries(dawdlers)) {
    const heldMs = holds.get(name) ?? 0;
    const most = mostMs(options.times) + options.spareMs;
    if (heldMs > most) {
      violations.push(
        `I11: a client that ${name} was kept for ${Math.round(heldMs)} ms, expected at most ${most}`,
      );
    }
  }
  figures['slow connections'] = count;
  figures['the longest hold, ms'] = Math.round(Math.max(...holds.values()));
}

/** Give up on a connection this long after its limit, so that one that is never closed is reported. */
const giveUpMs = 500;

async function dawdle(
  target: Target,
  { first, after, mostMs }: Dawdler,
  options: SlowOptions,
): Promise<number> {
  using wire = openWire(target.url);
  wire.socket.write(first(target));
  const beganMs = performance.now();
  const lastMs = mostMs(options.times) + options.spareMs + giveUpMs;
  // The client keeps its end open and goes on sending: the service has to close the connection itself.
  while (!wire.socket.destroyed && performance.now() - beganMs < lastMs) {
    if (after === '' && wire.isOver()) break;
    if (after !== '' && wire.socket.writable) wire.socket.write(after);
    await wait(options.everyMs);
  }
  return performance.now() - beganMs;
}

export interface DeafOptions {
  count: number;
  streams: number;
}

/**
 * Requests a lot and reads nothing: 36 requests at a time on each connection, 7 MB of responses, which is more
 * than the socket buffers of the system hold.
 */
export async function readNothing(attempt: Attempt, options: DeafOptions): Promise<void> {
  const { target, figures } = attempt;
  let count = 0;
  await besiege(attempt, { name: 'slow readers', rounds: 2 }, async () => {
    const pages = ['/openapi.json', '/docs', '/openapi.yaml'].map((path) =>
      requestOf(`GET ${path}`),
    );
    const stream = requestOf('GET /stream', [keyed(target)]);
    const deaf = [
      ...Array.from({ length: options.count }, () => pages.join('').repeat(12)),
      ...Array.from({ length: options.streams }, () => stream),
    ].map((bytes) => {
      const wire = openWire(target.url, { isDeaf: true });
      wire.socket.write(bytes);
      return wire;
    });
    count += deaf.length;
    await publishSome(target);
    for (const wire of deaf) wire[Symbol.dispose]();
  });
  figures['readers that read nothing'] = count;
}

/** Gives the streams something to send. */
async function publishSome({ call }: Target): Promise<void> {
  const events = Array.from({ length: 100 }, () => ({
    event: 'much.told',
    payload: { message: 'm' },
  }));
  for (let i = 0; i < 20; i += 1)
    await call({ method: 'POST', path: '/events/batch', body: { events } });
}
