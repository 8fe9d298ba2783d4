// Requests for the operations of a document: those with callbacks are registered on their way to the API, those that
// end a subscription end it once the API has done so. It must never register what the API did not accept, nor lose
// what it accepted.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import type { Message } from '../../contract/expression/evaluate.ts';
import { withPrefix } from '../../core/base/id.ts';
import type { Actor } from '../../core/domain/app.ts';
import { nameInHeader } from '../../core/domain/pattern.ts';
import { Problem } from '../../core/errors/problem.ts';
import { limits } from '../../core/limits/limits.ts';
import { redact } from '../../core/secrets/redact.ts';
import type { Deadlines } from '../../egress/http/deadlines.ts';
import type { Context } from '../../engine/context.ts';
import {
  abandonExchange,
  beginExchange,
  clearResource,
  endExchange,
  type BegunExchange,
  type ExchangeCall,
} from '../../engine/subscribe/exchange.ts';
import { resourceAt } from '../../engine/subscribe/subscribe.ts';
import { unsubscribe } from '../../engine/subscribe/subscriptions.ts';
import { StoreUnavailable } from '../../store/port/store.ts';
import type { Meter } from '../../engine/telemetry/meter.ts';
import { withoutCredentials } from '../operations/contract-handler.ts';
import {
  hasEnded,
  isReadable,
  namedSubscriptions,
  readAnswer,
  readAnswerBody,
  readExchange,
  type RequestedOperation,
} from '../operations/exchanges.ts';
import type { Served } from '../operations/operation.ts';
import { appOf, type IncomingRequest } from '../operations/read-call.ts';
import { readBody, type Body } from '../request/body.ts';
import { bodyTooLarge } from '../request/problem.ts';
import { pathAndQuery, readHead, type RawHead } from '../request/raw-request.ts';
import { note } from '../request/request-log.ts';
import { hasBody, type AnswerHead, type Hold } from './relay.ts';

export interface RegisterDeps {
  context: Context;
  deadlines: Deadlines;
  /** The most that registering may delay an answer of the API. */
  storeTimeoutMs: number;
  /** Of requests without a key. */
  app: Actor;
  publicUrl: () => string;
  log: Logger;
  /** `keys`: Ringback enforces the security of the document. */
  auth: 'passthrough' | 'keys';
  validate: 'off' | 'warn' | 'enforce';
  whenDown: 'refuse' | 'pass';
  meter: Pick<Meter, 'exchanged' | 'misfit'>;
  /** Bytes of requests that are kept until they are answered. */
  kept: { bytes: number };
  /** Work that waits for the store, after it has failed. */
  repeated: { count: number };
}

/** A request for an operation of a document. */
export interface Requested {
  found: RequestedOperation;
  served: Pick<Served, 'arrive'>;
  request: IncomingMessage;
  response: ServerResponse;
  logged: IncomingRequest;
}

/** What is different for a request that is not only passed on. */
export interface Registering {
  /** Headers for the API. */
  own: [string, string][];
  body: Uint8Array | undefined;
  hold: Hold | undefined;
}

/** The app that a request belongs to. */
type Owned = Requested & { app: RegisterDeps['app'] };

/** Throws the reason if the API must not be called; undefined if the caller has left. */
export async function register(
  deps: RegisterDeps,
  requested: Requested,
): Promise<Registering | undefined> {
  const { served, logged, request } = requested;
  if (deps.auth === 'keys') await served.arrive(logged, readHead(request));
  const caller = logged.arrival?.caller;
  const app = caller === undefined ? deps.app : appOf(caller.key);
  const registering = await registerRole(deps, { ...requested, app });
  if (registering === undefined || caller === undefined) return registering;
  const { appId, id, customer } = caller.key;
  const known: [string, string][] = [
    ['Ringback-App', withPrefix('app', appId)],
    ['Ringback-Key', `rbk_${id}`],
  ];
  if (customer !== undefined) known.push(['Ringback-Customer', nameInHeader(customer)]);
  return { ...registering, own: [...known, ...registering.own] };
}

async function registerRole(deps: RegisterDeps, owned: Owned): Promise<Registering | undefined> {
  const { found, request } = owned;
  const { method, role } = found.operation;
  // A HEAD request for a GET operation only asks for its head.
  switch (request.method === method ? role.kind : 'managed') {
    case 'subscribe':
      return registerExchange(deps, owned);
    case 'unsubscribe':
      return endNamed(deps, owned);
    case 'managed':
      return { own: [], body: undefined, hold: undefined };
  }
}

