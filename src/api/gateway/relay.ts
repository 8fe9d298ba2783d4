// One request on its way to the API, and the answer on its way back: streamed both ways, each side no faster than
// the other. It must never change a byte of either body.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { limits } from '../../core/limits/limits.ts';
import { Problem } from '../../core/errors/problem.ts';
import type { Deadline, Deadlines } from '../../egress/http/deadlines.ts';
import { answerLines } from './forward-headers.ts';

export interface RelayDeps {
  upstream: Upstream;
  deadlines: Deadlines;
  /** From the last byte of the request to the head of the answer, and between two pieces of the request. */
  timeoutMs: number;
  isClosing: () => boolean;
}

export interface Relaying {
  request: IncomingMessage;
  response: ServerResponse;
  /** A flat list of names and values. */
  headers: string[];
  path: string;
  /** The whole body, if it was read already. */
  body?: Uint8Array | undefined;
  hold?: Hold | undefined;
  /** The API has not answered, and will not. */
  refuse: (problem: Problem) => void;
  /** The answer broke off. */
  onBroken: (error: Error) => void;
}

export interface AnswerHead {
  status: number;
  /** Names in lower case. */
  header: ReadonlyMap<string, string>;
}

/** Keeps an answer until it has been seen. The API is then heard to the end, even if the caller is gone. */
export interface Hold {
  needsBody: (head: AnswerHead) => boolean;
  /** Called once. Returns headers to add. `body`: undefined if it is not needed, or too large. */
  answered: (
    head: AnswerHead,
    body: Uint8Array | undefined,
  ) => Promise<readonly (readonly [string, string])[]>;
  /** The API cannot have received the request. */
  unreached: () => Promise<void>;
}

/** An answer that has not left yet. */
interface HeldAnswer {
  head: AnswerHead;
  message: string | undefined;
  lines: string[];
  pieces: Buffer[];
  bytes: number;
  /** Whether `answered` was called. */
  isSeen: boolean;
  isComplete: boolean;
  /** The API broke it off. */
  error: Error | undefined;
}

type Controller = Dispatcher.DispatchController;

/** Sends the request to the API and its answer to the caller. */
export function relay(deps: RelayDeps, relaying: Relaying): void {
  new Relay(deps, relaying).start();
}

class Relay implements Dispatcher.DispatchHandler {
  readonly #deps: RelayDeps;
  readonly #relaying: Relaying;
  #controller: Controller | undefined;
  #deadline: Deadline | undefined;
  /** Of the caller's connection, when the deadline was set. */
  #bytesRead = 0;
  #held: HeldAnswer | undefined;
  #isSentAgain = false;
  #isOver = false;

  constructor(deps: RelayDeps, relaying: Relaying) {
    this.#deps = deps;
    this.#relaying = relaying;
  }

