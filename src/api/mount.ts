// Puts the operations of contracts on the server: a route each, by what the document says. Who calls
// is settled before the body is read; what the request means is settled by the contract.
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Operation } from '../contract/contract.ts';
import { servedOf, type Contracts } from '../contract/contracts.ts';
import { readRequest, type Reading } from '../contract/request.ts';
import { withPrefix } from '../core/id.ts';
import type { Key } from '../core/key.ts';
import { invalidRequest, Problem } from '../core/problem.ts';
import { readTrace } from '../core/trace.ts';
import type { Context } from '../engine/context.ts';
import type { Identifier } from '../engine/identify.ts';
import type { NodeRole } from '../store/node-verbs.ts';
import {
  authenticate,
  bodyBytesMaxOf,
  challenges,
  type Caller,
  type Means,
} from './authenticate.ts';
import { readBody, unsupported } from './body.ts';
import type { Call, Handler, Handlers, Reply } from './call.ts';
import { contractHandler } from './contract-handler.ts';
import { crossOriginFault } from './origin.ts';
import { toProblem } from './problem.ts';
import { pathAndQuery, readHead, unreadableParameter, type RawHead } from './raw-request.ts';
import { routeOf } from './route.ts';
import { createScrapeIdentifier } from './scrape-identifier.ts';
import { deedOf, note, noteSpan, subjectOf } from './request-log.ts';
import { sendProblem } from './server.ts';

export interface MountMeans {
  context: Context;
  identifier: Identifier;
  /** A worker delivers; of its operations it offers only those that say how it is. */
  role: NodeRole;
  contracts: Contracts;
  /** For the operations of our own document that are neither subscribe nor unsubscribe. */
  handlers: Handlers;
  /** Without a slash at the end. Asked for at each request: the port may be known only then. */
  publicUrl: () => string;
}

export function mount(server: FastifyInstance, means: MountMeans): void {
  const routes = routesOf(means).filter(({ operation }) => isOffered(operation, means.role));
  for (const route of routes) mountOperation(server, route, means);
  const operations = routes.map(({ operation }) => operation);
  const nothing = means.role === 'worker' ? workerDetail : 'There is nothing at this path';
  // Before the body is read: nobody who has no business here uploads anything.
  server.addHook('onRequest', async (request, reply) =>
    request.is404 ? refuseRoute({ operations, nothing }, request, reply) : undefined,
  );
}

const workerOperations: readonly string[] = ['getHealth', 'getReadiness', 'getMetrics'];
const workerDetail =
  'This node is a worker: it delivers, and offers /healthz, /readyz and /metrics only. ' +
  'Ask a node with the role api or all';

function isOffered({ operationId }: Operation, role: NodeRole): boolean {
  return role !== 'worker' || workerOperations.includes(operationId);
}

interface Mounted {
  operation: Operation;
  handler: Handler;
}

/** Handlers of ours are for our own document alone: a foreign one cannot call for them by name. */
function routesOf(means: MountMeans): Mounted[] {
  const { contracts, handlers } = means;
  const managed = contracts.management.operations.flatMap((operation): Mounted[] => {
    const { role, operationId } = operation;
    const handler = Object.hasOwn(handlers, operationId) ? handlers[operationId] : undefined;
    return role.kind !== 'managed' || handler === undefined ? [] : [{ operation, handler }];
  });
  const executed = contracts.executed.flatMap((contract) =>
    servedOf(contract).map((operation) => ({
      operation,
      handler: contractHandler({ contract, operation, ...means }),
    })),
  );
  return [...managed, ...executed];
}

function mountOperation(
  server: FastifyInstance,
  { operation, handler }: Mounted,
  { context, identifier, publicUrl }: MountMeans,
): void {
  const arrivals = new WeakMap<FastifyRequest, Arrival>();
  const { url, pathOf } = routeOf(operation.path);
  const publicOrigin = createOriginOf(publicUrl);
  const identify = identifying(operation, { context, identifier }, publicOrigin);
  server.route({
    method: operation.method,
    url,
    bodyLimit: bodyBytesMaxOf(operation),
    errorHandler: (error, request, reply) => {
      const problem = toProblem(error, bodyBytesMaxOf(operation));
      if (problem.code === 'unauthorized') {
        void reply.header('www-authenticate', challenges(operation.security));
      }
      void sendProblem(problem, request, reply);
    },
    onRequest: async (request) => {
      note(request, { operation: operation.operationId });
      const head = readHead(request.raw);
      const caller = await identify(head);
      if (caller !== undefined) noteCaller(request, caller.key);
      arrivals.set(request, { head, caller });
    },
    handler: async (request, reply) => {
      const { head, caller } = arrivals.get(request) ?? { head: readHead(request.raw) };
      refuseUnreadableQuery(request.url);
      const bytes = request.body instanceof Uint8Array ? request.body : new Uint8Array();
      const body = operation.body && readBody(bytes, head, operation.body.opaque);
      const reading = readRequest(operation, {
        path: pathOf(request.params),
        query: head.query,
        header: head.header,
        cookie: new Map(head.cookies),
        body,
      });
      const { key, session } = caller ?? {};
      const app =
        key === undefined
          ? context.defaultApp
          : { no: key.appNo, id: key.appId, quotas: key.appQuotas };
      const call: Call = {
        app,
        key,
        session,
        crossOriginFault: () =>
          crossOriginFault({ method: operation.method, head }, publicOrigin()),
        isSecure: request.protocol === 'https',
        cookie: (name) => {
          const given = head.cookies.filter(([each]) => each === name);
          return given.length === 1 ? given[0]?.[1] : undefined;
        },
        ...understood(reading),
        target: pathAndQuery(request.url),
        isStillWelcome: async () => isWelcome(identify(head)),
        ...observed(request, operation, head),
        bytes,
        opaque: body?.opaque ?? new Map(),
      };
      const answer = await handler(call);
      noteDeed(request, operation, call);
      return send(request, reply, answer);
    },
  });
}

