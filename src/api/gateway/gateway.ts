// The gateway: takes the requests that are not for Ringback itself, and passes them on to the API behind it. It must
// never need the store for them.
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
import { beginTrace } from '../../engine/publish/trace.ts';
import { problemReply } from '../request/problem.ts';
import { pathAndQuery } from '../request/raw-request.ts';
import {
  logRequest,
  note,
  notePassing,
  type LogNotes,
  type RequestLog,
} from '../request/request-log.ts';
import { routeOf } from '../request/route.ts';
import { answerHeaders, hostFault, readRequestId } from '../server/server.ts';
import { forwardHeaders } from './forward-headers.ts';
import { relay, type RelayDeps } from './relay.ts';
import type { Upstream } from './upstream.ts';

export interface GatewayDeps extends RequestLog {
  world: RequestLog['world'] & Pick<World, 'randomBytes'>;
  upstream: Upstream;
  timeoutMs: number;
  deadlines: Deadlines;
  contracts: Pick<Contracts, 'prefix' | 'executed' | 'management'>;
  trustProxy: boolean;
  newId: () => string;
}

/** Returns false if the request is for Ringback itself. */
export type Gateway = (request: IncomingMessage, response: ServerResponse) => boolean;

export function createGateway(server: FastifyInstance, deps: GatewayDeps): Gateway {
  const isOwn = ownRequests(deps.contracts);
  let isClosing = false;
  server.addHook('preClose', async () => {
    isClosing = true;
  });
  const relaying: RelayDeps = { ...deps, isClosing: () => isClosing };
  return (request, response) => {
    if (isOwn(request.method ?? '', request.url ?? '')) {
      limitReceiving(server, deps.deadlines, request);
      return false;
    }
    passOn(deps, relaying, { request, response });
    return true;
  };
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
    const target = pathAndQuery(url);
    if (!target.startsWith('/')) return true;
    const path = target.split(/[?#]/u, 1)[0] ?? '';
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

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
}

function passOn(deps: GatewayDeps, relaying: RelayDeps, { request, response }: Exchange): void {
  const id = readRequestId(request.headers['x-request-id']) ?? withPrefix('req', deps.newId());
  const notes: LogNotes = {
    startedMs: deps.world.monotonicMs(),
    facts: { operation: 'passThrough' },
    span: undefined,
  };
  const logged = { id, method: request.method ?? '', notes };
  // It may take longer to answer than a connection may be silent. Node sets this again for the next request.
  request.socket.setTimeout(0);
  response.on('close', () => {
    const status = response.headersSent ? response.statusCode : callerLeft;
    logRequest(deps, { request: logged, status });
  });
  const refuse = (problem: Problem): void => {
    const { status, headers, mediaType, body } = problemReply(problem, logged);
    response.writeHead(status, {
      ...answerHeaders,
      ...headers,
      'content-type': `${mediaType}; charset=utf-8`,
      'content-length': Buffer.byteLength(body),
      'x-request-id': id,
      ...(request.complete ? {} : { connection: 'close' }),
    });
    response.end(body);
  };
  const fault = faultOf(request);
  if (fault !== undefined) {
    refuse(fault);
    return;
  }
  const { upstream, trustProxy } = deps;
  // Not by its class: most services have no TLS, and loading it takes a tenth of a start.
  const isSecure = 'encrypted' in request.socket;
  const trace = traceLines(deps, request, logged);
  const { host, basePath } = upstream;
  relay(relaying, {
    request,
    response,
    headers: forwardHeaders(request, { host, trustProxy, isSecure, requestId: id, trace, own: [] }),
    path: basePath + pathAndQuery(request.url ?? '/'),
    refuse,
    onBroken: (err) => note(logged, { err }),
  });
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
  logged: { notes: LogNotes },
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
