// A TCP proxy in front of PostgreSQL that cuts connections at a chosen message, or drops everything like
// a dead network. It never changes, reorders or adds bytes.
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import {
  backendReader,
  frontendReader,
  type Message,
  type Reader,
  type Side,
} from './wire-messages.ts';

/** A message in transit. The first of its side is number 1, per connection and in total. */
export interface Passing extends Message {
  /** The number of the connection; the first is 1. */
  connection: number;
  nthOfConnection: number;
  nthOfAll: number;
}

/**
 * Before or after the message is passed on. `answered`, for a client's message: before it, once the client has
 * the responses to all earlier messages, including those of the same packet.
 */
export type When = 'before' | 'answered' | 'after';

export type Matches = (message: Passing) => boolean;

/** The k-th message of a side in total. */
export function nthOfAll(side: Side, k: number): Matches {
  return (message) => message.side === side && message.nthOfAll === k;
}

/** The k-th message of a side on the first connection that reaches it. */
export function nthOfConnection(side: Side, k: number): Matches {
  return (message) => message.side === side && message.nthOfConnection === k;
}

/**
 * The message that makes the server commit. Cut before it: nothing is committed. Cut after it: the
 * server commits, and the client cannot know.
 */
export function asksToCommit(message: Passing): boolean {
  return /(^|;)\s*commit\b/i.test(message.sql ?? '');
}

/** The server's confirmation. Cut before it: committed, and the client does not know. */
export function hasCommitted(message: Passing): boolean {
  return message.tag === 'COMMIT';
}

/** `url` is the server's; the proxy's differs in host and port only. */
export async function startProxy(url: string): Promise<PostgresProxy> {
  const listener = createServer();
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return new PostgresProxy(listener, new URL(url));
}

interface Rule {
  act: 'cut' | 'hold';
  when: When;
  matches: Matches;
  acted: (message: Passing) => void;
}

interface Link {
  no: number;
  client: Socket;
  server: Socket;
  counts: Record<Side, number>;
  /** Requests without a ReadyForQuery from the server yet. */
  open: number;
  isHeld: boolean;
  isCut: boolean;
}

export class PostgresProxy implements AsyncDisposable {
  /** Messages seen so far. */
  readonly counts: Record<Side, number> = { frontend: 0, backend: 0 };
  readonly url: string;
  readonly #listener: Server;
  #target: URL;
  readonly #links = new Set<Link>();
  readonly #rules = new Set<Rule>();
  #accepted = 0;
  #isHeld = false;
  #changed = Promise.withResolvers<void>();

  constructor(listener: Server, target: URL) {
    const address = listener.address();
    if (address === null || typeof address === 'string') throw new Error('It must listen on TCP');
    const url = new URL(target);
    url.host = `${address.address}:${address.port}`;
    this.url = url.href;
    this.#listener = listener;
    this.#target = target;
    listener.on('connection', (client) => this.#accept(client));
  }

  /** The number of open connections. */
  get connections(): number {
    return this.#links.size;
  }

  /** Cuts the connection at the first message that matches, once; resolves when it has. */
  async cut(when: When, matches: Matches): Promise<Passing> {
    return this.#arm('cut', when, matches);
  }

  /** Holds that one connection at the first message that matches, once; resolves when it does. */
  async hold(when: When, matches: Matches): Promise<Passing> {
    return this.#arm('hold', when, matches);
  }

  /** Removes all pending cuts and holds. */
  forget(): void {
    this.#rules.clear();
  }

  /** Cuts all open connections. New ones pass. */
  cutAll(): void {
    for (const link of this.#links) this.#cut(link);
  }

  /** Cuts all open connections; new ones go to another server. */
  pointTo(url: string): void {
    this.#target = new URL(url);
    this.cutAll();
  }

  /** Passes nothing more on any connection, not even its end; nothing is closed. */
  blackHole(): void {
    this.#isHeld = true;
  }

  /** Passes all held messages, in order. */
  resume(): void {
    this.#isHeld = false;
    for (const link of this.#links) link.isHeld = false;
    this.#wake();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#listener, 'close');
    this.#listener.close();
    for (const { client, server } of this.#links) {
      client.destroy(); // Not destroySoon(), which would wait indefinitely for a client that does not read.
      server.destroy();
    }
    this.cutAll();
    this.resume();
    await closed;
  }

  async #arm(act: Rule['act'], when: When, matches: Matches): Promise<Passing> {
    const { promise, resolve } = Promise.withResolvers<Passing>();
    this.#rules.add({ act, when, matches, acted: resolve });
    return promise;
  }

  #accept(client: Socket): void {
    const { hostname, port } = this.#target;
    const server = connect({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port || 5432),
      noDelay: true,
    });
    client.setNoDelay();
    const counts = { frontend: 0, backend: 0 };
    const no = (this.#accepted += 1);
    const link: Link = { no, client, server, counts, open: 0, isHeld: false, isCut: false };
    this.#links.add(link);
    const refuse = (): void => void client.write('N');
    void this.#pump(link, client, server, frontendReader(refuse));
    void this.#pump(link, server, client, backendReader());
  }

  /** When one side has ended, the other is ended as soon as nothing is held. */
  async #pump(link: Link, from: Socket, to: Socket, read: Reader): Promise<void> {
    for await (const chunk of chunksOf(from)) {
      for (const message of read(chunk)) await this.#pass(link, to, message);
    }
    await this.#free(link);
    this.#cut(link);
  }

