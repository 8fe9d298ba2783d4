// A call as handlers see it: parsed and checked against the contract, with its authenticated
// caller.
import type { Message } from '../../contract/expression/evaluate.ts';
import type { Variant } from '../../contract/model/contract.ts';
import type { Actor, App } from '../../core/domain/app.ts';
import type { Key } from '../../core/domain/key.ts';
import type { TraceContext } from '../../core/telemetry/trace.ts';
import type { OpenSession } from '../../engine/access/sessions.ts';
import type { Declarer } from '../../engine/publish/event-types.ts';
import type { StartedTrace } from '../../engine/publish/trace.ts';
import type { Facts } from './request-log.ts';

export interface Call {
  requestId: string;
  /** The caller's app and customer; for an anonymous caller the app `default`. */
  app: Actor & Pick<App, 'quotas'> & Declarer;
  key: Key | undefined;
  /** Set for users of the console or of a portal; `key` is then that of the session. */
  session: OpenSession | undefined;
  /**
   * Why a page of another origin may have sent this; asked where a cookie is given
   * (docs/openapi-semantics.md rule 26).
   */
  crossOriginFault: () => string | undefined;
  /** Whether it arrived over https, at this server or at a trusted proxy. */
  isSecure: boolean;
  /** The value of a cookie that was sent once. It may be a credential: never store or log it. */
  cookie: (name: string) => string | undefined;
  request: Message;
  /** For subscribe operations: the variant that the request matches. */
  variant: Variant | undefined;
  /** Path and query as received, credentials included: never store or log it. */
  target: string;
  /** Whether the caller's credentials are still valid; for long-lived answers. */
  isStillAllowed: () => Promise<boolean>;
  /** The caller's position in a trace of its own. */
  trace: TraceContext | undefined;
  /** Adds facts to the log line of the request. */
  note: (facts: Facts) => void;
  /** Sets the span of the request, which ends with the answer. */
  noteSpan: (span: StartedTrace) => void;
  /** The body as received. */
  bytes: Uint8Array;
  /** Members of the body that are kept byte for byte, by JSON pointer. */
  opaque: ReadonlyMap<string, Uint8Array>;
}

export interface Reply {
  status: number;
  headers?: Readonly<Record<string, string>>;
  /** JSON, unless `mediaType` is set: then a string, bytes, or a stream of bytes. */
  body?: unknown;
  mediaType?: string;
}

export type Handler = (call: Call) => Promise<Reply>;

/** Handlers by operationId. */
export type Handlers = Readonly<Record<string, Handler>>;
