// Serves plain publish requests, by far the most frequent ones on a busy service, without Node's
// HTTP server and Fastify. All other requests take the regular path, which handles all of HTTP.
//
// The HTTP part of a request takes a third of the CPU time that it takes in Fastify, and half of
// that in node:http (docs/decisions/0022-plain-publishes-are-served-directly.md).
import { strict as assert } from 'node:assert';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { withPrefix } from '../../core/base/id.ts';
import type { World } from '../../core/base/world.ts';
import { limits } from '../../core/limits/limits.ts';
import type { Ticket } from '../../engine/admission/admission.ts';
import { bodyBytesMaxOf } from '../operations/authenticate.ts';
import type { Served } from '../operations/operation.ts';
import type { IncomingRequest } from '../operations/read-call.ts';
import type { Reply } from '../request/call.ts';
import { readHead } from '../request/raw-request.ts';
import { hasKey, logRequest, type RequestLog } from '../request/request-log.ts';
import type { RequestAdmission } from '../server/refuse-overload.ts';
import type { Connections, TrackedRequest } from '../server/connections.ts';
import { readRequestId, answerHeaders } from '../server/server.ts';
import { DirectConnection, type Answer } from './connection.ts';
import type { Head, WholeRequest } from './read-whole.ts';

export interface DirectDeps extends RequestLog {
  newId: () => string;
  requestAdmission: RequestAdmission;
  connections: Connections;
  /** All mounted operations. */
  served: readonly Served[];
}

/**
 * Operations that are called thousands of times a second and answer with text. A foreign contract
 * cannot declare one.
 */
function isDirect({ operation: { role, method, operationId } }: Served): boolean {
  const isPublish = operationId === 'publishEvent' || operationId === 'publishEvents';
  return role.kind === 'managed' && method === 'POST' && isPublish;
}

/** Call before the server listens. */
export function serveDirectly(server: FastifyInstance, deps: DirectDeps): void {
  const byPath = new Map(deps.served.filter(isDirect).map((one) => [one.operation.path, one]));
  const http = server.server;
  // The first listener is Node's own.
  const [toNode] = http.listeners('connection');
  if (byPath.size === 0 || toNode === undefined) return;
  const open = new Map<Socket, DirectConnection>();
  const printAnswer = createPrintAnswer(deps.world);
  let isClosing = false;
  const handOver = (socket: Socket): void => {
    open.delete(socket);
    deps.connections.handedOver(socket);
    toNode.call(http, socket);
  };
  const serving = {
    serve: (request: WholeRequest, socket: Socket) => {
      const one = byPath.get(request.head.path);
      if (one === undefined || request.body.length > bodyBytesMaxOf(one.operation))
        return undefined;
      return answer(deps, {
        one,
        whole: request,
        socket,
        printAnswer,
        isClosing: () => isClosing,
      });
    },
    handOver,
    breakOff: (socket: Socket) => {
      const error = Object.assign(new Error('The request has no end'), {
        code: 'HPE_INVALID_EOF_STATE',
      });
      http.emit('clientError', error, socket);
    },
    onError: (err: unknown) => deps.log.error({ err }, 'request failed'),
  };
  http.off('connection', toNode);
  http.on('connection', (socket: Socket) => {
    if (socket.destroyed) return; // It was refused for lack of room.
    if (isClosing) {
      handOver(socket);
      return;
    }
    open.set(socket, new DirectConnection(socket, serving));
    socket.once('close', () => open.delete(socket));
  });
  server.addHook('preClose', async () => {
    isClosing = true;
    for (const connection of open.values()) connection.close();
  });
}

interface Asked {
  one: Served;
  whole: WholeRequest;
  socket: Socket;
  printAnswer: PrintAnswer;
  isClosing: () => boolean;
}

/** Not async: a refusal may have to wait, and must not keep the body in memory until then. */
function answer(deps: DirectDeps, asked: Asked): Promise<Answer> {
  const { one, whole, socket } = asked;
  const { method, operationId } = one.operation;
  const { requestAdmission, connections, newId } = deps;
  const { url, headersDistinct } = whole.head;
  const given = headersDistinct['x-request-id']?.join(', ');
  const id = readRequestId(given) ?? withPrefix('req', newId());
  const tracked = connections.trackRequest(socket);
  const printing = { id, tracked, printAnswer: asked.printAnswer, isClosing: asked.isClosing };
  const requestClass = { kind: 'publish', operation: operationId } as const;
  const ticket = requestAdmission.enter(requestClass, whole.body.length, socket);
  if (ticket === undefined) return refuse(requestAdmission, printing);
  const request: IncomingRequest = {
    id,
    method,
    url,
    params: undefined,
    protocol: 'http', // No publish operation reads it.
    arrival: undefined,
    body: whole.body,
    notes: { startedMs: deps.world.monotonicMs(), facts: {}, span: undefined },
  };
  return admit(deps, request, {
    ...printing,
    one,
    requestAdmission,
    ticket,
    head: whole.head,
    socket,
  });
}

