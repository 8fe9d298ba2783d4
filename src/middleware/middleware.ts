// `ringback/middleware`: tells Ringback what an API in Node answered to operations with callbacks, so that it registers
// them, and adds the id of the subscription to the answer. Must never change anything else of an answer, nor fail a
// request because Ringback does.
import {
  describesBody,
  holdAnswer,
  readBytes,
  type NodeResponse,
  type Sent,
} from './held-answer.ts';
import { createRegistrar, type MiddlewareOptions, type Registrar } from './registrar.ts';

export type { NodeResponse } from './held-answer.ts';
export type { Exchange, MiddlewareOptions } from './registrar.ts';

/** The parts of a request of `node:http`, Express, Fastify and the like that are used here. */
export interface NodeRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly originalUrl?: string | undefined;
  readonly protocol?: string | undefined;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** As parsed by the program. */
  readonly body?: unknown;
}

/** For Express: `app.use(ringbackExpress(options))`, before the routes. */
export function ringbackExpress(
  options: MiddlewareOptions,
): (request: NodeRequest, response: NodeResponse, next: () => void) => void {
  const registrar = createRegistrar(options);
  return (request, response, next) => {
    holdIfMeant(registrar, request, response);
    next();
  };
}

/** The parts of a Fastify instance that are used here. */
export interface FastifyLike {
  addHook: (
    name: 'onRequest',
    hook: (request: NodeRequest, reply: { raw: NodeResponse }, done: () => void) => void,
  ) => unknown;
}

/** For Fastify: `app.register(ringbackFastify, options)`, before the routes. */
export function ringbackFastify(
  instance: FastifyLike,
  options: MiddlewareOptions,
  done: () => void,
): void {
  const registrar = createRegistrar(options);
  instance.addHook('onRequest', (request, reply, next) => {
    holdIfMeant(registrar, request, reply.raw);
    next();
  });
  done();
}
// Hooks of a plugin are for its own routes only, unless it says this.
Object.defineProperty(ringbackFastify, Symbol.for('skip-override'), { value: true });

/**
 * For handlers of the fetch standard. Hono: `ringbackFetch(options, app.fetch)`. Next.js:
 * `export const POST = ringbackFetch(options, async (request) => …)`.
 */
export function ringbackFetch<Given extends Request, Rest extends readonly unknown[]>(
  options: MiddlewareOptions,
  handler: (request: Given, ...rest: Rest) => Response | Promise<Response>,
): (request: Given, ...rest: Rest) => Promise<Response> {
  const registrar = createRegistrar(options);
  return async (request, ...rest) => {
    const { method, url } = request;
    const { pathname: path } = new URL(url);
    if (!registrar.isMeant(method, path)) return handler(request, ...rest);
    const { bodyBytesMax: bytesMax, timeoutMs } = registrar;
    const ending = new AbortController();
    const copy = readBytes(request.clone().body, { bytesMax, signal: ending.signal });
    const response = await handler(request, ...rest);
    const { status } = response;
    if (!isAccepted(method, status)) return response;
    const signal = AbortSignal.timeout(timeoutMs);
    signal.addEventListener('abort', () => ending.abort());
    const body = await readBytes(response.clone().body, { bytesMax, signal });
    if (typeof body === 'string')
      return sendOff(response, registrar.unheld({ method, path }, body));
    const given = await copy;
    if (typeof given === 'string')
      return sendOff(response, registrar.unheld({ method, path }, given));
    const asked = { method, path, url, headers: Object.fromEntries(request.headers), body: given };
    const headers = Object.fromEntries(response.headers);
    return sendOff(response, await registrar.register(asked, { status, headers, body }));
  };
}

function sendOff(response: Response, sent: Sent): Response {
  if (sent.kind === 'instead') {
    const kept = [...response.headers].filter(([name]) => !describesBody(name));
    const headers = [...kept, ['content-type', sent.contentType] as [string, string]];
    return new Response(sent.body, { status: sent.status, headers });
  }
  if (sent.header === undefined) return response;
  try {
    response.headers.set(...sent.header);
    return response;
  } catch {
    // The headers of a response that came from fetch are immutable.
    const own = new Response(response.body, response);
    own.headers.set(...sent.header);
    return own;
  }
}

function holdIfMeant(registrar: Registrar, request: NodeRequest, response: NodeResponse): void {
  const { method = '', headers } = request;
  const target = request.originalUrl ?? request.url ?? '';
  const path = target.replace(/[?#].*$/s, '');
  if (!registrar.isMeant(method, path)) return;
  const host = headers['host'] ?? 'localhost';
  const url = `${request.protocol ?? 'http'}://${String(host)}${target}`;
  holdAnswer(response, {
    bytesMax: registrar.bodyBytesMax,
    withinMs: registrar.timeoutMs,
    isHeld: (status) => isAccepted(method, status),
    complete: async (answer) => {
      const asked = { method, path, url, headers: plain(headers), body: request.body };
      return registrar.register(asked, answer);
    },
    unheld: (why) => registrar.unheld({ method, path }, why),
  });
}

/** Other answers register nothing, and end nothing. What is gone for a DELETE has ended, too. */
function isAccepted(method: string, status: number): boolean {
  const isGone = method === 'DELETE' && (status === 404 || status === 410);
  return (status >= 200 && status < 300) || isGone;
}

function plain(headers: NodeRequest['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)]],
    ),
  );
}
