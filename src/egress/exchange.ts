// One request and its answer, as undici's handler: it is told what happens and settles the result,
// once. Whatever the receiver does, that is by the deadline, in bounded memory, and no exception.
import assert from 'node:assert/strict';
import type { Dispatcher } from 'undici';
import type { Header, SendResult } from '../core/attempt.ts';
import type { World } from '../core/world.ts';
import type { Recall } from './recall.ts';
import type { ReadHeaders } from './answer.ts';
import { KeptBody, keepHeaders } from './answer.ts';
import type { Connection, Connections, Taker } from './connections.ts';
import { ConnectionGone } from './connections.ts';
import type { Deadline, DeadlineOwner, Deadlines } from './deadlines.ts';
import { explainFailure, failure, isLost, isShortage } from './failure.ts';
import type { CallbackUrl } from './guard.ts';
import type { Link, LinkedList } from './linked-list.ts';
import type { Allowance } from './pieces.ts';

export interface SendRequest {
  readonly method: string;
  readonly url: string;
  /** Names and values in turn. */
  readonly headers: string[];
  readonly body: Uint8Array;
  /** For everything: look-up, connection, TLS, head and body. */
  readonly timeoutMs: number;
}

export interface SendOptions {
  /** Gives the request up. An answer whose head is there counts all the same. */
  readonly signal?: AbortSignal;
  /**
   * Called in the turn in which the first byte is written, right before it; after `false` none is.
   * Called again when the request is repeated on a fresh connection (see #metStaleConnection).
   */
  readonly onStart?: () => boolean;
}

export type SenderResult =
  | SendResult
  /** Nothing was sent: onStart declined, or this node had no connection to give. */
  | { readonly kind: 'not_started'; readonly reason: 'declined' | 'busy' }
  /** Given up by us, which is no failure of the receiver. Once started, it may have the request. */
  | { readonly kind: 'aborted'; readonly started: boolean };

export interface ExchangeLimits {
  readonly responseHeadBytesMax: number;
  readonly responseHeadLinesMax: number;
  readonly responseRestBytesMax: number;
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
  /** All that are under way. */
  readonly exchanges: LinkedList<Exchange>;
  readonly recall: Recall;
}

type Controller = Dispatcher.DispatchController;

export class Exchange implements Taker, DeadlineOwner, Link<Exchange>, Dispatcher.DispatchHandler {
  before: Exchange | undefined;
  after: Exchange | undefined;
  readonly origin: string;
  wants: Taker['wants'] = 'any';
  readonly #path: string;
  readonly #host: string;
  readonly #request: SendRequest;
  readonly #options: SendOptions;
  readonly #context: ExchangeContext;
  readonly #result = Promise.withResolvers<SenderResult>();
  #over = false;
  #deadline: Deadline;
  #connection: Connection | undefined;
  #reused = false;
  /** When the first byte was written to the connection of now. */
  #startedMs: number | undefined;
  #everStarted = false;
  #heard = false;
  #interim = 0;
  #head: { status: number; headers: readonly Header[] } | undefined;
  #body: KeptBody | undefined;

  constructor(
    request: SendRequest,
    parts: { url: CallbackUrl; options: SendOptions; context: ExchangeContext },
  ) {
    const { href, protocol, host } = parts.url;
    const pathAt = href.indexOf('/', protocol.length + 2);
    this.origin = href.slice(0, pathAt);
    this.#path = href.slice(pathAt);
    this.#host = host.kind === 'address' ? host.address : host.name;
    this.#request = request;
    this.#options = parts.options;
    this.#context = parts.context;
    this.#deadline = parts.context.deadlines.set(request.timeoutMs, this);
  }