/** What is known of a request before its body is read. */
interface Arrival {
  head: RawHead;
  caller: Caller;
}

/** The public URL changes once, when the port is known: it is read once for each text. */
function createOriginOf(publicUrl: () => string): () => string {
  let [url, origin] = ['', ''];
  return () => {
    const now = publicUrl();
    if (now !== url) [url, origin] = [now, new URL(now).origin];
    return origin;
  };
}

function noteCaller(request: FastifyRequest, { appId, id }: Key): void {
  note(request, { app: withPrefix('app', appId), key: `rbk_${id}` });
}

/** How the call is seen in logs and traces. */
function observed(
  request: FastifyRequest,
  { path }: Operation,
  { header }: RawHead,
): Pick<Call, 'trace' | 'note' | 'noteSpan'> {
  return {
    trace: readTrace(header),
    note: (facts) => note(request, facts),
    noteSpan: (span) => noteSpan(request, span, path),
  };
}

/** What a call that succeeded was about, and what it has changed. */
function noteDeed(request: FastifyRequest, operation: Operation, call: Call): void {
  const id = call.request.path.get('id');
  note(request, { ...(typeof id === 'string' ? subjectOf(id) : {}), ...deedOf(operation) });
}

function identifying(
  operation: Operation,
  means: Pick<MountMeans, 'context' | 'identifier'>,
  publicOrigin: () => string,
): (head: RawHead) => Promise<Caller> {
  const identifier = identifierFor(operation, means);
  return async (head) =>
    authenticate(operation, head, { identifier, publicOrigin: publicOrigin() });
}

function identifierFor(
  { operationId }: Operation,
  { context, identifier }: Pick<MountMeans, 'context' | 'identifier'>,
): Means['identifier'] {
  switch (operationId) {
    case 'openStream':
      return onlooking(identifier);
    case 'getMetrics':
      return createScrapeIdentifier(identifier, context.world);
    default:
      return identifier;
  }
}

/** A page opens its stream again by itself, and stays on it while nobody is there. */
function onlooking(identifier: Identifier): Means['identifier'] {
  return {
    identify: async (presented) => identifier.identify(presented),
    identifySession: async (token) => identifier.lookAtSession(token),
  };
}

async function isWelcome(identified: Promise<Caller>): Promise<boolean> {
  try {
    await identified;
    return true;
  } catch (error) {
    if (error instanceof Problem) return false;
    throw error;
  }
}

/** Lenient decoding would put other characters into a target than the caller meant. */
function refuseUnreadableQuery(url: string): void {
  const field = unreadableParameter(url);
  if (field === undefined) return;
  const message = 'is not validly percent-encoded UTF-8';
  throw new Problem('malformed_request', `${field} ${message}`, { faults: [{ field, message }] });
}

function understood(reading: Reading): Pick<Call, 'request' | 'variant'> {
  switch (reading.kind) {
    case 'valid':
      return { request: reading.message, variant: reading.variant };
    case 'invalid':
      throw invalidRequest(reading.faults);
    case 'no_variant':
      throw new Problem('no_variant', reading.detail, { faults: reading.faults });
    case 'unsupported': {
      const offered = reading.offered.join(' or ');
      throw unsupported(`Content-Type is "${reading.mediaType}", expected ${offered}`);
    }
  }
}

function send(
  request: FastifyRequest,
  reply: FastifyReply,
  { status, headers = {}, body, mediaType }: Reply,
): FastifyReply {
  void reply.code(status).headers(headers);
  // Whoever asks for the head alone would never read the stream, which would stay open for ever.
  if (request.method === 'HEAD' && body instanceof Readable) {
    body.destroy();
    return reply.type(`${mediaType ?? ''}; charset=utf-8`).send();
  }
  if (body === undefined) return reply.send();
  if (mediaType !== undefined && body instanceof Uint8Array) {
    return reply.type(mediaType).send(body);
  }
  if (mediaType !== undefined) return reply.type(`${mediaType}; charset=utf-8`).send(body);
  return reply.type('application/json; charset=utf-8').send(JSON.stringify(body));
}

/** No such path, or no such method on it: then the answer lists the ones there are. */
function refuseRoute(
  { operations, nothing }: { operations: readonly Operation[]; nothing: string },
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const path = request.url.split('?', 1)[0] ?? '';
  const methods = operations.filter((it) => routeOf(it.path).matches(path)).map((it) => it.method);
  if (methods.length === 0) {
    return sendProblem(new Problem('not_found', nothing), request, reply);
  }
  const allow = methods.flatMap((it) => (it === 'GET' ? ['GET', 'HEAD'] : [it])).join(', ');
  void reply.header('allow', allow);
  const detail = `The path does not offer ${request.method}, expected ${allow}`;
  return sendProblem(new Problem('method_not_allowed', detail), request, reply);
}
