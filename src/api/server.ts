// The HTTP server: limits, headers on every answer, request ids, problems, one log line a request.
// It knows no operation; mount.ts puts the contract's routes on it.
import type { Socket } from 'node:net';
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { withPrefix } from '../core/id.ts';
import { limits } from '../core/limits.ts';
import { Problem } from '../core/problem.ts';
import type { World } from '../core/world.ts';
import { problemBody, problemMediaType, toProblem } from './problem.ts';

export interface ServerOptions {
  log: Logger;
  world: Pick<World, 'monotonicMs'>;
  newId: () => string;
  trustProxy: boolean;
  tls: { cert: string; key: string } | undefined;
}

export function createServer(options: ServerOptions): FastifyInstance {
  const { newId, trustProxy, tls } = options;
  const server = fastify({
    ...(tls === undefined ? {} : { https: tls }),
    http: { maxHeaderSize: limits.headBytesMax, headersTimeout: limits.headersTimeoutMs },
    logger: false,
    trustProxy,
    bodyLimit: limits.bodyBytesMax,
    requestTimeout: limits.requestTimeoutMs,
    connectionTimeout: limits.connectionTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    maxRequestsPerSocket: limits.requestsPerSocketMax,
    forceCloseConnections: 'idle',
    genReqId: (request) =>
      readRequestId(request.headers['x-request-id']) ?? withPrefix('req', newId()),
    routerOptions: { maxParamLength: limits.urlBytesMax },
    frameworkErrors: (error, request, reply) => void sendProblem(toProblem(error), request, reply),
    clientErrorHandler: refuseBrokenRequest,
  });
  server.server.maxConnections = limits.connectionsMax;
  takeBodiesAsBytes(server);
  addHeaders(server);
  logRequests(server, options);
  server.setErrorHandler((error, request, reply) => sendProblem(toProblem(error), request, reply));
  return server;
}

export function sendProblem(
  problem: Problem,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  if (problem.status === 503) void reply.header('retry-after', '1');
  if (problem.status >= 500) note(request, { err: problem.cause ?? problem });
  return reply
    .code(problem.status)
    .type(problemMediaType)
    .send(JSON.stringify(problemBody(problem, request.id)));
}

/** Facts about a request for its one log line. Never a URL, a header or a body. */
export function note(request: FastifyRequest, facts: Facts): void {
  notes.set(request, { ...notes.get(request), ...facts });
}

interface Facts {
  operation?: string;
  app?: string;
  key?: string;
  /** Why it failed on our side. */
  err?: unknown;
}

const notes = new WeakMap<FastifyRequest, Facts>();

/** Bytes are read as they come; what they mean is decided by the operation they are for. */
function takeBodiesAsBytes(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => {
    done(null, body);
  });
}

const answerHeaders = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  vary: 'Origin, Sec-Fetch-Site',
};

function addHeaders(server: FastifyInstance): void {
  server.addHook('onRequest', async (request, reply) => {
    void reply.headers({ ...answerHeaders, 'x-request-id': request.id });
  });
}

function logRequests(server: FastifyInstance, { log, world }: ServerOptions): void {
  const started = new WeakMap<FastifyRequest, number>();
  server.addHook('onRequest', async (request) => {
    started.set(request, world.monotonicMs());
  });
  server.addHook('onResponse', async (request, reply) => {
    const tookMs = world.monotonicMs() - (started.get(request) ?? world.monotonicMs());
    const facts = notes.get(request) ?? {};
    const line = {
      requestId: request.id,
      method: request.method,
      status: reply.statusCode,
      tookMs: Math.round(tookMs * 10) / 10,
      ...facts,
    };
    if (facts.err === undefined) log.info(line, 'request');
    else log.error(line, 'request failed');
  });
}

/** A caller's own id is kept if it can do no harm in a log. */
function readRequestId(given: string | string[] | undefined): string | undefined {
  return typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : undefined;
}

/** Bytes that are no HTTP request get an answer too, if there is somebody left to read it. */
function refuseBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (socket.destroyed || !socket.writable) return;
  const { problem, reason } = brokenRequest(error.code);
  const body = JSON.stringify(problemBody(problem, 'none'));
  const head = [
    `HTTP/1.1 ${problem.status} ${reason}`,
    `Content-Type: ${problemMediaType}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function brokenRequest(code: string | undefined): { problem: Problem; reason: string } {
  if (code === 'HPE_HEADER_OVERFLOW') {
    const detail = `The request head is larger than ${limits.headBytesMax} bytes`;
    const reason = 'Request Header Fields Too Large';
    return { problem: new Problem('head_too_large', detail), reason };
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    const detail = `The request was not complete after ${limits.requestTimeoutMs / 1000} seconds`;
    return { problem: new Problem('request_timeout', detail), reason: 'Request Timeout' };
  }
  const detail = 'The bytes received are no valid HTTP/1.1 request';
  return { problem: new Problem('malformed_request', detail), reason: 'Bad Request' };
}
