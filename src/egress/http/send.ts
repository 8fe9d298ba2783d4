// Sends callbacks: one bounded HTTP request each, and only to targets that the guard allows. No
// redirects (engine/deliver/redirects.ts follows declared ones), no proxies, no decompression, no HTTP/2, and no retries except one: see exchange.ts.
import assert from 'node:assert/strict';
import { limits as defaults } from '../../core/limits/limits.ts';
import type { World } from '../../core/base/world.ts';
import {
  Exchange,
  type ExchangeLimits,
  AbortGroups,
  type SenderResult,
  type SendOptions,
  type SendRequest,
} from './exchange.ts';
import type { DialOptions } from './connect.ts';
import type { ConnectionLimits } from './connections.ts';
import { Connections } from './connections.ts';
import { Deadlines } from './deadlines.ts';
import { failure } from './failure.ts';
import type { Guard, ReadResult } from '../guard/guard.ts';
import { LinkedList } from '../../core/base/linked-list.ts';

export interface Sender {
  /** A receiver never makes it reject or throw, or take longer than `timeoutMs`. */
  send(request: SendRequest, options?: SendOptions): Promise<SenderResult>;
  /** Aborts all requests in flight and resolves when no socket is left. */
  close(): Promise<void>;
  count(): { sending: number; origins: number; open: number; idle: number };
}

export interface SenderOptions extends DialOptions {
  readonly world: Pick<World, 'sleep' | 'monotonicMs'>;
  readonly limits?: Partial<ConnectionLimits & ExchangeLimits>;
}

// As fast as a bare undici dispatch, which does less (bench/parts/sender-cost.ts, docs/performance.md).
// Parsing the URL for each request, and sets in place of the linked lists, cost a fifth of that.
export function createSender(options: SenderOptions): Sender {
  const { guard, world } = options;
  const limits: ConnectionLimits & ExchangeLimits = { ...defaults, ...options.limits };
  const deadlines = new Deadlines(world);
  const connections = new Connections({ ...options, limits, deadlines });
  const exchanges = new LinkedList<Exchange>();
  const abortGroups = new AbortGroups();
  const context = { world, limits, connections, deadlines, exchanges, abortGroups };
  const read = remember((url) => guard.read(url));
  let closed: Promise<void> | undefined;

  // Not async: the exchange already has a promise.
  function send(request: SendRequest, call: SendOptions = {}): Promise<SenderResult> {
    assert(request.timeoutMs > 0, 'A request has some time.');
    if (closed !== undefined || call.signal?.aborted === true) {
      return Promise.resolve({ kind: 'aborted', started: false });
    }
    const found = read(request.url);
    if (found.kind === 'refused') return Promise.resolve(failure('blocked', found.message));
    return new Exchange(request, { url: found.url, options: call, context }).run();
  }

  async function close(): Promise<void> {
    while (exchanges.first !== undefined) exchanges.first.abort();
    closed ??= connections.close().finally(() => deadlines.close());
    return closed;
  }

  return {
    send,
    close,
    count: () => ({ sending: exchanges.size, ...connections.count() }),
  };
}

// Parsing the same URL always gives the same result, so it is cached. The addresses of a host are
// not: they are vetted for each connection.
function remember(read: Guard['read']): Guard['read'] {
  const known = new Map<string, ReadResult>();
  return (raw) => {
    const found = known.get(raw);
    if (found !== undefined) return found;
    const fresh = read(raw);
    if (known.size >= defaults.urlsRememberedMax) known.clear();
    if (fresh.kind === 'url') known.set(raw, fresh); // A refused URL may be of any length.
    return fresh;
  };
}
