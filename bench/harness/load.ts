// The load generator, in a process of its own: connections that each send again as soon as they are
// answered, or a fixed rate that does not wait for answers. Requests are numbered, and it records
// when each was sent and answered. A request that had to wait for a free connection counts from its
// due time.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { answerParent } from './child-process.ts';
import { createCutter } from './http-pieces.ts';
import { numberer } from './numbered-payloads.ts';
import { machineMs } from './machine-clock.ts';

export interface Load {
  port: number;
  /** POST by default. */
  method?: 'GET' | 'POST';
  path: string;
  headers: Readonly<Record<string, string>>;
  /** Used in turn. Each contains the placeholder for a number. */
  bodies: readonly string[];
  connections: number;
  requests: number;
  /** Undefined: as fast as answers come. */
  perSecond: number | undefined;
  /** GET this path once on each connection before the load begins, as if a pool kept them. */
  warmUpPath?: string;
}

export interface Loaded {
  /** By number, on the clock that all processes share. */
  sentMs: Float64Array;
  answeredMs: Float64Array;
  /** With `warmUpPath`: per connection, from opening it to its first answer. */
  openedMs: number[];
  /** How often each status occurred. */
  statuses: Record<string, number>;
}

const statusAt = 'HTTP/1.1 '.length;
const lastAnswer = /\r\nconnection: *close/i;

if (process.send !== undefined) answerParent(run);

async function run(load: Load): Promise<Loaded> {
  const { port, requests, perSecond, warmUpPath } = load;
  const write = writerOf(load);
  const loaded: Loaded = {
    sentMs: new Float64Array(requests),
    answeredMs: new Float64Array(requests),
    openedMs: [],
    statuses: {},
  };
  const done = Promise.withResolvers<void>();
  const idle: ((n: number) => void)[] = [];
  /** Replacements for closed connections. */
  const opening: Promise<void>[] = [];
  let due = perSecond === undefined ? requests : 0;
  let sent = 0;
  let answered = 0;

  const next = (take: (n: number) => void): void => {
    if (sent >= due) {
      idle.push(take);
      return;
    }
    const n = sent;
    sent += 1;
    take(n);
  };
  /** Opens a replacement when the server has sent its last answer on this connection. */
  const talk = (socket: Socket): Socket => {
    let under = 0;
    const take = (n: number): void => {
      under = n;
      if (perSecond === undefined) loaded.sentMs[n] = machineMs();
      socket.write(write(n));
    };
    let reason = 'by the other side';
    const onClose = (): void => {
      const { bytesRead, bytesWritten } = socket;
      const sinceMs = Math.round(machineMs() - (loaded.sentMs[under] ?? 0));
      const what = `${bytesWritten} bytes there, ${bytesRead} back, request ${under} under way for ${sinceMs} ms`;
      done.reject(new Error(`A connection of the load was closed, ${reason}: ${what}`));
    };
    const cut = createCutter(({ head }) => {
      loaded.answeredMs[under] = machineMs();
      const status = head.slice(statusAt, statusAt + 3);
      loaded.statuses[status] = (loaded.statuses[status] ?? 0) + 1;
      answered += 1;
      if (answered === requests) done.resolve();
      else if (!lastAnswer.test(head)) next(take);
      else {
        socket.off('close', onClose);
        socket.destroy();
        opening.push(open(port).then(talk).then(keep, done.reject));
      }
    });
    socket.on('data', cut);
    socket.on('error', ({ message }) => (reason = message));
    socket.on('close', onClose);
    next(take);
    return socket;
  };
  const sockets: Socket[] = [];
  const keep = (socket: Socket): void => void sockets.push(socket);
  const start = async (): Promise<void> => {
    const startMs = machineMs();
    const socket = await open(port);
    if (warmUpPath !== undefined) {
      await warmUp(socket, warmUpPath);
      loaded.openedMs.push(machineMs() - startMs);
    }
    keep(talk(socket));
  };
  await Promise.all(Array.from({ length: load.connections }, start));
  if (perSecond !== undefined) {
    const startMs = machineMs();
    for (let n = 0; n < requests; n += 1) loaded.sentMs[n] = startMs + (n * 1_000) / perSecond;
    const clock = setInterval(() => {
      due = Math.min(requests, Math.floor(((machineMs() - startMs) * perSecond) / 1_000) + 1);
      for (const take of idle.splice(0, due - sent)) next(take);
      if (due === requests) clearInterval(clock);
    }, 1);
  }
  await done.promise;
  await Promise.all(opening);
  await Promise.all(sockets.map(ended));
  return loaded;
}

/**
 * Waits until the server has closed its side, too, so that these connections do not affect the next
 * load.
 */
async function ended(socket: Socket): Promise<void> {
  if (socket.destroyed) return;
  socket.removeAllListeners('close');
  const closed = new Promise((resolve) => void socket.once('close', resolve));
  socket.end();
  await closed;
}

async function open(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  return socket;
}

async function warmUp(socket: Socket, path: string): Promise<void> {
  const answered = Promise.withResolvers<void>();
  const cut = createCutter(() => answered.resolve());
  socket.on('data', cut);
  socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`);
  await answered.promise;
  socket.off('data', cut);
}

/** The bytes of the n-th request. */
function writerOf({ method = 'POST', path, headers, bodies }: Load): (n: number) => string {
  const fields = Object.entries({ host: '127.0.0.1', ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  const writers = bodies.map((body) => {
    const length = `content-length: ${Buffer.byteLength(body)}\r\n`;
    const head = `${method} ${path} HTTP/1.1\r\n${fields.join('')}`;
    return numberer(`${head}${method === 'GET' ? '' : length}\r\n${body}`);
  });
  return (n) => writers[n % writers.length]?.(n) ?? '';
}
