// Handlers of subscriptions, which subscribe calls or exchanges created: list, show, change, end, register.
import assert from 'node:assert/strict';
import type { Contracts } from '../../contract/compile/contracts.ts';
import type { Controls } from '../../core/domain/controls.ts';
import { printDuration } from '../../core/base/parse-time.ts';
import { healthState, type Health } from '../../core/domain/health.ts';
import { withPrefix } from '../../core/base/id.ts';
import { guess } from '../../core/errors/did-you-mean.ts';
import { invalidRequest, Problem, type Fault } from '../../core/errors/problem.ts';
import { readChoice, readPatterns } from '../../core/domain/read-controls.ts';
import { signingOf, verifierOf, type SigningSecret } from '../../core/secrets/signing-secret.ts';
import {
  subscriptionStates,
  type Callback,
  type Exchange,
  type Subscription,
  type SubscriptionState,
} from '../../core/domain/subscription.ts';
import type { Context } from '../../engine/context.ts';
import { registerExchange, type ApiAnswer } from '../../engine/subscribe/exchange.ts';
import type { Customer } from '../../store/port/store.ts';
import { resourceAt } from '../../engine/subscribe/subscribe.ts';
import {
  changeSubscription,
  confirm,
  healthOf,
  getSecrets,
  getSubscription,
  listCustomers,
  listSubscriptions,
  rotateSecret,
  unsubscribe,
  type SubscriptionChange,
} from '../../engine/subscribe/subscriptions.ts';
import { withoutCredentials } from '../operations/contract-handler.ts';
import {
  apiOperations,
  hasEnded,
  namedSubscriptions,
  operationFinder,
  readAnswer,
  readExchange,
  type ApiOperation,
  type ReadExchange,
  type RequestedOperation,
} from '../operations/exchanges.ts';
import type { Call, Handlers, Reply } from '../request/call.ts';
import * as fields from '../request/fields.ts';

export function subscriptionHandlers(context: Context): Handlers {
  return {
    listSubscriptions: async ({ app, request }) => {
      const query = Object.fromEntries(request.query);
      const page = await listSubscriptions(context, app, {
        page: fields.pageInput(request),
        state: readState(fields.optionalText(query, 'state')),
        event: fields.optionalText(query, 'event'),
        url: fields.optionalText(query, 'url'),
        subject: fields.optionalText(query, 'subject'),
        customer: fields.optionalText(query, 'customer'),
      });
      const health = await healthOf(context, app, page.items);
      const items = page.items.map((one) => showSubscription(one, health.get(one.id)));
      return { status: 200, body: { items, nextCursor: page.next ?? null } };
    },
    listCustomers: async ({ app, request }) => {
      const page = await listCustomers(context, app, fields.pageInput(request, 'customer'));
      const items = page.items.map(showCustomer);
      return { status: 200, body: { items, nextCursor: page.next ?? null } };
    },
    getSubscription: async ({ app, request }) => {
      const found = await getSubscription(context, app, fields.pathText(request, 'id'));
      return showOne(context, app, found);
    },
    editSubscription: async ({ app, request }) => {
      const change = readChange(fields.bodyFields(request));
      const id = fields.pathText(request, 'id');
      const changed = await changeSubscription(context, app, { id, change });
      return showOne(context, app, changed);
    },
    confirmSubscription: async ({ app, request }) => {
      const confirmed = await confirm(context, app, fields.pathText(request, 'id'));
      return showOne(context, app, confirmed);
    },
    deleteSubscription: async ({ app, request }) => {
      await unsubscribe(context, app, fields.pathText(request, 'id'));
      return { status: 204 };
    },
    getSecret: async ({ app, request }) =>
      showSecrets(await getSecrets(context, app, fields.pathText(request, 'id'))),
    rotateSecret: async ({ app, request }) => {
      const id = fields.pathText(request, 'id');
      const overlapMs = fields.overlapMs(request);
      return showSecrets(await rotateSecret(context, app, { id, overlapMs }));
    },
  };
}

function readChange({ state: named, callbacks, ...rest }: fields.Fields): SubscriptionChange {
  const state = readState(fields.optionalText({ state: named }, 'state'));
  assert(state === undefined || state === 'active' || state === 'paused');
  const faults: Fault[] = [];
  const changes = fields.list({ callbacks }, 'callbacks').map((item, index) => {
    const callback = fields.object(item, 'callback');
    const { events } = callback;
    const field = `body#/callbacks/${index}/events`;
    const reading = events === undefined ? undefined : readPatterns(events, field);
    if (reading?.kind === 'faulty') faults.push(...reading.faults);
    if (reading === undefined && callback['url'] === undefined) {
      const message = 'changes nothing, expected url or events';
      faults.push({ field: `body#/callbacks/${index}`, message });
    }
    return {
      position: fields.integer(callback, 'position'),
      url: fields.optionalText(callback, 'url'),
      events: reading?.kind === 'patterns' ? reading.patterns : undefined,
    };
  });
  const choice = readChoice(rest, 'body#');
  if (choice.kind === 'faulty') faults.push(...choice.faults);
  if (choice.kind === 'faulty' || faults.length > 0) throw invalidRequest(faults);
  return { state, callbacks: changes, choice: choice.choice };
}