async function registerExchange(
  deps: RegisterDeps,
  owned: Owned,
): Promise<Registering | undefined> {
  const { request, response, found, logged } = owned;
  const body = hasBody(request) ? await readWhole(deps, request, response) : new Uint8Array();
  if (body === undefined) return undefined;
  const sent = body.length === 0 ? undefined : body;
  const call = readCall(deps, owned, body);
  const { operationId } = found.operation;
  if (call === undefined) return { own: [], body: sent, hold: undefined };
  const begun = await unlessDown(deps, async () => beginExchange(deps.context, call));
  if (begun.kind === 'down') {
    deps.meter.exchanged(operationId, 'unregistered');
    return { own: [], body: sent, hold: warning };
  }
  if (begun.result === undefined) {
    return { own: [], body: sent, hold: clearingHold(deps, owned, call) };
  }
  const subscription = withPrefix('sub', begun.result.id);
  note(logged, { subscription });
  const own: [string, string][] = [['Ringback-Subscription', subscription]];
  return { own, body: sent, hold: exchangeHold(deps, owned, begun.result) };
}

type Attempted<T> = { kind: 'done'; result: T } | { kind: 'down' };

/** What must happen before the API gets the request; `down`: the request is passed on all the same. */
async function unlessDown<T>(
  { whenDown }: RegisterDeps,
  work: () => Promise<T>,
): Promise<Attempted<T>> {
  try {
    return { kind: 'done', result: await work() };
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    if (whenDown === 'pass') return { kind: 'down' };
    const detail =
      'The store is unavailable, so the callback cannot be registered. The API did not get the request: try again';
    throw new Problem('store_unavailable', detail, { cause: error });
  }
}

/** For a request that was passed on although the store is down. */
const warning: Hold = {
  needsBody: () => false,
  answered: async () => [['Ringback-Warning', 'not registered: the store is unavailable']],
  unreached: async () => undefined,
};

/** Undefined if nothing can be registered. Throws if the request must be valid. */
function readCall(deps: RegisterDeps, owned: Owned, bytes: Uint8Array): ExchangeCall | undefined {
  const { publicUrl } = deps;
  const { found, request, logged, app } = owned;
  const { contract, operation } = found;
  const head = readHead(request);
  const { body, refusal: unreadable } = bodyIn(bytes, head);
  const { message, variant, refusal } = readExchange(found, rawRequest(found, head, body));
  checkFit(deps, owned, unreadable ?? refusal);
  if (variant === undefined) return undefined;
  const target = withoutCredentials(pathAndQuery(request.url ?? '/'), contract);
  return {
    app,
    contract: contract.title,
    operation,
    variant,
    request: message,
    url: publicUrl() + target,
    resource: operation.method === 'PUT' ? resourceAt(contract.title, target, app) : undefined,
    requestId: logged.id,
  };
}

/** `refusal`: why the request does not fit the document. */
function checkFit(
  { validate, meter }: RegisterDeps,
  { found, logged }: Owned,
  refusal: Problem | undefined,
): void {
  if (refusal === undefined || validate === 'off') return;
  if (validate === 'enforce') throw refusal;
  const fields = refusal.faults.slice(0, misfitsLoggedMax).map(({ field }) => redact(field));
  note(logged, { misfits: fields.length === 0 ? refusal.code : fields.join(' ') });
  meter.misfit(found.operation.operationId);
}

const misfitsLoggedMax = 5;

function rawRequest(
  { path }: RequestedOperation,
  { query, header, cookies }: RawHead,
  body: Body | undefined,
): Parameters<typeof readExchange>[1] {
  return { path, query, header, cookie: new Map(cookies), body };
}

/** Without a body if it cannot be read: the API may know what it means. */
function bodyIn(
  bytes: Uint8Array,
  head: RawHead,
): { body: Body | undefined; refusal: Problem | undefined } {
  try {
    return { body: readBody(bytes, head, undefined), refusal: undefined };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { body: undefined, refusal: error };
  }
}

function exchangeHold(deps: RegisterDeps, { logged, found }: Owned, begun: BegunExchange): Hold {
  const { context, log, meter } = deps;
  const { operationId } = found.operation;
  const subscription = withPrefix('sub', begun.id);
  const header: [string, string] = ['Ringback-Subscription', subscription];
  let hasFailed = false;
  const failed = (err: unknown): void => {
    hasFailed = true;
    meter.exchanged(operationId, 'unconfirmed');
    log.error({ requestId: logged.id, subscription, err }, 'subscription not confirmed');
  };
  return {
    needsBody: ({ status, header: fields }) => status < 300 && isReadable(fields),
    answered: async ({ status, header: fields }, bytes) =>
      within(deps, {
        work: async () => {
          const body = await readAnswerBody(fields, bytes);
          const message = readAnswer(fields, body, begun.call.url);
          const ended = await endExchange(context, begun, { status, message });
          const result = ended.kind === 'nothing' ? 'refused' : 'registered';
          if (hasFailed) log.info({ requestId: logged.id, subscription, result }, 'store is back');
          else meter.exchanged(operationId, result);
          if (ended.kind === 'nothing') return [];
          const { noSubject: reason } = ended;
          const facts = { requestId: logged.id, subscription, reason };
          if (reason !== undefined) log.warn(facts, 'subscription has no subject');
          return [header];
        },
        failed,
        otherwise: [header],
      }),
    unreached: async () =>
      within(deps, {
        work: async () => abandonExchange(context, begun),
        failed,
        otherwise: undefined,
      }),
  };
}