  async #pass(link: Link, to: Socket, message: Message): Promise<void> {
    await this.#free(link);
    if (link.isCut) return;
    const passing = {
      ...message,
      connection: link.no,
      nthOfConnection: (link.counts[message.side] += 1),
      nthOfAll: (this.counts[message.side] += 1),
    };
    const rule = [...this.#rules].find(({ matches }) => matches(passing));
    if (rule !== undefined) this.#rules.delete(rule);
    if (rule?.when === 'answered') await this.#answered(link);
    if (link.isCut) return; // Another rule has cut it meanwhile.
    if (rule !== undefined && rule.when !== 'after') await this.#act(rule, link, passing);
    if (link.isCut) return;
    if (isQuestion(message)) link.open += 1;
    await written(to, message.bytes);
    if (isReady(message)) this.#end(link);
    if (rule?.when === 'after') await this.#act(rule, link, passing);
  }

  async #act(rule: Rule, link: Link, message: Passing): Promise<void> {
    if (rule.act === 'cut') this.#cut(link);
    else link.isHeld = true;
    rule.acted(message);
    await this.#free(link);
  }

  #end(link: Link): void {
    link.open -= 1;
    this.#wake();
  }

  async #answered(link: Link): Promise<void> {
    while (!link.isCut && link.open > 0) await this.#changed.promise;
  }

  async #free(link: Link): Promise<void> {
    while (!link.isCut && (link.isHeld || this.#isHeld)) await this.#changed.promise;
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  /** Messages passed on before still arrive: both sides see an end after them, not a reset. */
  #cut(link: Link): void {
    link.isCut = true;
    link.client.destroySoon();
    link.server.destroySoon();
    this.#links.delete(link);
    this.#wake();
  }
}

/** Messages that the server answers with ReadyForQuery: startup, query, sync. */
function isQuestion({ side, type }: Message): boolean {
  return side === 'frontend' && ['startup', 'Q', 'S'].includes(type);
}

function isReady({ side, type }: Message): boolean {
  return side === 'backend' && type === 'Z';
}

/** Ends when the socket ends in any way. */
async function* chunksOf(socket: Socket): AsyncGenerator<Buffer> {
  socket.on('error', () => undefined); // The loop gets the error as well; a write may raise another one later.
  try {
    for await (const chunk of socket) yield chunk;
  } catch {
    // Reset by the other side, or cut by the proxy.
  }
}

/** Also resolves if the write fails; then the loop of the socket ends. */
async function written(socket: Socket, bytes: Buffer): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.write(bytes, () => resolve());
  return promise;
}
