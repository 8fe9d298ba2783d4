// Sends callbacks: one bounded HTTP request each, to where the guard allows and nowhere else. No
// redirects, no proxies, no decompression, no HTTP/2, and no retries but one: see exchange.ts.
import assert from 'node:assert/strict';
import { limits as defaults } from '../core/limits.ts';
import type { World } from '../core/world.ts';
import { Recall } from './recall.ts';
import type { DialOptions } from './connect.ts';
import type { ConnectionLimits } from './connections.ts';
import { Connections } from './connections.ts';
import { Deadlines } from './deadlines.ts';
import type { ExchangeLimits, SendOptions, SendRequest, SenderResult } from './exchange.ts';
import { bytesFor, Exchange } from './exchange.ts';
import { failure } from './failure.ts';
import type { Guard, ReadResult } from './guard.ts';
import { LinkedList } from './linked-list.ts';
import { BadRequest } from './request-bytes.ts';

export interface Sender {
  /** A receiver never makes it reject or throw, nor last longer than `timeoutMs`. */
  send(request: SendRequest, options?: SendOptions): Promise<SenderResult>;
  /** Prints ahead what `send` would have to. What cannot be sent is left for it to tell. */
  print(request: SendRequest): void;
  /** Gives up what is under way and resolves when no socket is left. */
  close(): Promise<void>;
  count(): { sending: number; origins: number; open: number; idle: number };
}

export interface SenderOptions extends DialOptions {
  readonly world: Pick<World, 'sleep' | 'monotonicMs'>;
  readonly limits?: Partial<ConnectionLimits & ExchangeLimits>;
}

// As fast as a bare undici dispatch, which does less (bench/parts/send.ts: 18,800 and 17,900 requests/s, CPU 51 and
// 51 µs each; on undici it was 65). guard.read() at each request, and sets where the linked lists are, had cost a fifth.
export function createSender(options: SenderOptions): Sender {
  const { guard, world } = options;
  const limits: ConnectionLimits & ExchangeLimits = { ...defaults, ...options.limits };
  const deadlines = new Deadlines(world);
  const connections = new Connections({ ...options, limits, deadlines });
  const exchanges = new LinkedList<Exchange>();
  const recall = new Recall();
  const context = { world, limits, connections, deadlines, exchanges, recall };
  const read = remember((url) => guard.read(url));
  let closed: Promise<void> | undefined;

  // Not async: the exchange has a promise already.
  function send(request: SendRequest, call: SendOptions = {}): Promise<SenderResult> {
    assert(request.timeoutMs > 0, 'A request has some time.');
    if (closed !== undefined || call.signal?.aborted === true) {
      return Promise.resolve({ kind: 'aborted', started: false });
    }
    const found = read(request.url);
    if (found.kind === 'refused') return Promise.resolve(failure('blocked', found.message));
    return new Exchange(request, { url: found.url, options: call, context }).run();
  }

  function print(request: SendRequest): void {
    const found = read(request.url);
    if (found.kind !== 'url') return;
    try {
      request.bytes = bytesFor(request, found.url);
    } catch (error) {
      if (!(error instanceof BadRequest)) throw error;
    }
  }

  async function close(): Promise<void> {
    while (exchanges.first !== undefined) exchanges.first.abort();
    closed ??= connections.close().finally(() => deadlines.close());
    return closed;
  }

  return {
    send,
    print,
    close,
    count: () => ({ sending: exchanges.size, ...connections.count() }),
  };
}

// The guard reads the same text the same way each time, in 1.5 µs (names) to 4 µs (addresses). What
// a host means at the moment is another matter: that is vetted for each connection.
function remember(read: Guard['read']): Guard['read'] {
  const known = new Map<string, ReadResult>();
  return (raw) => {
    const found = known.get(raw);
    if (found !== undefined) return found;
    const fresh = read(raw);
    if (known.size >= defaults.urlsRememberedMax) known.clear();
    if (fresh.kind === 'url') known.set(raw, fresh); // What is refused may be of any length.
    return fresh;
  };
}
