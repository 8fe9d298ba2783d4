// Puts the admission of engine/admission/admission.ts in front of the server. A refused request must cost as
// little as possible: no route, no key lookup, no body, no log line of its own. docs/operations.md,
// "Limits", has the figures.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Contracts } from '../../contract/compile/contracts.ts';
import { withPrefix } from '../../core/base/id.ts';
import { limits } from '../../core/limits/limits.ts';
import { Problem } from '../../core/errors/problem.ts';
import type { World } from '../../core/base/world.ts';
import type { Admission, LoadKind, Ticket } from '../../engine/admission/admission.ts';
import type { Answered } from '../../engine/telemetry/meter.ts';
import { problemBody, problemMediaType, type ProblemReply } from '../request/problem.ts';
import { hasKey } from '../request/request-log.ts';
import { routeOf } from '../request/route.ts';
import { answerHeaders, readRequestId } from './server.ts';

export interface AdmissionDeps {
  admission: Admission;
  contracts: Contracts;
  world: Pick<World, 'monotonicMs'>;
  newId: () => string;
  log: Logger;
  onAnswered: (request: Answered) => void;
}

declare module 'node:http' {
  interface IncomingMessage {
    /** Set if the request was admitted. */
    ticket?: Ticket;
  }
}

declare module 'node:net' {
  interface Socket {
    /** The app that last published on this connection. */
    publisher?: number | undefined;
  }
}

export interface RequestAdmission {
  /** Undefined: no room; answer with `refuse` and nothing else. */
  enter(requestClass: RequestClass, bytes: number, socket: Socket): Ticket | undefined;
  /** Resolves when the refusal may be sent: at once, unless there are many. */
  refuse(requestId: string): Promise<ProblemReply>;
  /**
   * Call once the key was checked. Throws if its app has used up its share, or there is no room for
   * the body.
   */
  checkKey(checked: Checked): void;
  /** Throws if a ticket says that there is no room any more. */
  refuseUnless(hasRoom: boolean | undefined): void;
  /** From now on, `take` gets each request first, and returns whether it keeps it. */
  passOn(take: (request: IncomingMessage, response: ServerResponse) => boolean): void;
}

interface Checked {
  arrival: FastifyRequest['arrival'];
  ticket: Ticket;
  socket: Socket;
  bytes: number;
}

/** Also used by the fast path, which reads requests without this server. */
export function admitRequests(server: FastifyInstance, deps: AdmissionDeps): RequestAdmission {
  const { admission, newId } = deps;
  const classify = requestClassifier(deps.contracts);
  const logOverload = createOverloadLog(deps);
  let isTaken: Parameters<RequestAdmission['passOn']>[0] | undefined;
  let isClosing = false;
  server.addHook('preClose', async () => {
    isClosing = true;
  });
  const refuseUnless = (hasRoom: boolean | undefined, problem = overloaded): void => {
    if (hasRoom !== false) return;
    logOverload();
    throw problem;
  };
  const checkKey: RequestAdmission['checkKey'] = ({ arrival, ticket, socket, bytes }) => {
    const appNo = arrival?.caller?.key.appNo;
    // The next request of the connection is likely to be of the same app, and can then be refused
    // without a key lookup.
    socket.publisher = appNo;
    if (appNo !== undefined) refuseUnless(ticket.ownedBy(appNo), tooManyOfApp);
    refuseUnless(ticket.expect(bytes));
  };
  const enter: RequestAdmission['enter'] = ({ kind, operation }, bytes, { publisher }) => {
    const ticket = admission.enter(kind, bytes, publisher);
    if (ticket !== undefined) return ticket;
    const { status, code } = overloaded;
    deps.onAnswered({ operation, status, tookMs: 0, code });
    logOverload();
    return undefined;
  };
  const refuse: RequestAdmission['refuse'] = async (id) => refusalInTurn(admission, id);
  // After authentication: the body of a request without a valid key is never read, so it takes no
  // bytes from others.
  server.addHook('preParsing', (request, _reply, _payload, done) => {
    const { arrival, raw } = request;
    const { ticket, socket } = raw;
    if (ticket !== undefined) {
      checkKey({ arrival, ticket, socket, bytes: bodyBytesOf(request) });
    }
    done();
  });
  server.addHook('preHandler', ({ raw: { ticket } }, _reply, done) => {
    refuseUnless(ticket?.begin());
    if (ticket === undefined) done();
    else awaitTurn(ticket, { logOverload, done });
  });
  server.addHook('onSend', countUnread);
  // Called below once a request is admitted. Other listeners for requests stay.
  // oxlint-disable-next-line typescript/unbound-method -- It is the listener itself that goes.
  server.server.off('request', server.routing);
  server.server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (isTaken?.(request, response) === true) return;
    const requestClass = classify(request.method ?? '', request.url ?? '');
    if (requestClass !== undefined) {
      const ticket = enter(requestClass, bodyBytes(request, limits.bodyBytesMax), request.socket);
      if (ticket === undefined) {
        const id = readRequestId(request.headers['x-request-id']) ?? withPrefix('req', newId());
        void refuse(id).then((reply) => sendRefusal(response, { id, reply, isClosing }));
        return;
      }
      request.ticket = ticket;
      response.on('close', () => ticket.finish());
    }
    server.routing(request, response);
  });
  return { enter, refuse, checkKey, refuseUnless, passOn: (take) => void (isTaken = take) };
}

