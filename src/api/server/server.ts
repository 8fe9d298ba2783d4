// The HTTP server: limits, headers of every answer, request ids, problems, one log line per
// request. It knows no operation; mount.ts adds the routes.
import { strict as assert } from 'node:assert';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { withPrefix } from '../../core/base/id.ts';
import type { World } from '../../core/base/world.ts';
import { Problem } from '../../core/errors/problem.ts';
import { limits } from '../../core/limits/limits.ts';
import {
  problemBody,
  problemMediaType,
  type ProblemReply,
  problemReply,
  toProblem,
} from '../request/problem.ts';
import { logRequest, logRequests, type RequestLog } from '../request/request-log.ts';
import { type Connections, trackConnections } from './connections.ts';

export interface ServerOptions extends RequestLog {
  newId: () => string;
  trustProxy: boolean;
  tls: { cert: string; key: string } | undefined;
  /** Requests to the API behind a gateway may take any time to arrive (gateway/gateway.ts). */
  isGateway?: boolean;
}

export interface Server {
  server: FastifyInstance;
  connections: Connections;
}

export function createServer(options: ServerOptions): Server {
  const { newId, trustProxy, tls } = options;
  const http = {
    maxHeaderSize: limits.headBytesMax,
    headersTimeout: limits.headersTimeoutMs,
    // The default is 30 s, by which a slow request could take up to 45 s instead of the promised
    // 15.
    connectionsCheckingInterval: limits.connectionsLookMs,
    requireHostHeader: false, // hostFault is answered with a problem.
  };
  const server = fastify({
    ...(tls === undefined
      ? { http }
      : { https: { ...http, ...tls, handshakeTimeout: limits.headersTimeoutMs } }),
    logger: false,
    schemaController: { compilersFactory: noSchemas },
    trustProxy,
    bodyLimit: limits.bodyBytesMax,
    requestTimeout: options.isGateway === true ? 0 : limits.requestTimeoutMs,
    connectionTimeout: limits.connectionTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    maxRequestsPerSocket: limits.requestsPerSocketMax,
    forceCloseConnections: 'idle',
    genReqId: (request) =>
      readRequestId(request.headers['x-request-id']) ?? withPrefix('req', newId()),
    routerOptions: { maxParamLength: limits.urlBytesMax },
    frameworkErrors: (error, request, reply) => {
      addHeaders(request, reply); // No hook runs for these.
      void sendProblem(toProblem(error), request, reply);
      logRequest(options, { request, status: reply.statusCode });
    },
    clientErrorHandler: (error, socket) =>
      connections.break(socket, () => refuseBrokenRequest(error, socket, options)),
  });
  const connections = trackConnections(server.server, options.world);
  // Unknown expectations are ignored; Node would refuse them with an empty answer.
  server.server.on('checkExpectation', (...call) => server.server.emit('request', ...call));
  takeBodiesAsBytes(server);
  // Hooks that await nothing take a callback: an async one costs a promise and three turns.
  server.addHook('onRequest', (request, reply, done) => {
    addHeaders(request, reply);
    done();
  });
  logRequests(server, options);
  closeAfterLastAnswer(server);
  server.addHook('onRequest', ({ raw }, _reply, done) => {
    const fault = hostFault(raw);
    if (fault !== undefined) throw new Problem('malformed_request', fault);
    done();
  });
  server.setErrorHandler((error, request, reply) => sendProblem(toProblem(error), request, reply));
  return { server, connections };
}

/** The contract validates, so Fastify must not load its schema compilers. */
const noSchemas = { buildValidator: refuseSchema, buildSerializer: refuseSchema };

function refuseSchema(): never {
  assert.fail('A route has a schema for Fastify, expected none');
}

export function sendProblem(
  problem: Problem,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  return sendRefusal(problemReply(problem, request), reply);
}

export function sendRefusal(refusal: ProblemReply, reply: FastifyReply): FastifyReply {
  const { status, headers, mediaType, body } = refusal;
  return reply.code(status).headers(headers).type(mediaType).send(body);
}

