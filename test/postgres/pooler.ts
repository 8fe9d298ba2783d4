// A small pooler in front of PostgreSQL. In transaction mode the messages of a client go to any free server
// connection until the transaction has ended, so that one session reaches many and many sessions share one. It never
// changes a message. In session mode a client keeps its server connection until it leaves.
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { Client } from 'pg';
import { backendReader, frontendReader, type Message } from './wire-messages.ts';

export interface PoolerOptions {
  mode: 'transaction' | 'session';
  /** The maximum number of server connections. */
  servers: number;
  /** Which free connection is used next: the last one used, or the one that was free for longest. */
  order?: 'last used' | 'longest free';
  /** Resets the session state when a server connection is returned. */
  resets?: boolean;
}

export interface Pooler extends AsyncDisposable {
  url: string;
  /** The number of clients so far. */
  clients: () => number;
}

/** `url` is the server's; the pooler's differs in host and port only. */
export async function startPooler(url: string, options: PoolerOptions): Promise<Pooler> {
  const pool = new Pool(url, options);
  const sockets = new Set<Socket>();
  const listener = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    serveClient(socket, pool, options.mode);
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return {
    url: urlOf(listener, url),
    clients: () => sockets.size,
    [Symbol.asyncDispose]: async () => {
      const closed = once(listener, 'close');
      listener.close();
      for (const socket of sockets) socket.destroy();
      await pool.close();
      await closed;
    },
  };
}

function urlOf(listener: Server, target: string): string {
  const url = new URL(target);
  url.host = `127.0.0.1:${(listener.address() as AddressInfo).port}`;
  return url.href;
}

/** An authenticated server connection. `hear` passes its messages to the current client. */
interface Backend {
  socket: Socket;
  hear: (message: Message) => void;
}

class Pool {
  readonly #url: string;
  readonly #options: PoolerOptions;
  readonly #all: Promise<Backend>[] = [];
  readonly #free: Backend[] = [];
  readonly #waiting: ((backend: Backend) => void)[] = [];

  constructor(url: string, options: PoolerOptions) {
    this.#url = url;
    this.#options = options;
  }

  async acquire(): Promise<Backend> {
    const { order = 'last used', servers } = this.#options;
    const free = order === 'last used' ? this.#free.pop() : this.#free.shift();
    if (free !== undefined) return free;
    if (this.#all.length < servers) {
      const opening = logIn(this.#url);
      this.#all.push(opening);
      return opening;
    }
    const { promise, resolve } = Promise.withResolvers<Backend>();
    this.#waiting.push(resolve);
    return promise;
  }

  async release(backend: Backend): Promise<void> {
    if (this.#options.resets === true) await reset(backend);
    const next = this.#waiting.shift();
    if (next === undefined) this.#free.push(backend);
    else next(backend);
  }

  async close(): Promise<void> {
    for (const { socket } of await Promise.all(this.#all)) socket.destroy();
  }
}

/** The driver logs in; afterwards all messages bypass it. */
async function logIn(url: string): Promise<Backend> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  const socket = client.connection.stream as Socket;
  socket.setNoDelay();
  socket.removeAllListeners('data');
  const backend: Backend = { socket, hear: () => undefined };
  const read = backendReader();
  socket.on('data', (chunk) => {
    for (const message of read(chunk as Buffer)) backend.hear(message);
  });
  return backend;
}

async function reset(backend: Backend): Promise<void> {
  const done = Promise.withResolvers<void>();
  backend.hear = (message) => {
    if (message.type === 'Z') done.resolve();
  };
  backend.socket.write(messageOf('Q', Buffer.from('discard all\0')));
  await done.promise;
}

function serveClient(socket: Socket, pool: Pool, mode: PoolerOptions['mode']): void {
  let backend: Promise<Backend> | undefined;
  let last: Promise<unknown> = Promise.resolve();
  /** Requests without a ReadyForQuery from the server yet. */
  let open = 0;

  const letGo = async (): Promise<void> => {
    const mine = await backend;
    backend = undefined;
    if (mine !== undefined) await pool.release(mine);
  };
  const answer = (message: Message): void => {
    socket.write(message.bytes);
    if (message.type !== 'Z') return;
    open -= 1;
    const isIdle = message.bytes.at(-1) === 'I'.charCodeAt(0);
    if (mode === 'transaction' && isIdle && open === 0) last = last.then(letGo);
  };
  const pass = async (message: Message): Promise<void> => {
    if (message.type === 'startup') socket.write(welcome);
    if (message.type === 'startup' || message.type === 'X') return;
    if (message.type === 'Q' || message.type === 'S') open += 1;
    backend ??= pool.acquire();
    const mine = await backend;
    mine.hear = answer;
    mine.socket.write(message.bytes);
  };

  const read = frontendReader(() => socket.write('N'));
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    for (const message of read(chunk as Buffer)) last = last.then(async () => pass(message));
  });
  socket.on('close', () => void last.then(letGo));
}

function messageOf(type: string, rest: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(4 + rest.length, 1);
  return Buffer.concat([head, rest]);
}

/** Authentication ok, with the pooler's own cancel key, and ready for queries. */
const welcome = Buffer.concat([
  messageOf('R', Buffer.alloc(4)),
  messageOf('S', Buffer.from('client_encoding\0UTF8\0')),
  messageOf('K', Buffer.alloc(8, 1)),
  messageOf('Z', Buffer.from('I')),
]);
