// A call as handlers see it: read and checked against the contract, and who makes it.
import type { Variant } from '../contract/contract.ts';
import type { Message } from '../contract/exchange.ts';
import type { App } from '../core/app.ts';
import type { Key } from '../core/key.ts';
import type { TraceContext } from '../core/trace.ts';
import type { OpenSession } from '../engine/sessions.ts';
import type { Begun } from '../engine/trace.ts';
import type { Facts } from './request-log.ts';

export interface Call {
  /** The caller's app; for an anonymous caller the app `default`. */
  app: Pick<App, 'no' | 'id' | 'quotas'>;
  key: Key | undefined;
  /** Of somebody who is signed in to the console; `key` is then its key. */
  session: OpenSession | undefined;
  /**
   * Why a page of another origin may have sent this; asked where a cookie is given
   * (docs/openapi-semantics.md rule 26).
   */
  crossOriginFault: () => string | undefined;
  /** Whether it came by https, be it to a proxy that is trusted. */
  isSecure: boolean;
  /** The value of a cookie that came once; credentials too: never to be stored or logged. */
  cookie: (name: string) => string | undefined;
  request: Message;
  /** Of a subscribe operation: the one that the request fits. */
  variant: Variant | undefined;
  /** Path and query as they came, credentials included: never to be stored or logged. */
  target: string;
  /** Whether what the caller showed at the door would still open it: for answers that last. */
  isStillWelcome: () => Promise<boolean>;
  /** Where the caller is in a trace of its own. */
  trace: TraceContext | undefined;
  /** Adds what the call is about to its one log line. */
  note: (facts: Facts) => void;
  /** Ends with the answer. */
  noteSpan: (span: Begun) => void;
  /** The body as it came. */
  bytes: Uint8Array;
  /** The members of the body that are kept byte for byte, by their JSON pointer. */
  opaque: ReadonlyMap<string, Uint8Array>;
}

export interface Reply {
  status: number;
  headers?: Readonly<Record<string, string>>;
  /** JSON, unless a media type says otherwise: then a string, bytes, or a stream of bytes. */
  body?: unknown;
  mediaType?: string;
}

export type Handler = (call: Call) => Promise<Reply>;

/** Handlers by operationId. */
export type Handlers = Readonly<Record<string, Handler>>;
