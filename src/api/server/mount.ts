// Mounts the operations of contracts on the server, one route each. Authentication happens before
// the body is read; the contract interprets the request.
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Operation } from '../../contract/model/contract.ts';
import { servedOf, type Contracts } from '../../contract/compile/contracts.ts';
import { Problem } from '../../core/errors/problem.ts';
import type { Context } from '../../engine/context.ts';
import type { Identifier } from '../../engine/access/identify.ts';
import type { NodeRole } from '../../store/port/node-verbs.ts';
import { bodyBytesMaxOf } from '../operations/authenticate.ts';
import type { Handler, Handlers, Reply } from '../request/call.ts';
import { contractHandler } from '../operations/contract-handler.ts';
import { served, type Served } from '../operations/operation.ts';
import { readHead } from '../request/raw-request.ts';
import { routeOf } from '../request/route.ts';
import { sendProblem, sendRefusal } from './server.ts';

export interface MountDeps {
  context: Context;
  identifier: Identifier;
  /** A worker offers only the operations for probes and metrics. */
  role: NodeRole;
  contracts: Contracts;
  /** For operations of our own document other than subscribe and unsubscribe. */
  handlers: Handlers;
  /**
   * Without a trailing slash. A function, because the port may be known only once the server
   * listens.
   */
  publicUrl: () => string;
}

/** Returns everything that was mounted. */
export function mount(server: FastifyInstance, deps: MountDeps): Served[] {
  const routes = routesOf(deps).filter(({ operation }) => isOffered(operation, deps.role));
  server.decorateRequest('arrival');
  const all = routes.map(({ operation, handler }) => served(operation, handler, deps));
  for (const one of all) mountOperation(server, one);
  const operations = routes.map(({ operation }) => operation);
  const nothing = deps.role === 'worker' ? workerDetail : 'There is no resource at this path';
  // Before the body is read, so that a request for an unknown path cannot upload anything.
  server.addHook('onRequest', (request, reply, done) => {
    if (request.is404) refuseRoute({ operations, nothing }, request, reply);
    else done();
  });
  return all;
}

const workerOperations: readonly string[] = ['getHealth', 'getReadiness', 'getMetrics'];
const workerDetail =
  'This node is a worker: it only delivers, and serves /healthz, /readyz and /metrics. ' +
  'Call a node with the role api or all';

function isOffered({ operationId }: Operation, role: NodeRole): boolean {
  return role !== 'worker' || workerOperations.includes(operationId);
}

interface Mounted {
  operation: Operation;
  handler: Handler;
}

/**
 * Our handlers serve our own document only: a foreign contract cannot reach them by operationId.
 */
function routesOf(deps: MountDeps): Mounted[] {
  const { contracts, handlers } = deps;
  const managed = contracts.management.operations.flatMap((operation): Mounted[] => {
    const { role, operationId } = operation;
    const handler = Object.hasOwn(handlers, operationId) ? handlers[operationId] : undefined;
    return role.kind !== 'managed' || handler === undefined ? [] : [{ operation, handler }];
  });
  const executed = contracts.executed.flatMap((contract) =>
    servedOf(contract).map((operation) => ({
      operation,
      handler: contractHandler({ contract, operation, ...deps }),
    })),
  );
  return [...managed, ...executed];
}

function mountOperation(server: FastifyInstance, one: Served): void {
  const { operation } = one;
  server.route({
    method: operation.method,
    url: routeOf(operation.path).url,
    bodyLimit: bodyBytesMaxOf(operation),
    errorHandler: (error, request, reply) => {
      void sendRefusal(one.refuse(request, error), reply);
    },
    onRequest: async (request) => one.arrive(request, readHead(request.raw)),
    handler: async (request, reply) => send(request, reply, await one.answer(request)),
  });
}

function send(
  request: FastifyRequest,
  reply: FastifyReply,
  { status, headers = {}, body, mediaType }: Reply,
): FastifyReply {
  void reply.code(status).headers(headers);
  // A HEAD request never reads the stream, which would stay open forever.
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

/** Unknown path, or a method that it does not have: then the answer lists the allowed ones. */
function refuseRoute(
  { operations, nothing }: { operations: readonly Operation[]; nothing: string },
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const path = request.url.split('?', 1)[0] ?? '';
  const methods = operations.filter((it) => routeOf(it.path).matches(path)).map((it) => it.method);
  if (methods.length === 0) {
    void sendProblem(new Problem('not_found', nothing), request, reply);
    return;
  }
  const allow = methods.flatMap((it) => (it === 'GET' ? ['GET', 'HEAD'] : [it])).join(', ');
  void reply.header('allow', allow);
  const detail = `The method ${request.method} is not supported at this path, expected ${allow}`;
  void sendProblem(new Problem('method_not_allowed', detail), request, reply);
}