  start(): void {
    const { response } = this.#relaying;
    response.on('drain', () => this.#controller?.resume());
    response.on('close', () => this.#end());
    this.#wait();
    this.#dispatch();
  }

  #dispatch(): void {
    const { request, response, headers, path, body: whole } = this.#relaying;
    const body = whole ?? (hasBody(request) ? bodyOf(request, response) : null);
    const method = request.method ?? 'GET';
    this.#deps.upstream.dispatch({ method, path, headers, body }, this);
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    if (this.#isOver) controller.abort(new Error('The caller is gone'));
  }

  onResponseStart(
    controller: Controller,
    status: number,
    headers: Record<string, string | string[] | undefined>,
    message?: string,
  ): void {
    const { request, response } = this.#relaying;
    if (status < 200) {
      if (status === 103 && request.httpVersion === '1.1') sendEarlyHints(response, headers);
      return;
    }
    this.#stopWaiting();
    const hasTrailers = request.httpVersion === '1.1' && headers['content-length'] === undefined;
    const lines = answerLines(textsOf(controller.rawHeaders), hasTrailers);
    const { hold } = this.#relaying;
    if (hold === undefined) {
      this.#writeHead(status, message, lines);
      return;
    }
    const head = { status, header: headerOf(headers) };
    const held: HeldAnswer = {
      head,
      message,
      lines,
      pieces: [],
      bytes: 0,
      isSeen: false,
      isComplete: false,
      error: undefined,
    };
    this.#held = held;
    if (!hold.needsBody(head)) void this.#show(held, hold);
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    const held = this.#held;
    if (held === undefined) {
      if (!this.#relaying.response.write(chunk)) controller.pause();
      return;
    }
    held.pieces.push(chunk);
    held.bytes += chunk.length;
    if (held.bytes <= limits.bodyBytesMax && !held.isSeen) return;
    controller.pause();
    const { hold } = this.#relaying;
    if (!held.isSeen && hold !== undefined) void this.#show(held, hold);
  }

  onResponseEnd(controller: Controller): void {
    const { hold } = this.#relaying;
    const held = this.#held;
    if (held === undefined || hold === undefined) {
      this.#finish(controller);
      return;
    }
    held.isComplete = true;
    if (!held.isSeen) void this.#show(held, hold);
  }

  /** Lets the holder see the answer, then sends it. */
  async #show(held: HeldAnswer, { needsBody, answered }: Hold): Promise<void> {
    held.isSeen = true;
    const { head, message, lines, isComplete, pieces } = held;
    const body = isComplete && needsBody(head) ? Buffer.concat(pieces) : undefined;
    const added = await answered(head, body);
    this.#held = undefined;
    const { response } = this.#relaying;
    if (response.destroyed) {
      this.#controller?.abort(new Error('The caller is gone'));
      return;
    }
    if (held.error !== undefined) {
      this.#relaying.refuse(problemOf(held.error));
      return;
    }
    // An API may have sent back what it got.
    const more = added.filter(([name, value]) => head.header.get(name.toLowerCase()) !== value);
    this.#writeHead(head.status, message, [...lines, ...more.flat()]);
    const isFlowing = pieces.reduce((_before, piece) => response.write(piece), true);
    if (held.isComplete && this.#controller !== undefined) this.#finish(this.#controller);
    else if (isFlowing) this.#controller?.resume();
  }

  #writeHead(status: number, message: string | undefined, lines: string[]): void {
    const { response } = this.#relaying;
    const all = this.#deps.isClosing() ? [...lines, 'Connection', 'close'] : lines;
    response.writeHead(status, message, all);
    // A head without a body so far leaves alone. Node would write it as UTF-8, although its bytes are Latin-1.
    if (all.every((text) => isAscii(text))) queueMicrotask(() => response.flushHeaders());
  }

  #finish(controller: Controller): void {
    const { response } = this.#relaying;
    const trailers = textsOf(controller.rawTrailers);
    if (trailers.length > 0 && response.chunkedEncoding) response.addTrailers(pairsOf(trailers));
    response.end();
  }

  onResponseError(_controller: Controller, error: Error): void {
    if (this.#isOver) return;
    const { response, request, refuse, onBroken } = this.#relaying;
    if (response.headersSent) {
      onBroken(error);
      response.destroy();
      return;
    }
    if (this.#held?.isSeen === true) {
      this.#held.error = error;
      return;
    }
    if (!this.#isSentAgain && isStale(error) && isRepeatable(request)) {
      this.#isSentAgain = true;
      this.#dispatch();
      return;
    }
    this.#stopWaiting();
    const unreached = unreachable.has(codeOf(error)) ? this.#relaying.hold?.unreached() : undefined;
    void Promise.resolve(unreached).then(() => refuse(problemOf(error)));
  }

  /** Called by the deadline. */
  expire(): void {
    const { request, refuse } = this.#relaying;
    const isUploading = !request.complete && !request.isPaused();
    if (!request.complete && request.socket.bytesRead !== this.#bytesRead) {
      this.#wait();
      return;
    }
    this.#isOver = true;
    this.#controller?.abort(new Error('Out of time'));
    refuse(isUploading ? uploadTimedOut(this.#deps.timeoutMs) : timedOut(this.#deps.timeoutMs));
  }

  #wait(): void {
    this.#bytesRead = this.#relaying.request.socket.bytesRead;
    this.#deadline = this.#deps.deadlines.set(this.#deps.timeoutMs, this);
  }

  #stopWaiting(): void {
    if (this.#deadline !== undefined) this.#deps.deadlines.clear(this.#deadline);
    this.#deadline = undefined;
  }

  /** The answer was sent, or the caller is gone. */
  #end(): void {
    const { hold, response } = this.#relaying;
    if (hold !== undefined && !response.headersSent) return;
    this.#stopWaiting();
    this.#isOver = true;
    if (response.writableFinished) return;
    this.#controller?.abort(new Error('The caller is gone'));
  }
}

/** By the headers that Node has checked: the lengths agree, and at most one framing is used. */
export function hasBody({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/**
 * The body as a stream of its own. The client for the API destroys the stream that it sends, which would close the
 * caller's connection before the answer.
 */
function bodyOf(request: IncomingMessage, response: ServerResponse): Readable {
  const body = new Readable({ read: () => void request.resume() });
  request.on('data', (piece) => {
    if (!body.push(piece)) request.pause();
  });
  request.on('end', () => body.push(null));
  request.pause();
  // The rest of a body that the API did not want, so that the next request of the connection is read.
  response.on('finish', () => {
    request.removeAllListeners('data').resume();
  });
  return body;
}

function isAscii(text: string): boolean {
  return /^[\t -~]*$/.test(text);
}

function sendEarlyHints(
  response: ServerResponse,
  { link }: Record<string, string | string[] | undefined>,
): void {
  if (link !== undefined) response.writeEarlyHints({ link });
}

/** The connection was closed by the API just when the request was sent. */
function isStale(error: Error): boolean {
  return codeOf(error) === 'UND_ERR_SOCKET' || codeOf(error) === 'ECONNRESET';
}

function isRepeatable(request: IncomingMessage): boolean {
  return ['GET', 'HEAD', 'OPTIONS'].includes(request.method ?? '') && !hasBody(request);
}

function problemOf(error: Error): Problem {
  const code = codeOf(error);
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return timedOut(limits.connectTimeoutMs, error);
  const why = reasons.get(code) ?? 'its answer could not be read';
  const detail = `The API behind this gateway did not answer: ${why}. Whether it received the request is not known`;
  const refused = `The API behind this gateway cannot be reached: ${why}. It did not receive the request`;
  const isRefused = unreachable.has(code);
  return new Problem('bad_gateway', isRefused ? refused : detail, { cause: error });
}

const reasons: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'nothing listens at its address'],
  ['ENOTFOUND', 'its host name does not exist'],
  ['EAI_AGAIN', 'its host name cannot be resolved at the moment'],
  ['EHOSTUNREACH', 'there is no route to its host'],
  ['ENETUNREACH', 'there is no route to its network'],
  ['UND_ERR_SOCKET', 'it closed the connection'],
  ['ECONNRESET', 'it closed the connection'],
  ['EPIPE', 'it closed the connection'],
  ['UND_ERR_HEADERS_OVERFLOW', `the head is larger than ${limits.upstreamHeadBytesMax} bytes`],
]);

const unreachable: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

function timedOut(ms: number, cause?: Error): Problem {
  const detail = `The API behind this gateway did not answer within ${ms / 1000} seconds`;
  return new Problem('gateway_timeout', detail, { cause });
}

function uploadTimedOut(ms: number): Problem {
  const detail = `The request was not complete, and nothing of it arrived for ${ms / 1000} seconds`;
  return new Problem('request_timeout', detail);
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** Bytes of a head are Latin-1, as Node writes them. */
function textsOf(raw: Controller['rawHeaders']): string[] {
  if (!Array.isArray(raw)) return [];
  return raw.map((one) => (typeof one === 'string' ? one : one.toString('latin1')));
}

function headerOf(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): ReadonlyMap<string, string> {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value] as const],
  );
  return new Map(lines);
}

