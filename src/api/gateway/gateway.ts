// The gateway: takes the requests that are not for Ringback itself, and passes them on to the API behind it. It must
// never need the store for those that it only passes on.
import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Contracts } from '../../contract/compile/contracts.ts';
import { servedOf } from '../../contract/compile/contracts.ts';
import { withPrefix } from '../../core/base/id.ts';
import { limits } from '../../core/limits/limits.ts';
import { Problem } from '../../core/errors/problem.ts';
import { readTrace, traceparentOf } from '../../core/telemetry/trace.ts';
import type { World } from '../../core/base/world.ts';
import type { Deadlines } from '../../egress/http/deadlines.ts';
import type { Identifier } from '../../engine/access/identify.ts';
import { beginTrace } from '../../engine/publish/trace.ts';
import {
  apiOperations,
  operationFinder,
  type RequestedOperation,
} from '../operations/exchanges.ts';
import { served, type Served } from '../operations/operation.ts';
import type { IncomingRequest } from '../operations/read-call.ts';
import { problemReply, type ProblemReply } from '../request/problem.ts';
import { pathAndQuery } from '../request/raw-request.ts';
import {
  logRequest,
  note,
  notePassing,
  type LoggedRequest,
  type LogNotes,
  type RequestLog,
} from '../request/request-log.ts';
import { routeOf } from '../request/route.ts';
import { answerHeaders, hostFault, readRequestId } from '../server/server.ts';
import { forwardHeaders } from './forward-headers.ts';
import { register, type RegisterDeps, type Registering } from './register.ts';
import { relay, type RelayDeps, type Upstream } from './relay.ts';

export interface GatewayDeps extends RequestLog, Omit<RegisterDeps, 'kept'> {
  world: RequestLog['world'] & Pick<World, 'randomBytes'>;
  identifier: Identifier;
  upstream: Upstream;
  timeoutMs: number;
  deadlines: Deadlines;
  contracts: Pick<Contracts, 'prefix' | 'executed' | 'management'>;
  trustProxy: boolean;
}

/** Returns false if the request is for Ringback itself. */
export type Gateway = (request: IncomingMessage, response: ServerResponse) => boolean;

export function createGateway(server: FastifyInstance, given: GatewayDeps): Gateway {
  const deps: PassingDeps = { ...given, kept: { bytes: 0 } };
  const isOwn = ownRequests(deps.contracts);
  let isClosing = false;
  server.addHook('preClose', async () => {
    isClosing = true;
  });
  const relaying: RelayDeps = { ...deps, isClosing: () => isClosing };
  const find = registeredOperations(deps);
  return (request, response) => {
    const { method = '', url = '' } = request;
    const isForRingback = isOwn(method, url);
    const known = isForRingback ? undefined : find(method, pathOf(url));
    if (isForRingback || known?.found.operation.role.kind === 'subscribe') {
      limitReceiving(server, deps.deadlines, request);
    }
    if (!isForRingback) passOn(deps, relaying, { request, response, known });
    return !isForRingback;
  };
}

/** An operation of a document that Ringback does more for than passing it on. */
interface Known {
  found: RequestedOperation;
  served: Served;
}

function registeredOperations(
  deps: GatewayDeps,
): (method: string, path: string) => Known | undefined {
  const operations = apiOperations(deps.contracts);
  const find = operationFinder(operations);
  const all = new Map(
    operations
      .filter(({ operation }) => deps.auth === 'keys' || operation.role.kind !== 'managed')
      .map(({ operation }) => [operation, served(operation, notAnswered, deps)]),
  );
  return (method, path) => {
    // Most servers answer HEAD wherever they answer GET.
    const found = find(method, path) ?? (method === 'HEAD' ? find('GET', path) : undefined);
    const known = found && all.get(found.operation);
    return found && known && { found, served: known };
  };
}

async function notAnswered(): Promise<never> {
  assert.fail('The API answers this operation');
}

