// The log line of a request, and its span if it publishes. Handlers add facts; a fact must never be
// a URL, a header or a body, and text of a caller only in redacted form.
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Operation } from '../../contract/model/contract.ts';
import type { LogFact } from '../../core/telemetry/log-fact.ts';
import type { ProblemCode } from '../../core/errors/problem.ts';
import { redact } from '../../core/secrets/redact.ts';
import type { Span, Tracer } from '../../core/telemetry/trace.ts';
import type { World } from '../../core/base/world.ts';
import type { Answered } from '../../engine/telemetry/meter.ts';
import type { StartedTrace } from '../../engine/publish/trace.ts';

/** Facts about a request. */
export interface Facts {
  operation?: string;
  app?: string;
  key?: string;
  /** What the request has changed: `key made`. */
  did?: string;
  subscription?: string;
  event?: string;
  /** How many events it published. */
  events?: number;
  deliveries?: number | undefined;
  delivery?: string;
  replay?: string;
  /** The key that the request was about. */
  subjectKey?: string;
  /** Where a request for the API does not fit the document. */
  misfits?: string;
  /** Why it was refused. */
  code?: ProblemCode;
  /** Why it failed on our side. */
  err?: unknown;
}

export interface RequestLog {
  log: Logger;
  logFact?: LogFact | undefined;
  world: Pick<World, 'monotonicMs' | 'nowMs'>;
  tracer?: Tracer | undefined;
  /** Called for every request that was answered. */
  onAnswered?: (request: Answered) => void;
}

/**
 * Stored on the request: a WeakMap with young keys makes every garbage collection more expensive.
 */
export interface LogNotes {
  /** Undefined if no hook ran for the request. */
  startedMs: number | undefined;
  facts: Facts;
  span: (StartedTrace & { name: Span['name']; route: string | undefined }) | undefined;
}

/** A request on either path. */
export interface LoggedRequest {
  /** The facts collected so far. */
  notes: LogNotes | undefined;
}

declare module 'fastify' {
  interface FastifyRequest extends LoggedRequest {}
}

function notesOf(request: LoggedRequest): LogNotes {
  request.notes ??= { startedMs: undefined, facts: {}, span: undefined };
  return request.notes;
}

export function note(request: LoggedRequest, facts: Facts): void {
  Object.assign(notesOf(request).facts, facts);
}

/** Whether the caller was authenticated by a key. */
export function hasKey({ notes }: LoggedRequest): boolean {
  return notes?.facts.key !== undefined;
}

/** The span of a publish request; it ends with the answer. */
export function noteSpan(request: LoggedRequest, span: StartedTrace, route: string): void {
  notesOf(request).span = { ...span, name: 'publish', route };
}

/** The span of a request that is passed on to the API behind the gateway. */
export function notePassing(request: LoggedRequest, span: StartedTrace): void {
  notesOf(request).span = { ...span, name: 'pass-through', route: undefined };
}

/** What a successful operation has done, if that is worth finding in the log. */
export function logAction({ operationId, role }: Operation): string | undefined {
  switch (role.kind) {
    case 'subscribe':
      return 'subscription created';
    case 'unsubscribe':
      return 'subscription ended';
    case 'managed':
      return logActions.get(operationId);
  }
}

/**
 * The object that an id in the path names. Only for successful requests: others may hold any text.
 */
export function subjectOf(id: string): Facts {
  const subject = subjects.get(id.slice(0, id.indexOf('_')));
  return subject === undefined ? {} : { [subject]: id };
}

export function logRequests(server: FastifyInstance, deps: RequestLog): void {
  const { world } = deps;
  server.decorateRequest('notes');
  server.addHook('onRequest', (request, _reply, done) => {
    notesOf(request).startedMs = world.monotonicMs();
    done();
  });
  server.addHook('onResponse', (request, reply, done) => {
    logRequest(deps, { request, status: reply.statusCode });
    done();
  });
}

interface Over {
  request: LoggedRequest & { id: string; method: string };
  status: number;
}

export function logRequest(
  { log, logFact, tracer, world, onAnswered }: RequestLog,
  { request, status }: Over,
): void {
  const { facts, span, startedMs } = notesOf(request);
  const tookMs = startedMs === undefined ? 0 : world.monotonicMs() - startedMs;
  const { operation, code } = facts;
  onAnswered?.({ operation, status, tookMs, code });
  const line = {
    requestId: redact(request.id), // May be chosen by the caller.
    method: request.method,
    status,
    tookMs: Math.round(tookMs * 10) / 10,
    traceId: span?.context.traceId,
    ...facts,
  };
  if (facts.err !== undefined) log.error(line, 'request failed');
  else if (logFact === undefined) log.info(line, 'request');
  else logFact(line, 'request');
  if (span?.context.isSampled !== true || tracer === undefined) return;
  const endMs = world.nowMs();
  tracer.record({
    name: span.name,
    kind: 'server',
    context: span.context,
    parentId: span.parentId,
    startMs: endMs - tookMs,
    endMs,
    attributes: {
      'http.request.method': request.method,
      'http.route': span.route,
      'http.response.status_code': status,
      'error.type': status >= 500 ? String(status) : undefined,
      'ringback.app': facts.app,
      'ringback.request': request.id,
      'ringback.event': facts.event,
      'ringback.events': facts.events,
      'ringback.deliveries': facts.deliveries,
    },
    error: status >= 500 ? String(status) : undefined,
  });
}

const logActions: ReadonlyMap<string, string> = new Map([
  ['createApp', 'app created'],
  ['editApp', 'app updated'],
  ['createKey', 'key created'],
  ['rotateKey', 'key rotated'],
  ['revokeKey', 'key revoked'],
  ['putEventType', 'event type declared'],
  ['deleteEventType', 'event type deleted'],
  ['editSubscription', 'subscription updated'],
  ['deleteSubscription', 'subscription ended'],
  ['rotateSecret', 'secret rotated'],
  ['retryDelivery', 'delivery sent again'],
  ['cancelReplay', 'replay cancelled'],
  ['signIn', 'console session started'],
  ['signOut', 'console session ended'],
]);

const subjects: ReadonlyMap<string, keyof Facts> = new Map([
  ['sub', 'subscription'],
  ['evt', 'event'],
  ['dlv', 'delivery'],
  ['rpl', 'replay'],
  ['rbk', 'subjectKey'],
]);
