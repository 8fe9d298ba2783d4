// Receives callbacks: verifies that Ringback (or another Standard Webhooks sender) sent them just now, and calls a
// handler. Runs wherever WebCrypto is available, has no dependencies, and reveals nothing to a forger.
import {
  bytesWithin,
  givenBody,
  isBounded,
  type NodeRequest,
  readFetchBody,
  readNodeBody,
} from './body.ts';
import { ForgeryError } from './forgery.ts';
import { type Head, type HeadersLike, readHead } from './head.ts';
import { receiverLimits } from './limits.ts';
import { isSigned, readSecrets } from './secrets.ts';
import { type SeenIds, shareWork } from './seen.ts';

// The entry point of `ringback/receiver`: everything public is exported here.
export type { NodeRequest } from './body.ts';
export { ForgeryError, type ForgeryCode } from './forgery.ts';
export type { HeadersLike } from './head.ts';
export { rememberIds, type SeenIds } from './seen.ts';

export interface ReceiverOptions {
  /** `whsec_…` or `whpk_…`; several during a rotation: a signature by any of them is accepted. */
  secret: string | readonly string[];
  /** Maximum difference between the timestamp and now, in either direction, in seconds. */
  toleranceS?: number;
  /** Milliseconds since 1970. */
  now?: () => number;
  bodyBytesMax?: number;
  /** If set, an event that was already handled is accepted without calling the handler again. */
  seen?: SeenIds;
  /** The success status. Ringback's own contract declares 200; other contracts may declare another 2xx. */
  acceptedStatus?: number;
  /**
   * Called with details that the response omits: a `ForgeryError` for a rejected callback (401, 413), any
   * other error for a failed one (500). Default: a line on the console.
   */
  report?: (error: unknown) => void;
}

/** Returns nothing: accepted, 200. `gone()`: 410. Throws: 500, and Ringback retries. */
export type Handler = (callback: Callback) => void | Gone | Promise<void | Gone>;

export interface Receiver {
  /**
   * Returns the callback if it is genuine and recent; throws `ForgeryError` otherwise. Strings are read as
   * UTF-8.
   */
  verify: (given: { headers: HeadersLike; body: Uint8Array | string }) => Promise<Callback>;
  /** For fetch: Hono, Deno, Bun, Workers. */
  handle: (request: Request, handler: Handler) => Promise<Response>;
  /** For `node:http` and Express. */
  node: (handler: Handler) => (request: NodeRequest, response: NodeResponse) => void;
  /** For frameworks that provide headers and the raw body, like Fastify: returns the status to respond with. */
  answer: (given: { headers: HeadersLike; body?: unknown }, handler: Handler) => Promise<number>;
}

/** The parts of a response of `node:http`, Express and the like that are used here. */
export interface NodeResponse {
  statusCode: number;
  setHeader: (name: string, value: string) => unknown;
  end: () => unknown;
}

export interface Gone {
  readonly kind: 'gone';
}

const goneForGood: Gone = Object.freeze({ kind: 'gone' });

/** Return value of a handler that ends its subscription. */
export function gone(): Gone {
  return goneForGood;
}

export function createReceiver(options: ReceiverOptions): Receiver {
  const verifiers = readSecrets(options.secret);
  const {
    toleranceS = receiverLimits.toleranceS,
    now = () => Date.now(),
    bodyBytesMax = receiverLimits.bodyBytesMax,
    report = logError,
  } = options;
  const { acceptedStatus = 200 } = options;
  requireWhole({ toleranceS, bodyBytesMax, acceptedStatus });
  if (acceptedStatus < 200 || acceptedStatus > 299) {
    throw new TypeError(`Cannot accept with status ${acceptedStatus}: expected 200 to 299`);
  }
  const handleOnce = onlyOnce(options.seen, (error) => reportSafely(report, error));

  const headOf = (headers: HeadersLike): Head => readHead(headers, { nowMs: now(), toleranceS });
  const confirm = async (head: Head, body: Uint8Array): Promise<Callback> => {
    if (await isSigned(verifiers, head, body)) return makeCallback(head, body);
    throw new ForgeryError('signature_wrong', 'The signature matches none of the secrets');
  };
  /** Headers first: a request they disqualify is rejected before a byte of the body is read. */
  const settle = async (
    headers: HeadersLike,
    readBody: () => Promise<Uint8Array>,
    handler: Handler,
  ): Promise<number> => {
    try {
      const head = headOf(headers);
      const callback = await confirm(head, await readBody());
      return (await handleOnce(callback, handler)) === 'gone' ? 410 : acceptedStatus;
    } catch (error) {
      reportSafely(report, error);
      return statusOf(error);
    }
  };

  return {
    verify: async ({ headers, body }) =>
      confirm(headOf(headers), bytesWithin(asBytes(body), bodyBytesMax)),
    handle: async (request, handler) => {
      const read = async (): Promise<Uint8Array> => readFetchBody(request, bodyBytesMax);
      return new Response(null, { status: await settle(request.headers, read, handler) });
    },
    node: (handler) => (request, response) => {
      const read = async (): Promise<Uint8Array> => readNodeBody(request, bodyBytesMax);
      settle(request.headers, read, handler)
        .then((status) => {
          response.statusCode = status;
          // Otherwise Node would read the rest of the body, however long it is.
          if (!isBounded(request, bodyBytesMax)) response.setHeader('connection', 'close');
          response.end();
        })
        .catch((error: unknown) => reportSafely(report, error)); // Other code has answered already.
    },
    answer: async ({ headers, body }, handler) =>
      settle(headers, async () => givenBody(body, bodyBytesMax), handler),
  };
}