function pathOf(url: string): string {
  return pathAndQuery(url).split(/[?#]/u, 1)[0] ?? '';
}

/** By method and path as they are spelled: another spelling of a path of Ringback is a path of the API. */
function ownRequests({
  prefix,
  executed,
  management,
}: GatewayDeps['contracts']): (method: string, url: string) => boolean {
  const routes = executed
    .filter((contract) => contract !== management)
    .flatMap((contract) =>
      servedOf(contract).map(({ method, path }) => ({ method, ...routeOf(path) })),
    );
  return (method, url) => {
    const path = pathOf(url);
    if (!path.startsWith('/')) return true;
    if (path === prefix || path.startsWith(`${prefix}/`)) return true;
    return routes.some((one) => one.method === method && one.matches(path));
  };
}

/**
 * With an API behind it, the server has no limit for the time of a whole request, because uploads to the API may
 * take long. Requests for Ringback itself keep theirs.
 */
function limitReceiving(
  { server }: FastifyInstance,
  deadlines: Deadlines,
  request: IncomingMessage,
): void {
  if (request.complete || request.method === 'GET' || request.method === 'HEAD') return;
  const deadline = deadlines.set(limits.requestTimeoutMs, {
    expire: () => {
      if (request.complete || request.destroyed) return;
      const error = Object.assign(new Error('Too slow'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
      server.emit('clientError', error, request.socket);
    },
  });
  const clear = (): void => deadlines.clear(deadline);
  request.once('end', clear);
  request.once('close', clear);
}

type PassingDeps = GatewayDeps & RegisterDeps;

interface Passing {
  request: IncomingMessage;
  response: ServerResponse;
  known: Known | undefined;
}

function passOn(
  deps: PassingDeps,
  relaying: RelayDeps,
  { request, response, known }: Passing,
): void {
  const logged = beginLog(deps, request);
  // It may take longer to answer than a connection may be silent. Node sets this again for the next request.
  request.socket.setTimeout(0);
  response.on('close', () => {
    const status = response.headersSent ? response.statusCode : callerLeft;
    logRequest(deps, { request: logged, status });
  });
  const passing = { request, response, logged };
  const refuse = (problem: Problem): void => answer(passing, problemReply(problem, logged));
  const fault = faultOf(request);
  if (fault !== undefined) {
    refuse(fault);
    return;
  }
  const { upstream, trustProxy } = deps;
  const trace = traceLines(deps, request, logged);
  const { host, basePath } = upstream;
  const { id: requestId, protocol } = logged;
  const forwarding = { host, trustProxy, isSecure: protocol === 'https', requestId, trace };
  const send = ({ own, body, hold }: Registering): void => {
    relay(relaying, {
      request,
      response,
      headers: forwardHeaders(request, { ...forwarding, own }),
      path: basePath + pathAndQuery(request.url ?? '/'),
      body,
      hold,
      refuse,
      onBroken: (err) => note(logged, { err }),
    });
  };
  if (known === undefined) {
    send({ own: [], body: undefined, hold: undefined });
    return;
  }
  const { found, served: own } = known;
  note(logged, { operation: found.operation.operationId });
  register(deps, { found, served: own, request, response, logged }).then(
    (registering) => registering && send(registering),
    (error: unknown) => answer(passing, own.refuse(logged, error)),
  );
}

function beginLog({ context, world }: GatewayDeps, request: IncomingMessage): IncomingRequest {
  const { method = '', url = '', headers, socket } = request;
  const notes: LogNotes = {
    startedMs: world.monotonicMs(),
    facts: { operation: 'passThrough' },
    span: undefined,
  };
  return {
    id: readRequestId(headers['x-request-id']) ?? withPrefix('req', context.newId()),
    method,
    url,
    params: undefined,
    // Not by its class: most services have no TLS, and loading it takes a tenth of a start.
    protocol: 'encrypted' in socket ? 'https' : 'http',
    arrival: undefined,
    body: undefined,
    notes,
  };
}

function answer(
  { request, response, logged }: Omit<Passing, 'known'> & { logged: IncomingRequest },
  { status, headers, mediaType, body }: ProblemReply,
): void {
  response.writeHead(status, {
    ...answerHeaders,
    ...headers,
    'content-type': `${mediaType}; charset=utf-8`,
    'content-length': Buffer.byteLength(body),
    'x-request-id': logged.id,
    ...(request.complete ? {} : { connection: 'close' }),
  });
  response.end(body);
}

/** As proxies log a caller that left before the answer. */
const callerLeft = 499;

/** Why a request cannot be passed on without a doubt about where it ends, or to whom it is addressed. */
function faultOf(request: IncomingMessage): Problem | undefined {
  const { headers, httpVersion, url = '' } = request;
  const host = hostFault(request);
  if (host !== undefined) return new Problem('malformed_request', host);
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || httpVersion !== '1.1')) {
    const detail = `Transfer-Encoding is ${JSON.stringify(coding)} in HTTP/${httpVersion}, expected chunked in HTTP/1.1`;
    return new Problem('malformed_request', detail);
  }
  const authority = /^https?:\/\/([^/?#]*)/i.exec(url)?.[1];
  if (authority !== undefined && authority.toLowerCase() !== headers.host?.toLowerCase()) {
    const detail = 'The request target and the Host header name different hosts, expected one';
    return new Problem('malformed_request', detail);
  }
  const protocol = headers.upgrade;
  // RFC 9110, 7.8: a server may ignore an upgrade. Clients that offer HTTP/2 expect that.
  if (protocol === undefined || /^h2c\b/i.test(protocol)) return undefined;
  if (!/\bupgrade\b/i.test(headers.connection ?? '')) return undefined;
  const detail = `Cannot switch to ${JSON.stringify(protocol.slice(0, 64))}: this gateway passes on HTTP requests only`;
  return new Problem('upgrade_not_supported', detail);
}

/** The caller's own trace headers are passed on as they are, unless this node adds a span. */
function traceLines(
  { tracer, world }: GatewayDeps,
  { headers }: IncomingMessage,
  logged: LoggedRequest,
): [string, string][] {
  const { traceparent, tracestate } = headers;
  if (typeof traceparent !== 'string' && tracer === undefined) return [];
  const given = Object.entries({ traceparent, tracestate }).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value] as const] : [],
  );
  const trace = beginTrace({ tracer, world }, readTrace(new Map(given)));
  if (trace === undefined) return [];
  notePassing(logged, trace);
  if (tracer === undefined) return [];
  const { context } = trace;
  const parent: [string, string] = ['traceparent', traceparentOf(context)];
  return context.state === undefined ? [parent] : [parent, ['tracestate', context.state]];
}
