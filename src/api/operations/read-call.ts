// Turns an authenticated request into the call that handlers see: parsed by the contract, and
// refused if it does not fit. Authentication has happened before (`arrive` in operation.ts); nothing here may admit
// a caller.
import assert from 'node:assert/strict';
import type { Operation } from '../../contract/model/contract.ts';
import { readRequest, type Reading } from '../../contract/request/request.ts';
import type { AuditActor } from '../../core/domain/audit.ts';
import type { Key } from '../../core/domain/key.ts';
import { invalidRequest, Problem } from '../../core/errors/problem.ts';
import type { MaybePromise } from '../../core/base/maybe-promise.ts';
import { readTrace } from '../../core/telemetry/trace.ts';
import { type Caller, crossOriginFault } from './authenticate.ts';
import { readBody, unsupported } from '../request/body.ts';
import type { Call } from '../request/call.ts';
import { pathAndQuery, unreadableParameter, type RawHead } from '../request/raw-request.ts';
import { note, noteSpan, type LoggedRequest } from '../request/request-log.ts';
import type { Route } from '../request/route.ts';

/** What all requests of an operation share. */
export interface CallContext {
  operation: Operation;
  pathOf: Route['pathOf'];
  identify: (head: RawHead) => MaybePromise<Caller>;
  publicOrigin: () => string;
  defaultApp: Call['app'];
}

/** What is known of a request before its body is read. */
interface Arrival {
  head: RawHead;
  caller: Caller;
}

/** A request that was routed to an operation, on either path. */
export interface IncomingRequest extends LoggedRequest {
  id: string;
  method: string;
  /** As received. */
  url: string;
  /** Path parameters of the router. */
  params: unknown;
  protocol: 'http' | 'https';
  /** Of the client; behind a trusted proxy the one that the proxy names. */
  ip?: string;
  arrival: Arrival | undefined;
  /** Bytes, if there are any. */
  body: unknown;
}

declare module 'fastify' {
  interface FastifyRequest {
    arrival: Arrival | undefined;
  }
}

export function readCall(context: CallContext, request: IncomingRequest): Call {
  const { operation, pathOf, identify, publicOrigin, defaultApp } = context;
  const { arrival } = request;
  assert(arrival, `${operation.operationId} was asked who calls`);
  const { head, caller } = arrival;
  refuseUnreadableQuery(request.url);
  const bytes = request.body instanceof Uint8Array ? request.body : noBytes;
  const body = operation.body && readBody(bytes, head, operation.body.opaque);
  const { message, variant } = understood(
    readRequest(operation, {
      path: pathOf(request.params),
      query: head.query,
      header: head.header,
      cookie: head.cookies.length === 0 ? noCookies : new Map(head.cookies),
      body,
    }),
  );
  const by = actorOf(caller, request);
  return {
    requestId: request.id,
    app: caller === undefined ? { ...defaultApp, by } : appOf(caller.key, by),
    key: caller?.key,
    session: caller?.session,
    crossOriginFault: () => crossOriginFault({ method: operation.method, head }, publicOrigin()),
    isSecure: request.protocol === 'https',
    cookie: (name) => {
      const given = head.cookies.filter(([each]) => each === name);
      return given.length === 1 ? given[0]?.[1] : undefined;
    },
    request: message,
    variant,
    target: pathAndQuery(request.url),
    isStillAllowed: async () => passes(async () => identify(head)),
    trace: readTrace(head.header),
    note: (facts) => note(request, facts),
    noteSpan: (span) => noteSpan(request, span, operation.path),
    bytes,
    opaque: body?.opaque ?? nothingOpaque,
  };
}

const noBytes = new Uint8Array();
const noCookies: ReadonlyMap<string, string> = new Map();
const nothingOpaque: Call['opaque'] = new Map();

/** `by`: undefined for what is not recorded in the audit trail. */
export function appOf(
  { appNo: no, appId: id, appQuotas: quotas, appHasEventTypes: hasEventTypes, customer }: Key,
  by?: AuditActor,
): Call['app'] {
  return { no, id, quotas, hasEventTypes, customer, by };
}

/** Of plain publishes, which are not recorded, the address is not known. */
function actorOf(caller: Caller, { ip, id: requestId }: IncomingRequest): AuditActor {
  const address = ip?.replace(/^::ffff:(?=\d+\.)/, '');
  if (caller === undefined) return { kind: 'anonymous', address, requestId };
  const { key, session } = caller;
  const ofSession = session?.portal === undefined ? 'session' : 'portal';
  const kind = session === undefined ? 'key' : ofSession;
  return { kind, keyId: key.id, customer: key.customer, address, requestId };
}

/** Lenient decoding would put other characters into a target than the caller meant. */
function refuseUnreadableQuery(url: string): void {
  const field = unreadableParameter(url);
  if (field === undefined) return;
  const message = 'is not validly percent-encoded UTF-8';
  throw new Problem('malformed_request', `${field} ${message}`, { faults: [{ field, message }] });
}

function understood(reading: Reading): Extract<Reading, { kind: 'valid' }> {
  if (reading.kind !== 'valid') throw refusalOf(reading);
  return reading;
}

export function refusalOf(reading: Exclude<Reading, { kind: 'valid' }>): Problem {
  switch (reading.kind) {
    case 'invalid':
      return invalidRequest(reading.faults);
    case 'no_variant':
      return new Problem('no_variant', reading.detail, { faults: reading.faults });
    case 'unsupported': {
      const offered = reading.offered.join(' or ');
      return unsupported(`Content-Type is "${reading.mediaType}", expected ${offered}`);
    }
  }
}

async function passes(identify: () => Promise<Caller>): Promise<boolean> {
  try {
    await identify();
    return true;
  } catch (error) {
    if (error instanceof Problem) return false;
    throw error;
  }
}
