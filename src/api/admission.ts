// Puts the door of engine/admission.ts before the server. Whoever is turned away costs as little as
// possible: no route, no key, no body, no log line of its own. Measured on one busy core: see
// docs/operations.md, "Limits".
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Contracts } from '../contract/contracts.ts';
import { withPrefix } from '../core/id.ts';
import { limits } from '../core/limits.ts';
import { Problem } from '../core/problem.ts';
import type { World } from '../core/world.ts';
import type { Admission, LoadKind, Ticket } from '../engine/admission.ts';
import { problemBody, problemMediaType } from './problem.ts';
import { answerHeaders, readRequestId } from './server.ts';

export interface DoorMeans {
  admission: Admission;
  contracts: Contracts;
  world: Pick<World, 'monotonicMs'>;
  newId: () => string;
  log: Logger;
}

/** A second listener, which a host name with two addresses has, goes without. */
export function guardServer(server: FastifyInstance, means: DoorMeans): void {
  const { admission, newId } = means;
  const kindOf = kindsOf(means.contracts);
  const say = createSaying(means);
  const tickets = new WeakMap<IncomingMessage, Ticket>();
  let isClosing = false;
  server.addHook('preClose', async () => {
    isClosing = true;
  });
  server.addHook('preHandler', async ({ raw }) => tickets.get(raw)?.begin());
  server.addHook('onSend', async ({ raw }) => tickets.get(raw)?.finish());
  server.server.removeAllListeners('request');
  server.server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const kind = kindOf(request.method ?? '', request.url ?? '');
    if (kind !== undefined) {
      const ticket = admission.enter(kind, bodyBytes(request));
      if (ticket === undefined) {
        const id = readRequestId(request.headers['x-request-id']) ?? withPrefix('req', newId());
        turnAway(response, { id, isClosing });
        say();
        return;
      }
      tickets.set(request, ticket);
      response.on('close', () => ticket.finish());
    }
    server.routing(request, response);
  });
}

const overloaded = new Problem(
  'overloaded',
  'There is more to do than can be done. Nothing was done: try again later, and more slowly',
);

const refusalHeaders = Object.entries({
  ...answerHeaders,
  'content-type': problemMediaType,
  'retry-after': '1',
}).flat();

function turnAway(
  response: ServerResponse,
  { id, isClosing }: { id: string; isClosing: boolean },
): void {
  const body = JSON.stringify(problemBody(overloaded, id));
  const head = [...refusalHeaders, 'x-request-id', id, 'content-length', `${body.length}`];
  response.writeHead(overloaded.status, isClosing ? [...head, 'connection', 'close'] : head);
  response.end(body);
}

/** What was announced; a body of unknown length may be as large as any. */
function bodyBytes({ headers }: IncomingMessage): number {
  if (headers['transfer-encoding'] !== undefined) return limits.bodyBytesMax;
  const length = Number(headers['content-length'] ?? 0);
  return Math.min(Number.isNaN(length) ? 0 : length, limits.bodyBytesMax);
}

/** One line a second, however many are turned away. */
function createSaying({ admission, world, log }: DoorMeans): () => void {
  let saidMs = -Infinity;
  let since = 0;
  return () => {
    since += 1;
    const nowMs = world.monotonicMs();
    if (nowMs - saidMs < limits.overloadSayMs) return;
    saidMs = nowMs;
    log.warn({ turnedAway: since, ...admission.figures() }, 'overloaded');
    since = 0;
  };
}

/** Undefined: always let in. These say how the service is, or have limits of their own. */
type KindOf = (method: string, url: string) => LoadKind | undefined;

const free = new Set(['getHealth', 'getReadiness', 'getMetrics', 'openStream']);
const publishing = new Set(['publishEvent', 'publishEvents']);

/** By method and path as they are written: no route is looked up for those who are turned away. */
export function kindsOf({ management, executed }: Contracts): KindOf {
  const known = new Map<string, LoadKind | undefined>();
  for (const { operationId, method, path } of management.operations) {
    if (publishing.has(operationId)) known.set(`${method} ${path}`, 'publish');
    if (!free.has(operationId)) continue;
    known.set(`${method} ${path}`, undefined);
    if (method === 'GET') known.set(`HEAD ${path}`, undefined);
  }
  for (const { operations } of executed) {
    for (const { role, method, path } of operations) {
      if (role.kind === 'unsubscribe') known.set(`${method} ${path}`, 'end');
    }
  }
  return (method, url) => {
    const mark = url.indexOf('?');
    const name = `${method} ${mark < 0 ? url : url.slice(0, mark)}`;
    if (known.has(name)) return known.get(name);
    if (method === 'GET' || method === 'HEAD') return 'read';
    return method === 'DELETE' ? 'end' : 'change';
  };
}