/** Counts the answer as work until the client has read it. */
function countUnread(
  request: FastifyRequest,
  _reply: FastifyReply,
  payload: unknown,
  done: () => void,
): void {
  const { raw } = request;
  const cut = (): void => void raw.socket.destroy();
  raw.ticket?.answer({ bytes: answerBytes(payload), isPublic: !hasKey(request), cut });
  done();
}

/** Calls `done` when the work may begin; never if the client leaves before. */
function awaitTurn(
  ticket: Ticket,
  { logOverload, done }: { logOverload: () => void; done: (refusal?: Problem) => void },
): void {
  ticket.turn((verdict) => {
    if (verdict === 'begin') {
      done();
      return;
    }
    logOverload();
    done(overloaded);
  });
}

// Shared, because creating an error captures a stack, the most expensive part of a refusal.
const overloaded = new Problem(
  'overloaded',
  'The service is overloaded. The request was not processed: try again later, at a lower rate',
);

const tooManyOfApp = new Problem(
  'overloaded',
  'The app has too many requests of this kind in progress: its share of this node is ' +
    'used up. The request was not processed: try again later, with fewer at a time',
);

const retryLater = { 'retry-after': '1' };
const refusalHeaders = Object.entries({
  ...answerHeaders,
  'content-type': `${problemMediaType}; charset=utf-8`,
  ...retryLater,
}).flat();

async function refusalInTurn(admission: Admission, id: string): Promise<ProblemReply> {
  await admission.refusalTurn();
  const body = JSON.stringify(problemBody(overloaded, id));
  const { status } = overloaded;
  return { status, headers: retryLater, mediaType: problemMediaType, body };
}

function sendRefusal(
  response: ServerResponse,
  { id, reply, isClosing }: { id: string; reply: ProblemReply; isClosing: boolean },
): void {
  const { body, status } = reply;
  const head = [...refusalHeaders, 'x-request-id', id, 'content-length', `${body.length}`];
  response.writeHead(status, isClosing ? [...head, 'connection', 'close'] : head);
  response.end(body);
}

/**
 * The announced size. A body of unknown length counts as the largest possible one; reads have none.
 */
function bodyBytes({ method, headers }: IncomingMessage, most: number): number {
  if (method === 'GET' || method === 'HEAD') return 0;
  if (headers['transfer-encoding'] !== undefined) return most;
  const length = Number(headers['content-length'] ?? 0);
  return Math.min(Number.isNaN(length) ? 0 : length, most);
}