async function showOne(context: Context, app: Call['app'], found: Subscription): Promise<Reply> {
  const health = await healthOf(context, app, [found]);
  return { status: 200, body: showSubscription(found, health.get(found.id)) };
}

function showSubscription(subscription: Subscription, health?: Health): Record<string, unknown> {
  const { id, state, subject, customer, contract, operation, callbacks, controls } = subscription;
  const { confirmByMs, createdMs, endedMs, endReason, exchange } = subscription;
  return {
    id: withPrefix('sub', id),
    state,
    ...(subject === undefined ? {} : { subject }),
    ...(customer === undefined ? {} : { customer }),
    contract,
    operation,
    callbacks: callbacks.map(showCallback),
    ...showControls(controls),
    ...(state === 'unconfirmed' && confirmByMs !== undefined
      ? { confirmBy: fields.time(confirmByMs) }
      : {}),
    ...(exchange === undefined ? {} : { exchange: showExchange(exchange) }),
    createdAt: fields.time(createdMs),
    ...(endedMs === undefined ? {} : { endedAt: fields.time(endedMs) }),
    ...(endReason === undefined ? {} : { endReason }),
    ...(health === undefined ? {} : { health: showHealth(health) }),
  };
}

function showCustomer(customer: Customer): Record<string, unknown> {
  const { name, subscriptions, isCapped, failures, failingMs } = customer;
  const health = { state: healthState(failures), failures, failingMs, nextAttemptMs: undefined };
  return {
    customer: name,
    subscriptions,
    subscriptionsAreCapped: isCapped,
    health: showHealth(health),
  };
}

function showExchange({ requestId, status }: Exchange): object {
  return { requestId, ...(status === undefined ? {} : { status }) };
}

function showHealth({ state, failures, failingMs, nextAttemptMs }: Health): object {
  return {
    state,
    failures,
    ...(failingMs === undefined ? {} : { failingSince: fields.time(failingMs) }),
    ...(nextAttemptMs === undefined ? {} : { nextAttemptAt: fields.time(nextAttemptMs) }),
  };
}

function showCallback(callback: Callback): Record<string, unknown> {
  const { position, label, events, method, url, inactive } = callback;
  const target = inactive === undefined ? { url } : { inactive };
  return { position, label, event: events[0], events, method, ...target };
}

/** Unset controls are undefined, which JSON leaves out. */
function showControls(controls: Controls): Record<string, unknown> {
  const { retryMs, timeoutMs, ratePerSecond, expiresMs, ...rest } = controls;
  return {
    ...rest,
    retry: retryMs?.map(printDuration),
    timeout: timeoutMs === undefined ? undefined : printDuration(timeoutMs),
    rateLimit: ratePerSecond,
    expiresAt: expiresMs === undefined ? undefined : fields.time(expiresMs),
  };
}

function showSecrets(secrets: readonly SigningSecret[]): Reply {
  const [current, previous] = secrets;
  assert(current, 'A subscription has a signing secret');
  if (previous?.expiresMs === undefined) return { status: 200, body: showSecret(current) };
  const old = { ...showSecret(previous), expiresAt: fields.time(previous.expiresMs) };
  return { status: 200, body: { ...showSecret(current), previous: old } };
}

/** What receivers verify with: of a key pair only the public key, never the private one. */
function showSecret(one: SigningSecret): Record<string, unknown> {
  const secret = verifierOf(one);
  return signingOf(one) === 'hmac' ? { secret } : { secret, publicKey: secret };
}

function readState(name: string | undefined): SubscriptionState | undefined {
  return subscriptionStates.find((state) => state === name);
}

// Exchanges that an API reports, which is not behind the gateway.

interface ExchangeDeps {
  context: Context;
  contracts: Contracts;
  publicUrl: () => string;
}

export function exchangeHandlers({ context, contracts, publicUrl }: ExchangeDeps): Handlers {
  const operations = apiOperations(contracts);
  const find = operationFinder(operations);
  return {
    registerExchange: async (call) => {
      if (operations.length === 0) throw nothingToRegister();
      const reported = readReported(call.request, publicUrl());
      const { method, url } = reported;
      const found = findNamed(reported, operations) ?? find(method, url.pathname);
      if (found === undefined) return unregistered(`no document has ${method} ${url.pathname}`);
      switch (found.operation.role.kind) {
        case 'subscribe':
          return register(context, { call, found, reported });
        case 'unsubscribe':
          return end(context, { call, found, reported });
        case 'managed':
          return unregistered(`${found.operation.operationId} has no callbacks`);
      }
    },
  };
}

interface Reported {
  operationId: string | undefined;
  /** As the document spells it. */
  path: string | undefined;
  method: string;
  url: URL;
  header: ReadonlyMap<string, string>;
  body: unknown;
  status: number;
  answerHeader: ReadonlyMap<string, string>;
  answerBody: unknown;
}