/** For a request without a callback URL: one that replaces a subscription ends it. */
function clearingHold(deps: RegisterDeps, { logged }: Owned, call: ExchangeCall): Hold | undefined {
  if (call.resource === undefined) return undefined;
  return endingHold(deps, logged, async ({ status }) =>
    clearResource(deps.context, call, { status }),
  );
}

async function endNamed(deps: RegisterDeps, owned: Owned): Promise<Registering> {
  const { context } = deps;
  const { found, request, logged, app } = owned;
  const message = messageOf(owned);
  const target = pathAndQuery(request.url ?? '/');
  const named = await unlessDown(deps, async () =>
    namedSubscriptions(context, found, { app, request: message, target }),
  );
  if (named.kind === 'down') return { own: [], body: undefined, hold: warning };
  const [first] = named.result;
  if (first === undefined) return { own: [], body: undefined, hold: undefined };
  note(logged, { subscription: withPrefix('sub', first) });
  const hold = endingHold(deps, logged, async ({ status }) => {
    if (!hasEnded(found.operation, status)) return;
    for (const id of named.result) await unsubscribe(context, app, withPrefix('sub', id));
  });
  return { own: [], body: undefined, hold };
}

/** Of a request whose body is not read. */
function messageOf({ found, request }: Owned): Message {
  return readExchange(found, rawRequest(found, readHead(request), undefined)).message;
}

function endingHold(
  deps: RegisterDeps,
  { id }: Pick<IncomingRequest, 'id'>,
  end: (head: AnswerHead) => Promise<void>,
): Hold {
  return {
    needsBody: () => false,
    answered: async (head) =>
      within(deps, {
        work: async () => {
          await end(head);
          return [];
        },
        failed: (err) => deps.log.error({ requestId: id, err }, 'subscription not ended'),
        otherwise: [],
      }),
    unreached: async () => undefined,
  };
}

interface Work<T> {
  work: () => Promise<T>;
  failed: (error: unknown) => void;
  otherwise: T;
}

/** The API has answered, so its answer leaves in time whatever happens here. The work goes on after that. */
async function within<T>(deps: RegisterDeps, { work, failed, otherwise }: Work<T>): Promise<T> {
  const { deadlines, storeTimeoutMs } = deps;
  const { promise, resolve } = Promise.withResolvers<T>();
  const giveUp = (error: unknown): void => {
    failed(error);
    resolve(otherwise);
  };
  const deadline = deadlines.set(storeTimeoutMs, {
    expire: () => giveUp(new StoreUnavailable(`It takes more than ${storeTimeoutMs} ms`)),
  });
  untilStored(deps, work).then(
    (result) => {
      deadlines.clear(deadline);
      resolve(result);
    },
    (error: unknown) => {
      deadlines.clear(deadline);
      giveUp(error);
    },
  );
  return promise;
}

/** Repeats the work while the store fails: an API that only knows the subject cannot confirm a subscription later. */
async function untilStored<T>(
  { deadlines, repeated }: RegisterDeps,
  work: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const isFull = repeated.count >= limits.exchangesAgainMax;
      if (!(error instanceof StoreUnavailable) || isFull) throw error;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    repeated.count += 1;
    deadlines.set(limits.exchangeAgainMs, { expire: resolve });
    await promise; // Never, if the service stops.
    repeated.count -= 1;
  }
}

/** Throws if it is too large; undefined if the caller leaves before its end. */
async function readWhole(
  deps: RegisterDeps,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Uint8Array | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array | undefined>();
  const pieces: Buffer[] = [];
  const announced = Number(request.headers['content-length'] ?? limits.bodyBytesMax);
  if (announced > limits.bodyBytesMax) throw bodyTooLarge();
  reserve(deps, announced, response);
  let bytes = 0;
  const take = (piece: Buffer): void => {
    bytes += piece.length;
    pieces.push(piece);
    if (bytes <= limits.bodyBytesMax) return;
    request.off('data', take).pause();
    reject(bodyTooLarge());
  };
  request.on('data', take);
  request.once('end', () => resolve(Buffer.concat(pieces)));
  request.once('close', () => resolve(undefined));
  return promise;
}

function reserve({ kept }: RegisterDeps, bytes: number, response: ServerResponse): void {
  if (kept.bytes + bytes > limits.exchangeBytesMax) {
    const detail = 'Too many requests with large bodies are in progress. Try again later';
    throw new Problem('overloaded', detail);
  }
  kept.bytes += bytes;
  response.once('close', () => {
    kept.bytes -= bytes;
  });
}