/**
 * Fastify builds routeOptions on every access, so it is skipped for small bodies: no route has a
 * lower limit.
 */
function bodyBytesOf(request: FastifyRequest): number {
  const bytes = bodyBytes(request.raw, Infinity);
  return bytes <= limits.smallBodyBytes ? bytes : Math.min(bytes, request.routeOptions.bodyLimit);
}

/** The size of a complete answer; streams have limits of their own. */
function answerBytes(payload: unknown): number {
  if (typeof payload === 'string') return payload.length;
  return payload instanceof Uint8Array ? payload.byteLength : 0;
}

/** Logs one line a second, however many requests are refused. */
function createOverloadLog({ admission, world, log }: AdmissionDeps): () => void {
  let saidMs = -Infinity;
  let since = 0;
  return () => {
    since += 1;
    const nowMs = world.monotonicMs();
    if (nowMs - saidMs < limits.overloadSayMs) return;
    saidMs = nowMs;
    log.warn({ turnedAway: since, ...admission.statistics() }, 'overloaded');
    since = 0;
  };
}

export interface RequestClass {
  kind: LoadKind;
  /** Undefined if only routing would tell. */
  operation: string | undefined;
}

/** Undefined: always admitted, because it reports on the service or has limits of its own. */
type Classify = (method: string, url: string) => RequestClass | undefined;

const alwaysAdmitted = new Set(['getHealth', 'getReadiness', 'getMetrics', 'openStream']);
const publishing = new Set(['publishEvent', 'publishEvents']);

/** By the literal method and path, so that refused requests cost no routing. */
function requestClassifier({ management, executed }: Contracts): Classify {
  const known = new Map<string, RequestClass | undefined>();
  // Methods of publishing, for paths whose spelling the router would normalize.
  const byMethod = new Map<string, RequestClass>();
  for (const { operationId: operation, method, path } of management.operations) {
    if (publishing.has(operation)) {
      known.set(`${method} ${path}`, { kind: 'publish', operation });
      byMethod.set(method, { kind: 'publish', operation: undefined });
    }
    if (!alwaysAdmitted.has(operation)) continue;
    known.set(`${method} ${path}`, undefined);
    if (method === 'GET') known.set(`HEAD ${path}`, undefined);
  }
  const unsubscribes = unsubscribesOf(executed);
  return (method, url) => {
    const mark = url.indexOf('?');
    const path = mark < 0 ? url : url.slice(0, mark);
    const name = `${method} ${path}`;
    if (known.has(name)) return known.get(name);
    const spelled = isOddlySpelled(path) ? byMethod.get(method) : undefined;
    if (spelled !== undefined) return spelled;
    const unsubscribe = unsubscribes.find((one) => one.method === method && one.matches(path));
    return unsubscribe?.requestClass ?? others.get(method) ?? change;
  };
}

/** The router decodes the path, and ignores an origin before it and a fragment after it. */
function isOddlySpelled(path: string): boolean {
  return !path.startsWith('/') || path.includes('%') || path.includes('#');
}

interface UnsubscribeRoute {
  method: string;
  matches: (path: string) => boolean;
  requestClass: RequestClass;
}

function unsubscribesOf(executed: Contracts['executed']): UnsubscribeRoute[] {
  return executed.flatMap(({ operations }) =>
    operations
      .filter(({ role }) => role.kind === 'unsubscribe')
      .map(({ operationId: operation, method, path }) => ({
        method,
        matches: routeOf(path).matches,
        requestClass: { kind: 'end', operation },
      })),
  );
}

const read: RequestClass = { kind: 'read', operation: undefined };
const change: RequestClass = { kind: 'change', operation: undefined };
const others = new Map<string, RequestClass>([
  ['GET', read],
  ['HEAD', read],
  ['DELETE', { kind: 'end', operation: undefined }],
]);