interface Printing {
  id: string;
  tracked: TrackedRequest;
  printAnswer: PrintAnswer;
  isClosing: () => boolean;
}

async function refuse(requestAdmission: RequestAdmission, printing: Printing): Promise<Answer> {
  const printed = print(await requestAdmission.refuse(printing.id), printing);
  return { ...printed, onSent: () => printing.tracked.end() };
}

async function admit(
  deps: DirectDeps,
  request: IncomingRequest,
  admitted: Printing & LetIn,
): Promise<Answer> {
  const { ticket, tracked, socket } = admitted;
  const over = (): void => {
    ticket.finish();
    tracked.end();
  };
  const reply = await replyTo(request, admitted);
  try {
    const printed = print(reply, admitted);
    const cut = (): void => void socket.destroy();
    ticket.answer({ bytes: printed.bodyBytes, isPublic: !hasKey(request), cut });
    const onSent = (): void => {
      over();
      logRequest(deps, { request, status: reply.status });
    };
    return { ...printed, onSent };
  } catch (error) {
    over(); // No answer will be sent, so the request must not stay counted.
    throw error;
  }
}

function print(
  reply: Reply,
  { id, tracked, printAnswer, isClosing }: Printing,
): Printed & { isLast: boolean } {
  const isLast = tracked.isLast || isClosing();
  return { ...printAnswer(reply, { requestId: id, isLast }), isLast };
}

interface LetIn {
  one: Served;
  requestAdmission: RequestAdmission;
  ticket: Ticket;
  head: Head;
  socket: Socket;
}

/** The same steps as on the regular path (mount.ts, refuse-overload.ts). */
async function replyTo(request: IncomingRequest, letIn: LetIn): Promise<Reply> {
  const { one, requestAdmission, ticket, head, socket } = letIn;
  try {
    head.raw ??= readHead({ ...head, socket, hasBody: true });
    const arriving = one.arrive(request, head.raw);
    if (arriving !== undefined) await arriving;
    const bytes = request.body instanceof Uint8Array ? request.body.length : 0;
    requestAdmission.checkKey({ arrival: request.arrival, ticket, socket, bytes });
    requestAdmission.refuseUnless(ticket.begin());
    if (bytes > limits.smallBodyBytes) await turnOf(ticket);
    return await one.answer(request);
  } catch (error) {
    return one.refuse(request, error);
  }
}

/** Small publishes never wait for a turn, and are spared the promise. */
async function turnOf(ticket: Ticket): Promise<void> {
  return new Promise((resolve) => ticket.turn(() => resolve()));
}

// Serializes an answer as HTTP/1.1, with the headers of every answer.

interface Printed {
  text: string;
  encoding: 'latin1' | 'utf8';
  bodyBytes: number;
}

type PrintAnswer = (reply: Reply, about: { requestId: string; isLast: boolean }) => Printed;

const always = Object.entries(answerHeaders).map(([name, value]) => `${name}: ${value}\r\n`);
const [closes, stays] = [
  'connection: close\r\n',
  `connection: keep-alive\r\nkeep-alive: timeout=${limits.keepAliveTimeoutMs / 1000}\r\n`,
];
/** Characters that a header value may hold; any other could end the header. */
const plainValue = /^[\t -~]*$/;

function createPrintAnswer(world: Pick<World, 'nowMs'>): PrintAnswer {
  const dateOf = createDates();
  return ({ status, headers = {}, body, mediaType }, { requestId, isLast }) => {
    const text = mediaType === undefined ? JSON.stringify(body) : body;
    assert(typeof text === 'string', 'An answer that is printed has a text');
    const bodyBytes = Buffer.byteLength(text);
    let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${always.join('')}`;
    for (const name in headers) {
      const value = headers[name] ?? '';
      assert(plainValue.test(value), `The header ${name} can be printed`);
      head += `${name}: ${value}\r\n`;
    }
    const type = `${mediaType ?? 'application/json'}; charset=utf-8`;
    head += `x-request-id: ${requestId}\r\ncontent-type: ${type}\r\ncontent-length: ${bodyBytes}\r\n`;
    head += `date: ${dateOf(world.nowMs())}\r\n${isLast ? closes : stays}\r\n`;
    return {
      text: head + text,
      encoding: bodyBytes === text.length ? 'latin1' : 'utf8',
      bodyBytes,
    };
  };
}

/** The Date header, cached for a second. */
function createDates(): (nowMs: number) => string {
  let [second, text] = [-1, ''];
  return (nowMs) => {
    const now = Math.floor(nowMs / 1000);
    if (now !== second) [second, text] = [now, new Date(nowMs).toUTCString()];
    return text;
  };
}