type Handled = 'accepted' | 'gone';

/** Calls the handler, unless the event was already handled or is being handled. */
function onlyOnce(
  seen: SeenIds | undefined,
  report: (error: unknown) => void,
): (callback: Callback, handler: Handler) => Promise<Handled> {
  if (seen === undefined) return call;
  const share = shareWork<Handled>();
  return async (callback, handler) =>
    share(callback.id, async () => {
      if (await seen.has(callback.id)) return 'accepted';
      const handled = await call(callback, handler);
      if (handled === 'gone') return handled;
      try {
        await seen.remember(callback.id);
      } catch (error) {
        // The event was handled. Any other response would cause it to be sent and handled again.
        report(error);
      }
      return handled;
    });
}

async function call(callback: Callback, handler: Handler): Promise<Handled> {
  const result: unknown = await handler(callback);
  if (result instanceof Response) {
    throw new TypeError(
      `Cannot respond with the Response of a handler: its status is ${result.status}. ` +
        'Expected nothing (accepted), gone() (410), or an exception (500)',
    );
  }
  return result === goneForGood ? 'gone' : 'accepted';
}

function statusOf(error: unknown): number {
  if (!(error instanceof ForgeryError)) return 500;
  return error.code === 'body_too_large' ? 413 : 401;
}

function asBytes(body: unknown): unknown {
  if (typeof body !== 'string') return body;
  // A lone surrogate has no UTF-8 encoding, so something else would be verified.
  if (body.isWellFormed()) return new TextEncoder().encode(body);
  throw new ForgeryError(
    'signature_wrong',
    'The text contains unpaired surrogates, which are never signed',
  );
}

function requireWhole(values: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(values)) {
    if (Number.isSafeInteger(value) && value >= 0) continue;
    throw new TypeError(
      `Cannot create a receiver with ${name} ${value}: expected a non-negative integer`,
    );
  }
}

/** The response must be sent even if reporting fails. */
function reportSafely(report: (error: unknown) => void, error: unknown): void {
  try {
    report(error);
  } catch (failure) {
    logError(failure);
  }
}

function logError(error: unknown): void {
  if (error instanceof ForgeryError) {
    console.warn(`A callback was rejected (${error.code}). ${error.message}`);
  } else console.error('A callback failed:', error);
}

// A verified callback, as passed to a handler.

export interface Callback {
  /** `webhook-id`: identifies the event, the same in every attempt and every resend. Signed. */
  readonly id: string;
  /** When this attempt was made. Signed. */
  readonly timestampMs: number;
  /** The body, byte for byte as received. Signed. */
  readonly body: Uint8Array;
  /**
   * `ringback-event`, the event's name, decoded. The signature does not cover this field and those below: they are only
   * as trustworthy as the connection. Undefined if another sender omits it.
   */
  readonly event: string | undefined;
  readonly subscription: string | undefined;
  readonly delivery: string | undefined;
  /** Number of this attempt, from 1. */
  readonly attempt: number | undefined;
  /**
   * `ringback-hops`, from 1: the number of callbacks that led here, one after the other. Pass the callback on
   * when you publish because of it (`client.publish(event, { causedBy: callback })`), so that Ringback can
   * stop a loop of events and callbacks.
   */
  readonly hops: number | undefined;
  /** The body as text. Throws if it is not valid UTF-8. */
  readonly text: () => string;
  /** The body as a JSON value. Throws if it is not valid JSON. */
  readonly json: () => unknown;
}

export function makeCallback(head: Head, body: Uint8Array): Callback {
  const text = (): string => new TextDecoder('utf-8', { fatal: true }).decode(body);
  const { id, timestampMs, event, subscription, delivery, attempt, hops } = head;
  const json = (): unknown => JSON.parse(text());
  return { id, timestampMs, body, event, subscription, delivery, attempt, hops, text, json };
}