function pairsOf(flat: readonly string[]): [string, string][] {
  return flat.flatMap((name, at) =>
    at % 2 === 0 ? [[name, flat[at + 1] ?? ''] satisfies [string, string]] : [],
  );
}

// The API behind the gateway: its address, and the connections to it, which are kept alive.

export interface Upstream extends AsyncDisposable {
  /** The Host header that it needs; undefined: that of the caller. */
  host: string | undefined;
  /** In front of every path. */
  basePath: string;
  dispatch: Dispatcher['dispatch'];
}

/** `url` may have a path, but nothing after it. */
export async function openUpstream(url: string): Promise<Upstream> {
  // Loaded here, because most services have no upstream, and it takes a tenth of a start.
  const { Pool } = await import('undici');
  const { origin, host, protocol, pathname } = new URL(url);
  const pool = new Pool(origin, {
    connections: limits.connectionsMax,
    allowH2: false, // Headers and trailers would be read in another way.
    headersTimeout: 0, // Relay has deadlines of its own.
    bodyTimeout: 0,
    maxHeaderSize: limits.upstreamHeadBytesMax,
    connect: { timeout: limits.connectTimeoutMs },
  });
  return {
    // The server behind https is chosen by name, in the TLS handshake already.
    host: protocol === 'https:' ? host : undefined,
    basePath: pathname.replace(/\/$/, ''),
    dispatch: (options, handler) => pool.dispatch(options, handler),
    [Symbol.asyncDispose]: async () => pool.destroy(),
  };
}
