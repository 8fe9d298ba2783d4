// Receivers, in a process of their own: one port each, which answers 200 as fast as it can, late,
// or never. They record when each event first arrived, and count repetitions.
import { createServer, type Socket } from 'node:net';
import { answerParent } from './child-process.ts';
import { createCutter } from './http-pieces.ts';
import { listen } from './listen.ts';
import { numberIn } from './numbered-payloads.ts';
import { machineMs } from './machine-clock.ts';

export type Question =
  | { kind: 'open'; receivers: number }
  /** Sets how they answer, and whose events count. */
  | { kind: 'behave'; behaviours: readonly Behaviour[] }
  /** Resets, then expects events numbered from 0, each this many times. */
  | { kind: 'expect'; events: number; times: number }
  /** Waits until all expected events have arrived, or nothing has for `idleMs`. */
  | { kind: 'wait'; idleMs: number }
  /** Waits until this many have arrived in total. */
  | { kind: 'until'; count: number; idleMs: number };

export type Behaviour = 'answers' | 'answers_503' | 'says_nothing';

export interface Arrivals {
  /** When each first arrived, by number, on the clock that all processes share; 0: it has not. */
  atMs: Float64Array;
  /** When the last expected one arrived. */
  lastMs: number;
  /** How many of the expected ones arrived. */
  came: number;
  expected: number;
  /** How many arrived more often than expected. */
  again: number;
}

export interface SoFar {
  came: number;
  lastMs: number;
}

export interface Answer {
  ports?: number[];
  soFar?: SoFar;
  arrivals?: Arrivals;
}

const ok = Buffer.from(
  'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nok',
);
const busy = Buffer.from('HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n');

if (process.send !== undefined) serve();

function serve(): void {
  let behaviours: readonly Behaviour[] = [];
  let arrivals = noArrivals(0, 1);
  let times = new Uint32Array(0);
  let most = 1;
  let heardMs = 0;
  let awaited = Infinity;
  let onCount = (): void => undefined;

  const note = (n: number): void => {
    heardMs = machineMs();
    const before = times[n];
    if (before === undefined) return;
    if (before === most) {
      arrivals.again += 1;
      return;
    }
    times[n] = before + 1;
    if (before === 0) arrivals.atMs[n] = heardMs;
    arrivals.lastMs = heardMs;
    arrivals.came += 1;
    if (arrivals.came === awaited) onCount();
  };

  const open = async (receivers: number): Promise<number[]> => {
    const ports: number[] = [];
    for (let index = 0; index < receivers; index += 1) {
      ports.push(await listen(createServer((socket) => receive(socket, index))));
    }
    return ports;
  };

  const receive = (socket: Socket, index: number): void => {
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    const cut = createCutter(({ body }) => {
      const behaviour = behaviours[index] ?? 'answers';
      if (behaviour === 'says_nothing') return;
      if (behaviour === 'answers_503') {
        socket.write(busy);
        return;
      }
      const n = numberIn(body);
      if (n !== undefined) note(n);
      socket.write(ok);
    });
    socket.on('data', cut);
  };

  const wait = async (count: number, idleMs: number): Promise<Arrivals> => {
    const all = new Promise<void>((resolve) => {
      onCount = resolve;
    });
    heardMs = machineMs();
    awaited = count;
    if (arrivals.came >= count) return arrivals;
    const idle = Promise.withResolvers<void>();
    const look = setInterval(() => {
      if (machineMs() - heardMs > idleMs) idle.resolve();
    }, 100);
    await Promise.race([all, idle.promise]);
    clearInterval(look);
    return arrivals;
  };

  answerParent(async (question: Question): Promise<Answer> => {
    switch (question.kind) {
      case 'open':
        return { ports: await open(question.receivers) };
      case 'behave':
        ({ behaviours } = question);
        return {};
      case 'expect':
        arrivals = noArrivals(question.events, question.times);
        times = new Uint32Array(question.events);
        most = question.times;
        return {};
      case 'wait':
        return { arrivals: await wait(arrivals.expected, question.idleMs) };
      case 'until': {
        const { came, lastMs } = await wait(question.count, question.idleMs);
        return { soFar: { came, lastMs } };
      }
    }
  });
}

function noArrivals(events: number, times: number): Arrivals {
  const atMs = new Float64Array(events);
  return { atMs, lastMs: 0, came: 0, expected: events * times, again: 0 };
}
