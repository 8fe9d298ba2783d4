// One request and its response on a connection. It receives the events of the connection and
// settles the result once. Whatever the receiver does, that happens by the deadline, in bounded
// memory, and without an exception.
import assert from 'node:assert/strict';
import type { World } from '../../core/base/world.ts';
import type { Header, SendResult } from '../../core/domain/attempt.ts';
import type { CallbackUrl } from '../guard/guard.ts';
import type { AnswerHead } from './answer-reader.ts';
import { keepHeaders, KeptBody } from './stored-response.ts';
import { type ConnectionUser, type Connection, ConnectionGone } from './connection.ts';
import type { Connections, ConnectionRequest } from './connections.ts';
import type { Deadline, DeadlineOwner, Deadlines } from './deadlines.ts';
import { explainFailure, failure, isLost, isShortage } from './failure.ts';
import type { Link, LinkedList } from '../../core/base/linked-list.ts';
import { BadRequest, requestBytes, type RequestBytes } from './request-bytes.ts';

export interface SendRequest {
  /** The app that sends the request: apps share no connection. */
  readonly app: number;
  readonly method: string;
  readonly url: string;
  /** Added to the query on the wire, and nowhere else: records and messages have only the URL. */
  readonly secretQuery?: string;
  /** Alternating names and values. */
  readonly headers: string[];
  readonly body: Uint8Array;
  /** For everything: DNS lookup, connection, TLS, head and body. */
  readonly timeoutMs: number;
}

export interface SendOptions {
  /** Aborts the request. A response whose head has arrived still counts. */
  readonly signal?: AbortSignal;
  /**
   * Called in the turn in which the first byte is written, right before it; `false` prevents that.
   * Called again when the request is repeated on a fresh connection (see #metStaleConnection).
   */
  readonly onStart?: () => boolean;
}

export type SenderResult =
  | SendResult
  /** Nothing was sent: onStart declined, or this node had no free connection. */
  | { readonly kind: 'not_started'; readonly reason: 'declined' | 'busy' }
  /**
   * Aborted by this node, which is not a failure of the receiver. If started, the receiver may have
   * the request.
   */
  | { readonly kind: 'aborted'; readonly started: boolean };

export interface ExchangeLimits {
  readonly responseBytesMax: number;
  readonly responseReadMs: number;
  readonly responsesInterimMax: number;
  readonly connectionStaleMs: number;
}

export interface ExchangeContext {
  readonly world: Pick<World, 'monotonicMs'>;
  readonly limits: ExchangeLimits;
  readonly connections: Connections;
  readonly deadlines: Deadlines;
  /** All exchanges in flight. */
  readonly exchanges: LinkedList<Exchange>;
  readonly abortGroups: AbortGroups;
}

export class Exchange implements ConnectionRequest, ConnectionUser, DeadlineOwner, Link<Exchange> {
  before: Exchange | undefined;
  after: Exchange | undefined;
  readonly pool: string;
  readonly origin: string;
  readonly method: string;
  wants: ConnectionRequest['wants'] = 'any';
  readonly #url: CallbackUrl;
  readonly #host: string;
  readonly #request: SendRequest;
  readonly #options: SendOptions;
  readonly #context: ExchangeContext;
  readonly #result = Promise.withResolvers<SenderResult>();
  #over = false;
  #deadline: Deadline;
  #connection: Connection | undefined;
  #reused = false;
  /** When the first byte was written to the present connection. */
  #startedMs: number | undefined;
  #everStarted = false;
  #hasReceived = false;
  #interim = 0;
  #head: { status: number; headers: readonly Header[] } | undefined;
  #body: KeptBody | undefined;

  constructor(
    request: SendRequest,
    parts: { url: CallbackUrl; options: SendOptions; context: ExchangeContext },
  ) {
    const { host } = parts.url;
    this.#url = parts.url;
    this.origin = originOf(parts.url);
    this.pool = `${request.app} ${this.origin}`;
    this.#host = host.kind === 'address' ? host.address : host.name;
    this.method = request.method;
    this.#request = request;
    this.#options = parts.options;
    this.#context = parts.context;
    this.#deadline = parts.context.deadlines.set(request.timeoutMs, this);
  }

  /** Rejects only with an exception of onStart. */
  run(): Promise<SenderResult> {
    this.#context.exchanges.add(this);
    const { signal } = this.#options;
    if (signal !== undefined) this.#context.abortGroups.add(signal, this);
    this.#context.connections.take(this);
    return this.#result.promise;
  }

  abort(): void {
    this.#settle(this.#answer('cut') ?? { kind: 'aborted', started: this.#everStarted });
  }

  expire(): void {
    this.#settle(this.#answer('cut') ?? this.#tooLate());
  }

  use(connection: Connection): void {
    this.#connection = connection;
    this.#reused = connection.isUsed;
    this.#startedMs = undefined;
    this.#hasReceived = false;
    connection.assign(this);
  }