function readReported(call: Call['request'], publicUrl: string): Reported {
  const body = fields.bodyFields(call);
  const [request, response] = [
    fields.object(body['request'], 'request'),
    fields.object(body['response'], 'response'),
  ];
  const method = fields.optionalText(request, 'method') ?? fields.optionalText(body, 'method');
  const text = fields.text(request, 'url');
  const url = URL.parse(text, publicUrl);
  if (url === null) throw fields.badField('body#/request/url', 'is not a URL, or a path');
  const operationId = fields.optionalText(body, 'operationId');
  const path = fields.optionalText(body, 'path');
  if (operationId === undefined && method === undefined) {
    throw fields.badField('body#/request/method', 'is absent, expected it or an operationId');
  }
  return {
    operationId,
    path,
    method: (method ?? '').toUpperCase(),
    url,
    header: headersIn(request),
    body: request['body'],
    status: fields.integer(response, 'status'),
    answerHeader: headersIn(response),
    answerBody: response['body'],
  };
}

function headersIn({ headers = {} }: fields.Fields): ReadonlyMap<string, string> {
  const lines = Object.entries(fields.object(headers, 'headers'));
  return new Map(
    lines.map(([name, value]) => [
      name.toLowerCase(),
      Array.isArray(value) ? value.join(', ') : String(value),
    ]),
  );
}

/** Undefined if only the request says which operation it is for. */
function findNamed(
  { operationId, method, path, url }: Reported,
  operations: readonly ApiOperation[],
): RequestedOperation | undefined {
  if (operationId === undefined && path === undefined) return undefined;
  const found = operations.find(({ operation: one }) =>
    operationId === undefined
      ? one.method === method && one.path === path
      : one.operationId === operationId,
  );
  if (found !== undefined) return { ...found, path: found.read(url.pathname) ?? new Map() };
  const name = operationId ?? `${method} ${path}`;
  const known = operations.map(({ operation: one }) =>
    operationId === undefined ? `${one.method} ${one.path}` : one.operationId,
  );
  const detail = `There is no operation ${JSON.stringify(name)}: ${guess(name, known)}`;
  throw new Problem('not_found', detail);
}

interface Registering {
  call: Call;
  found: RequestedOperation;
  reported: Reported;
}

async function register(context: Context, { call, found, reported }: Registering): Promise<Reply> {
  const { contract, operation } = found;
  const { message, variant, refusal } = messageIn({ found, reported });
  if (variant === undefined) return unregistered(refusal?.message ?? 'no variant matches');
  const target = targetOf(reported, found);
  const key = call.request.header.get('idempotency-key');
  const registered = await registerExchange(
    context,
    {
      app: call.app,
      contract: contract.title,
      operation,
      variant,
      request: message,
      url: reported.url.origin + target,
      resource:
        operation.method === 'PUT' ? resourceAt(contract.title, target, call.app) : undefined,
      requestId: call.requestId,
    },
    {
      answer: answerIn(reported),
      idempotency:
        key === undefined ? undefined : { key, operation: 'registerExchange', parts: [call.bytes] },
    },
  );
  if (registered.kind === 'nothing') return unregistered(registered.reason);
  const { subscription, noSubject: warning } = registered;
  call.note({ subscription: withPrefix('sub', subscription.id), did: 'subscription created' });
  const body = { registered: true, subscription: showSubscription(subscription), warning };
  return { status: 201, body };
}

async function end(context: Context, { call, found, reported }: Registering): Promise<Reply> {
  const { app } = call;
  const { status } = reported;
  const { operation } = found;
  const { message: request } = messageIn({ found, reported });
  if (!hasEnded(operation, status)) return unregistered(`the API answered ${status}`);
  const ids = await namedSubscriptions(context, found, {
    app,
    request,
    target: targetOf(reported, found),
  });
  for (const id of ids) await unsubscribe(context, app, withPrefix('sub', id));
  const ended = ids.map((id) => withPrefix('sub', id));
  return {
    status: 200,
    body: { registered: false, reason: `${operation.operationId} unsubscribes`, ended },
  };
}

function messageIn({ found, reported }: Pick<Registering, 'found' | 'reported'>): ReadExchange {
  const { url, header, body } = reported;
  const mediaType = header.get('content-type') ?? 'application/json';
  return readExchange(found, {
    path: found.path,
    query: [...url.searchParams],
    header,
    cookie: new Map(),
    body: body === undefined ? undefined : { mediaType, value: body },
  });
}

function answerIn({ status, url, answerHeader, answerBody }: Reported): ApiAnswer {
  return { status, message: readAnswer(answerHeader, answerBody, url.href) };
}

function targetOf({ url }: Reported, { contract }: RequestedOperation): string {
  return withoutCredentials(url.pathname + url.search, contract);
}

function unregistered(reason: string): Reply {
  return { status: 200, body: { registered: false, reason } };
}

function nothingToRegister(): Problem {
  const detail =
    'Cannot register an exchange: no API answers the operations of this service. Start it with ' +
    'RINGBACK_CONTRACT, and with RINGBACK_OPERATIONS=register or an upstream';
  return new Problem('conflict', detail);
}