/** Bodies are read as bytes; the operation decides what they mean. */
function takeBodiesAsBytes(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  // JSON by name: for types that only match `*`, Fastify parses the media type on every request.
  const types = ['application/json', '*'];
  server.addContentTypeParser(types, { parseAs: 'buffer' }, (_request, body, done) => {
    done(null, body);
  });
}

export const answerHeaders = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  vary: 'Origin, Sec-Fetch-Site',
};

function addHeaders(request: FastifyRequest, reply: FastifyReply): void {
  void reply.headers({ ...answerHeaders, 'x-request-id': request.id });
}

/** RFC 9112, 3.2: exactly one Host header; HTTP/1.0 may have none. */
export function hostFault({ headersDistinct, httpVersion }: IncomingMessage): string | undefined {
  const count = headersDistinct['host']?.length ?? 0;
  if (count === 1 || (count === 0 && httpVersion === '1.0')) return undefined;
  return `The request has ${count} Host headers, expected one`;
}

/**
 * Requests in progress at a stop are answered; without this, their idle connections would delay the
 * stop.
 */
function closeAfterLastAnswer(server: FastifyInstance): void {
  let isClosing = false;
  server.addHook('preClose', async () => {
    isClosing = true;
  });
  server.addHook('onSend', (_request, reply, _payload, done) => {
    if (isClosing) void reply.header('connection', 'close');
    done();
  });
}

/** Keeps a caller's own id if it is harmless in a log. */
export function readRequestId(given: string | string[] | undefined): string | undefined {
  return typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : undefined;
}

/** Answers bytes that are not an HTTP request, if the client is still there. */
function refuseBrokenRequest(
  error: Error & { code?: string },
  socket: Socket,
  { log, newId, onAnswered }: ServerOptions,
): void {
  if (socket.destroyed || !socket.writable) return;
  const { problem, reason } = brokenRequest(error.code);
  const requestId = withPrefix('req', newId());
  const body = JSON.stringify(problemBody(problem, requestId));
  const head = [
    `HTTP/1.1 ${problem.status} ${reason}`,
    ...Object.entries(answerHeaders).map(([name, value]) => `${name}: ${value}`),
    `x-request-id: ${requestId}`,
    `content-type: ${problemMediaType}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  const { status, code } = problem;
  log.info({ requestId, status, code }, 'request');
  onAnswered?.({ operation: undefined, status, tookMs: 0, code });
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  // A client that is too slow would go on, and Node checks the time of a request only once.
  if (problem.code === 'request_timeout') socket.destroySoon();
  else socket.end();
}

function brokenRequest(code: string | undefined): { problem: Problem; reason: string } {
  if (code === 'HPE_HEADER_OVERFLOW') {
    const detail = `The request head is larger than ${limits.headBytesMax} bytes`;
    const reason = 'Request Header Fields Too Large';
    return { problem: new Problem('head_too_large', detail), reason };
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    const detail = `The request was not complete within ${limits.requestTimeoutMs / 1000} seconds`;
    return { problem: new Problem('request_timeout', detail), reason: 'Request Timeout' };
  }
  const detail = 'The bytes received are not a valid HTTP/1.1 request';
  return { problem: new Problem('malformed_request', detail), reason: 'Bad Request' };
}

// Where a server listens, and how it stops.

/** Current requests are finished, but only for a bounded time. */
export async function closeServer(
  { server, connections }: Server,
  world: Pick<World, 'sleep'>,
): Promise<void> {
  const closed = new AbortController();
  const giveUp = world.sleep(limits.stopTimeoutMs, closed.signal).then(
    () => connections.cutAll(),
    () => undefined, // Aborted: all were finished in time.
  );
  await server.close();
  closed.abort();
  await giveUp;
}

/** The URL for users on this machine. */
export function localUrl(
  server: FastifyInstance,
  { host, isTls }: { host: string; isTls: boolean },
): string {
  const scheme = isTls ? 'https' : 'http';
  const [address] = server.addresses();
  const isAny = host === '0.0.0.0' || host === '::';
  const name = isAny ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  const port = typeof address === 'object' ? address.port : 0;
  return `${scheme}://${name}:${port}`;
}