  start(): RequestBytes | undefined {
    const bytes = this.#over ? undefined : this.#bytes();
    if (bytes === undefined || !this.#mayStart()) return undefined;
    this.#everStarted = true;
    this.#startedMs = this.#context.world.monotonicMs();
    return bytes;
  }

  onFirstByte(): void {
    this.#hasReceived = true;
  }

  onHead({ status, headers }: AnswerHead): void {
    const { world, limits, deadlines } = this.#context;
    if (status < 200) {
      this.#interim += 1;
      if (this.#interim <= limits.responsesInterimMax) return;
      this.#settle(failure('protocol', `${this.#host} keeps sending interim responses`));
      return;
    }
    this.#head = { status, headers: keepHeaders(headers) };
    this.#body = new KeptBody(limits.responseBytesMax);
    // One length for all requests, because each length has a sleeper of its own.
    if (this.#deadline.dueMs - world.monotonicMs() <= limits.responseReadMs) return;
    deadlines.clear(this.#deadline);
    this.#deadline = deadlines.set(limits.responseReadMs, this);
  }

  onBody(data: Uint8Array): void {
    if (this.#body?.add(data) === 'full') this.#settle(this.#answer('cut'));
  }

  onEnd(): void {
    if (this.#over || this.#connection === undefined) return;
    this.#context.connections.release(this.#connection);
    this.#connection = undefined;
    this.#settle(this.#answer('whole'));
  }

  onLost(error: unknown): void {
    if (this.#over) return;
    if (this.#metStaleConnection(error)) this.#repeat();
    else this.#settle(this.#answer('cut') ?? this.#explain(error));
  }

  #bytes(): RequestBytes | undefined {
    try {
      return bytesFor(this.#request, this.#url);
    } catch (error) {
      if (!(error instanceof BadRequest)) throw error;
      this.#settle(this.#explain(error));
      return undefined;
    }
  }

  #mayStart(): boolean {
    if (this.#over) return false;
    try {
      if (this.#options.onStart?.() !== false) return !this.#over;
      // A request that was sent before the repetition cannot be taken back.
      this.#settle(this.#everStarted ? this.#explain(declined) : notStarted('declined'));
    } catch (error) {
      this.#result.reject(error);
      this.#settle(notStarted('declined'));
    }
    return false;
  }

  /*
   * A receiver may close an idle connection just as a request is on its way. The bytes then meet a
   * closed socket, which soon shows as a reset or an end without any byte of a response. The
   * request is sent again: once, on a fresh connection, within the same deadline, after asking
   * onStart again. In rare cases the receiver had read the first one. That is the "lost response"
   * of the delivery contract, and the request has the same `webhook-id`, as the next attempt would.
   * The first request on a connection, or one that was pending for long, is not repeated.
   */
  #metStaleConnection(error: unknown): boolean {
    if (!this.#reused || this.#hasReceived || this.wants === 'fresh' || !isLost(error))
      return false;
    if (this.#startedMs === undefined) return true;
    const { world, limits } = this.#context;
    return world.monotonicMs() - this.#startedMs <= limits.connectionStaleMs;
  }

  #repeat(): void {
    const { connections } = this.#context;
    const stale = this.#connection;
    this.#connection = undefined;
    this.wants = 'fresh';
    if (stale !== undefined) connections.drop(stale);
    connections.take(this);
  }

  // A response counts once its head is complete, even when its body is cut short.
  #answer(how: 'whole' | 'cut'): SendResult | undefined {
    if (this.#head === undefined) return undefined;
    const body = this.#body?.bytes() ?? new Uint8Array(0);
    return { kind: 'answered', ...this.#head, body, cut: how === 'cut' };
  }

  #tooLate(): SenderResult {
    if (this.#connection === undefined && !this.#everStarted) return notStarted('busy');
    const within = `within ${this.#request.timeoutMs} ms`;
    return this.#startedMs === undefined
      ? failure('timeout', `Could not connect to ${this.#host} ${within}`)
      : failure('timeout', `${this.#host} did not respond ${within}`);
  }

  #explain(error: unknown): SenderResult {
    if (isShortage(error) && !this.#everStarted) return notStarted('busy');
    return explainFailure(error, this.#host);
  }

  #settle(result: SenderResult | undefined): void {
    if (this.#over) return;
    assert(result !== undefined, 'A body comes after its head.');
    this.#over = true;
    const { connections, deadlines, exchanges, abortGroups: recall } = this.#context;
    exchanges.remove(this);
    deadlines.clear(this.#deadline);
    if (this.#options.signal !== undefined) recall.remove(this.#options.signal, this);
    if (this.#connection === undefined) connections.forget(this);
    else connections.drop(this.#connection);
    this.#result.resolve(result);
  }
}

/** Throws BadRequest. */
function bytesFor(request: SendRequest, url: CallbackUrl): RequestBytes {
  const { method, headers, body, secretQuery = '' } = request;
  const origin = originOf(url);
  const authority = origin.slice(url.protocol.length + 2);
  let path = url.href.slice(origin.length);
  if (secretQuery !== '') path += (path.includes('?') ? '&' : '?') + secretQuery;
  return requestBytes({ method, path, authority, headers, body });
}

function originOf({ href, protocol }: CallbackUrl): string {
  return href.slice(0, href.indexOf('/', protocol.length + 2));
}

function notStarted(reason: 'declined' | 'busy'): SenderResult {
  return { kind: 'not_started', reason };
}

const declined = new ConnectionGone('The request was declined before it was written.');

// Aborts all exchanges that belong to a signal. One listener serves all of them, because a signal
// searches its whole list whenever a listener is added or removed.

export interface Abortable {
  abort(): void;
}

interface Group {
  members: Set<Abortable>;
  onAbort: () => void;
}

export class AbortGroups {
  readonly #groups = new WeakMap<AbortSignal, Group>();

  add(signal: AbortSignal, member: Abortable): void {
    const group = this.#groups.get(signal) ?? this.#listen(signal);
    group.members.add(member);
  }

  /** Removes the listener from the signal with the last member. */
  remove(signal: AbortSignal, member: Abortable): void {
    const group = this.#groups.get(signal);
    if (group?.members.delete(member) !== true || group.members.size > 0) return;
    signal.removeEventListener('abort', group.onAbort);
    this.#groups.delete(signal);
  }

  #listen(signal: AbortSignal): Group {
    const members = new Set<Abortable>();
    const onAbort = (): void => {
      for (const member of members) member.abort();
    };
    const group = { members, onAbort };
    this.#groups.set(signal, group);
    signal.addEventListener('abort', onAbort);
    return group;
  }
}
