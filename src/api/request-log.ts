// The one log line of a request, and its span where it publishes. Handlers note what the request was about;
// nobody notes a URL, a header or a body.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Operation } from '../contract/contract.ts';
import type { ProblemCode } from '../core/problem.ts';
import type { Tracer } from '../core/trace.ts';
import type { World } from '../core/world.ts';
import type { Answered } from '../engine/meter.ts';
import type { Begun } from '../engine/trace.ts';

/** Facts about a request. */
export interface Facts {
  operation?: string;
  app?: string;
  key?: string;
  /** What it has changed: `key made`. */
  did?: string;
  subscription?: string;
  event?: string;
  /** How many events it published. */
  events?: number;
  deliveries?: number | undefined;
  delivery?: string;
  replay?: string;
  /** The key that it was about. */
  subjectKey?: string;
  /** Why it was refused. */
  code?: ProblemCode;
  /** Why it failed on our side. */
  err?: unknown;
}

export interface RequestLog {
  log: Logger;
  world: Pick<World, 'monotonicMs' | 'nowMs'>;
  tracer?: Tracer | undefined;
  /** Told of every request that was answered. */
  onAnswered?: (request: Answered) => void;
}

export function note(request: FastifyRequest, facts: Facts): void {
  const noted = notes.get(request);
  if (noted === undefined) notes.set(request, { ...facts });
  else Object.assign(noted, facts);
}

/** Whether somebody was let in by a key. */
export function hasKey(request: FastifyRequest): boolean {
  return notes.get(request)?.key !== undefined;
}

/** The span of a request that publishes; it ends with the answer. */
export function noteSpan(request: FastifyRequest, span: Begun, route: string): void {
  spans.set(request, { ...span, route });
}

/** What an operation has done when it succeeded, if it is worth to be found again. */
export function deedOf({ operationId, role }: Operation): Facts {
  const did =
    role.kind === 'subscribe'
      ? 'subscription created'
      : role.kind === 'unsubscribe'
        ? 'subscription ended'
        : deeds.get(operationId);
  return did === undefined ? {} : { did };
}

/** The thing that an id in the path names. Only of a request that succeeded: then it is an id. */
export function subjectOf(id: string): Facts {
  const subject = subjects.get(id.slice(0, id.indexOf('_')));
  return subject === undefined ? {} : { [subject]: id };
}

export function logRequests(server: FastifyInstance, means: RequestLog): void {
  const started = new WeakMap<FastifyRequest, number>();
  const { world } = means;
  server.addHook('onRequest', async (request) => {
    started.set(request, world.monotonicMs());
  });
  server.addHook('onResponse', async (request, reply) => {
    const tookMs = world.monotonicMs() - (started.get(request) ?? world.monotonicMs());
    logRequest(means, { request, reply, tookMs });
  });
}

export function logRequest(
  { log, tracer, world, onAnswered }: RequestLog,
  { request, reply, tookMs }: { request: FastifyRequest; reply: FastifyReply; tookMs: number },
): void {
  const facts = notes.get(request) ?? {};
  const span = spans.get(request);
  const { operation, code } = facts;
  onAnswered?.({ operation, status: reply.statusCode, tookMs, code });
  const line = {
    requestId: request.id,
    method: request.method,
    status: reply.statusCode,
    tookMs: Math.round(tookMs * 10) / 10,
    ...(span === undefined ? {} : { traceId: span.context.traceId }),
    ...facts,
  };
  if (facts.err === undefined) log.info(line, 'request');
  else log.error(line, 'request failed');
  if (span?.context.isSampled !== true || tracer === undefined) return;
  const { statusCode: status } = reply;
  const endMs = world.nowMs();
  tracer.record({
    name: 'publish',
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

const notes = new WeakMap<FastifyRequest, Facts>();
const spans = new WeakMap<FastifyRequest, Begun & { route: string }>();

const deeds: ReadonlyMap<string, string> = new Map([
  ['createApp', 'app made'],
  ['editApp', 'app changed'],
  ['createKey', 'key made'],
  ['rotateKey', 'key rotated'],
  ['revokeKey', 'key revoked'],
  ['editSubscription', 'subscription changed'],
  ['deleteSubscription', 'subscription ended'],
  ['rotateSecret', 'secret rotated'],
  ['retryDelivery', 'delivery sent again'],
  ['cancelReplay', 'replay cancelled'],
  ['signIn', 'session begun'],
  ['signOut', 'session ended'],
]);

const subjects: ReadonlyMap<string, keyof Facts> = new Map([
  ['sub', 'subscription'],
  ['evt', 'event'],
  ['dlv', 'delivery'],
  ['rpl', 'replay'],
  ['rbk', 'subjectKey'],
]);
