// Requests for the operations of a document: those with callbacks are registered on their way to the API, those that
// end a subscription end it once the API has done so. It must never register what the API did not accept, nor lose
// what it accepted.
import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import type { Message } from '../../contract/expression/evaluate.ts';
import { withPrefix } from '../../core/base/id.ts';
import type { App } from '../../core/domain/app.ts';
import { Problem } from '../../core/errors/problem.ts';
import { limits } from '../../core/limits/limits.ts';
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
import { readBody, type Body } from '../request/body.ts';
import { bodyTooLarge } from '../request/problem.ts';
import { pathAndQuery, readHead, type RawHead } from '../request/raw-request.ts';
import { note, type LoggedRequest } from '../request/request-log.ts';
import { hasBody, type AnswerHead, type Hold } from './relay.ts';

export interface RegisterDeps {
  context: Context;
  deadlines: Deadlines;
  /** The most that registering may delay an answer of the API. */
  storeTimeoutMs: number;
  /** Whose subscriptions are made. */
  app: Pick<App, 'no' | 'id'>;
  publicUrl: () => string;
  log: Logger;
}

/** A request for an operation of a document. */
export interface Requested {
  found: RequestedOperation;
  request: IncomingMessage;
  logged: LoggedRequest & { id: string };
}

/** What is different for a request that is not only passed on. */
export interface Registering {
  /** Headers for the API. */
  own: [string, string][];
  body: Uint8Array | undefined;
  hold: Hold | undefined;
}

/** Throws the reason if the API must not be called; undefined if the caller has left. */
export async function register(
  deps: RegisterDeps,
  requested: Requested,
): Promise<Registering | undefined> {
  switch (requested.found.operation.role.kind) {
    case 'subscribe':
      return registerExchange(deps, requested);
    case 'unsubscribe':
      return endNamed(deps, requested);
    case 'managed':
      return { own: [], body: undefined, hold: undefined };
  }
}

async function registerExchange(
  deps: RegisterDeps,
  requested: Requested,
): Promise<Registering | undefined> {
  const { request } = requested;
  const body = hasBody(request) ? await readWhole(request) : new Uint8Array();
  if (body === undefined) return undefined;
  const sent = body.length === 0 ? undefined : body;
  const call = readCall(deps, requested, body);
  if (call === undefined) return { own: [], body: sent, hold: undefined };
  const begun = await beginExchange(deps.context, call);
  if (begun === undefined)
    return { own: [], body: sent, hold: clearingHold(deps, requested, call) };
  const subscription = withPrefix('sub', begun.id);
  note(requested.logged, { subscription });
  const own: [string, string][] = [['Ringback-Subscription', subscription]];
  return { own, body: sent, hold: exchangeHold(deps, requested, begun) };
}

/** Undefined if nothing can be registered. */
function readCall(
  { publicUrl, app }: RegisterDeps,
  { found, request, logged }: Requested,
  bytes: Uint8Array,
): ExchangeCall | undefined {
  const { contract, operation } = found;
  const head = readHead(request);
  const { message, variant } = readExchange(found, rawRequest(found, head, bodyIn(bytes, head)));
  if (variant === undefined) return undefined;
  const target = withoutCredentials(pathAndQuery(request.url ?? '/'), contract);
  return {
    app,
    contract: contract.title,
    operation,
    variant,
    request: message,
    url: publicUrl() + target,
    resource: operation.method === 'PUT' ? resourceAt(contract.title, target) : undefined,
    requestId: logged.id,
  };
}

function rawRequest(
  { path }: RequestedOperation,
  { query, header, cookies }: RawHead,
  body: Body | undefined,
): Parameters<typeof readExchange>[1] {
  return { path, query, header, cookie: new Map(cookies), body };
}

/** Undefined if it cannot be read: the API may know what it means. */
function bodyIn(bytes: Uint8Array, head: RawHead): Body | undefined {
  try {
    return readBody(bytes, head, undefined);
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
}

function exchangeHold(deps: RegisterDeps, { logged }: Requested, begun: BegunExchange): Hold {
  const { context, log } = deps;
  const subscription = withPrefix('sub', begun.id);
  const header: [string, string] = ['Ringback-Subscription', subscription];
  const failed = (err: unknown): void =>
    log.error({ requestId: logged.id, subscription, err }, 'subscription not confirmed');
  return {
    needsBody: ({ status, header: fields }) => status < 300 && isReadable(fields),
    answered: async ({ status, header: fields }, bytes) =>
      within(deps, {
        work: async () => {
          const body = await readAnswerBody(fields, bytes);
          const message = readAnswer(fields, body, begun.call.url);
          const ended = await endExchange(context, begun, { status, message });
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
function clearingHold(
  deps: RegisterDeps,
  { logged }: Requested,
  call: ExchangeCall,
): Hold | undefined {
  if (call.resource === undefined) return undefined;
  return endingHold(deps, logged, async ({ status }) =>
    clearResource(deps.context, call, { status }),
  );
}

async function endNamed(deps: RegisterDeps, requested: Requested): Promise<Registering> {
  const { context, app } = deps;
  const { found, request, logged } = requested;
  const message = messageOf(requested);
  const target = pathAndQuery(request.url ?? '/');
  const ids = await namedSubscriptions(context, found, { app, request: message, target });
  const hold = endingHold(deps, logged, async ({ status }) => {
    if (!hasEnded(found.operation, status)) return;
    for (const id of ids) await unsubscribe(context, app, withPrefix('sub', id));
  });
  const [first] = ids;
  if (first !== undefined) note(logged, { subscription: withPrefix('sub', first) });
  return { own: [], body: undefined, hold: ids.length === 0 ? undefined : hold };
}

/** Of a request whose body is not read. */
function messageOf({ found, request }: Requested): Message {
  return readExchange(found, rawRequest(found, readHead(request), undefined)).message;
}

function endingHold(
  deps: RegisterDeps,
  { id }: Requested['logged'],
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

/** The API has answered, so its answer leaves in time whatever happens here. */
async function within<T>(
  { deadlines, storeTimeoutMs }: RegisterDeps,
  { work, failed, otherwise }: Work<T>,
): Promise<T> {
  const { promise, resolve } = Promise.withResolvers<T>();
  const giveUp = (error: unknown): void => {
    failed(error);
    resolve(otherwise);
  };
  const late = new StoreUnavailable(`It takes more than ${storeTimeoutMs} ms`);
  const deadline = deadlines.set(storeTimeoutMs, { expire: () => giveUp(late) });
  work().then(
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

/** Throws if it is too large; undefined if the caller leaves before its end. */
async function readWhole(request: IncomingMessage): Promise<Uint8Array | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array | undefined>();
  const pieces: Buffer[] = [];
  let bytes = Number(request.headers['content-length'] ?? 0);
  if (bytes > limits.bodyBytesMax) throw bodyTooLarge();
  bytes = 0;
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