  /** Rejects only with what onStart threw. */
  run(): Promise<SenderResult> {
    this.#context.exchanges.add(this);
    const { signal } = this.#options;
    if (signal !== undefined) this.#context.recall.add(signal, this);
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
    const { method, headers, body } = this.#request;
    this.#connection = connection;
    this.#reused = connection.requests > 0;
    this.#startedMs = undefined;
    this.#heard = false;
    const request = { path: this.#path, method, headers, body };
    connection.client.dispatch(request, this);
  }

  onRequestStart(controller: Controller): void {
    if (!this.#mayStart()) {
      controller.abort(declined);
      return;
    }
    this.#everStarted = true;
    this.#startedMs = this.#context.world.monotonicMs();
    if (this.#connection !== undefined) this.#connection.requests += 1;
    const { responseHeadBytesMax: bytes, responseHeadLinesMax: lines } = this.#context.limits;
    this.#allow({ bytes, lines });
  }

  onResponseStarted(): void {
    this.#heard = true;
  }

  onResponseStart(_controller: Controller, status: number, headers: ReadHeaders): void {
    const { world, limits, deadlines } = this.#context;
    if (status < 200) {
      this.#interim += 1;
      if (this.#interim <= limits.responsesInterimMax) return;
      this.#settle(failure('protocol', `${this.#host} sent interim answers without end`));
      return;
    }
    this.#head = { status, headers: keepHeaders(headers) };
    this.#body = new KeptBody(limits.responseBytesMax);
    this.#allow({ bytes: limits.responseRestBytesMax, lines: Infinity });
    deadlines.clear(this.#deadline);
    const leftMs = this.#deadline.dueMs - world.monotonicMs();
    this.#deadline = deadlines.set(Math.min(leftMs, limits.responseReadMs), this);
  }

  onResponseData(_controller: Controller, chunk: Uint8Array): void {
    if (this.#body?.add(chunk) === 'full') this.#settle(this.#answer('cut'));
  }

  onResponseEnd(): void {
    if (this.#over || this.#connection === undefined) return;
    this.#context.connections.release(this.#connection);
    this.#connection = undefined;
    this.#settle(this.#answer('whole'));
  }

  onResponseError(_controller: Controller, error: unknown): void {
    if (this.#over) return;
    if (this.#metStaleConnection(error)) this.#repeat();
    else this.#settle(this.#answer('cut') ?? this.#explain(error));
  }

  /** For the whole head with all interim ones; then for all that comes after it. */
  #allow(more: Allowance): void {
    if (this.#connection !== undefined) Object.assign(this.#connection.allowance, more);
  }

  #mayStart(): boolean {
    if (this.#over) return false;
    try {
      if (this.#options.onStart?.() !== false) return true;
      // What was sent before a repetition cannot be taken back.
      this.#settle(this.#everStarted ? this.#explain(declined) : notStarted('declined'));
    } catch (error) {
      this.#result.reject(error);
      this.#settle(notStarted('declined'));
    }
    return false;
  }

  /*
   * A receiver may close a connection that rests just when a request is on its way. Undici looks at
   * a used socket once more before it writes, and what it finds closed was never written to. Else
   * the bytes meet a closed socket, which shows by a reset or an end, soon, and without a byte of an
   * answer. In both cases the request is sent once more: on a fresh connection, within the same
   * deadline, after asking onStart again. In rare cases it was read before. That is the "lost
   * response" of the delivery contract, and it has the same `webhook-id`, as in the next attempt.
   * A first request on a connection, or one that was held for long, is not repeated.
   */
  #metStaleConnection(error: unknown): boolean {
    if (!this.#reused || this.#heard || this.wants === 'fresh' || !isLost(error)) return false;
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

  // An answer counts from its complete head on, also when its body is cut short.
  #answer(how: 'whole' | 'cut'): SendResult | undefined {
    if (this.#head === undefined) return undefined;
    const body = this.#body?.bytes() ?? new Uint8Array(0);
    return { kind: 'answered', ...this.#head, body, cut: how === 'cut' };
  }

  #tooLate(): SenderResult {
    if (this.#connection === undefined && !this.#everStarted) return notStarted('busy');
    const within = `within ${this.#request.timeoutMs} ms`;
    return this.#startedMs === undefined
      ? failure('timeout', `No connection to ${this.#host} came about ${within}`)
      : failure('timeout', `${this.#host} did not answer ${within}`);
  }

  #explain(error: unknown): SenderResult {
    if (isShortage(error) && !this.#everStarted) return notStarted('busy');
    return explainFailure(error, this.#host);
  }

  #settle(result: SenderResult | undefined): void {
    if (this.#over) return;
    assert(result !== undefined, 'A body comes after its head.');
    this.#over = true;
    const { connections, deadlines, exchanges, recall } = this.#context;
    exchanges.remove(this);
    deadlines.clear(this.#deadline);
    if (this.#options.signal !== undefined) recall.remove(this.#options.signal, this);
    if (this.#connection === undefined) connections.forget(this);
    else connections.drop(this.#connection);
    this.#result.resolve(result);
  }
}

function notStarted(reason: 'declined' | 'busy'): SenderResult {
  return { kind: 'not_started', reason };
}

const declined = new ConnectionGone('The request was declined before it was written.');
