// Registers an exchange: a request that an API answers, and its answer, make the subscription that the callbacks of the
// operation describe. The gateway does it in two halves: before the API gets the request, the subscription is written
// unconfirmed, so that no crash can lose it; the answer confirms or ends it. What the API refused must never be called.
import assert from 'node:assert/strict';
import type { ExpressionInput, Message } from '../../contract/expression/evaluate.ts';
import type { Expression } from '../../contract/expression/expression.ts';
import { buildTargets } from '../../contract/expression/target.ts';
import { expressionsOf } from '../../contract/expression/template.ts';
import {
  responseKeys,
  type CallbackDefinition,
  type Operation,
  type Subscribe,
  type Variant,
} from '../../contract/model/contract.ts';
import { fieldOf } from '../../contract/model/variants.ts';
import { readId, withPrefix } from '../../core/base/id.ts';
import { isVisible, type Actor } from '../../core/domain/app.ts';
import type { DeclaredHeader } from '../../core/domain/callback-headers.ts';
import { isEventName, isSubject, literalPattern } from '../../core/domain/pattern.ts';
import {
  subjectBeforeAnswer,
  type Callback,
  type Subscription,
} from '../../core/domain/subscription.ts';
import { Problem, type Fault } from '../../core/errors/problem.ts';
import { limits } from '../../core/limits/limits.ts';
import type { NewSubscription } from '../../store/port/store.ts';
import { audited } from '../audit.ts';
import type { Context } from '../context.ts';
import { confirmSubscription } from '../publish/confirm.ts';
import { idempotencyMismatch, idempotencyOf, type KeyedRequest } from '../publish/idempotency.ts';
import { newSecret, sealSecrets } from '../targets/secrets.ts';
import {
  announceExpiry,
  choose,
  chosenAtSubscribe,
  expired,
  narrow,
  narrowed,
  withExpiry,
  type SubscribeChoice,
} from './controls.ts';
import { quotaExceeded } from './subscribe.ts';
import { customerFor, expiryFor, readSubject } from './subject.ts';
import { acceptUrl, findTargets, isAbsent, targetRefused, type TargetDeps } from './targets.ts';

/** A request for an operation with callbacks, on its way to the API. */
export interface ExchangeCall {
  app: Actor;
  contract: string;
  operation: Operation;
  variant: Variant;
  request: Message;
  /** Absolute, without credentials. */
  url: string;
  /** Of a PUT, which replaces an earlier subscription: see resourceAt(). */
  resource: string | undefined;
  requestId: string;
}

/** What the API answered. */
export interface ApiAnswer {
  status: number;
  message: Message;
}

/** A request that may make a subscription. */
interface Plan {
  choice: SubscribeChoice;
  customer: string | undefined;
  /** With a place for each callback that only the answer can complete. */
  callbacks: readonly Callback[];
  headers: readonly DeclaredHeader[];
  /** The definitions that read the answer. */
  waiting: readonly CallbackDefinition[];
}

export interface BegunExchange {
  call: ExchangeCall;
  plan: Plan;
  /** The bare id of its unconfirmed subscription. */
  id: string;
}

/**
 * Writes the unconfirmed subscription of a request; undefined if the request names no callback URL. Throws if a URL is
 * refused that the request alone determines.
 */
export async function beginExchange(
  context: Context,
  call: ExchangeCall,
): Promise<BegunExchange | undefined> {
  const plan = await planOf(context, call);
  if (plan === undefined) return undefined;
  const { store } = context;
  const id = context.newId();
  const subject = roleOf(call).subject && subjectBeforeAnswer(id);
  const confirmByMs = store.nowMs() + limits.confirmWithinMs;
  const exchange = { requestId: call.requestId, status: undefined };
  const made = newSubscription(context, { call, plan, id, subject });
  const result = await store.edit('subscribe', {
    subscription: { ...made, confirmByMs, exchange },
    idempotency: undefined,
    subscriptionsMax: context.quotas.fallback.subscriptions,
  });
  if (result.kind === 'full') throw quotaExceeded(result.quota);
  if (result.kind === 'expired') throw expired('subscribe');
  assert(result.kind === 'created', 'A request of its own is never repeated');
  announceExpiry(context, result.subscription);
  context.changes.subscription(call.app.no, id);
  return { call, plan, id };
}

export type EndedExchange =
  | { kind: 'registered'; subscription: Subscription; noSubject: string | undefined }
  /** `reason`: why nothing is registered. */
  | { kind: 'nothing'; reason: string };

/** Confirms the subscription if the API accepted the request, and ends it otherwise. */
export async function endExchange(
  context: Context,
  { call, plan, id }: BegunExchange,
  answer: ApiAnswer,
): Promise<EndedExchange> {
  const { status } = answer;
  const refusal = refusalBy(roleOf(call), status);
  if (refusal !== undefined) return refuse(context, { call, id, status, reason: refusal });
  const completed = await complete(context, { call, plan, answer });
  if (completed.callbacks.every(({ inactive }) => inactive !== undefined)) {
    const reason = 'neither the request nor the answer has a usable callback URL';
    return refuse(context, { call, id, status, reason });
  }
  const { app, resource } = call;
  const { subject, noSubject } = subjectFrom(call, answer);
  const chosen =
    plan.waiting.length === 0
      ? undefined
      : choose(context, {
          app,
          subscriptionId: id,
          choice: plan.choice,
          declared: completed.headers,
        });
  const result = await confirmSubscription(context, {
    appNo: app.no,
    id,
    subject,
    resource,
    status,
    headers: chosen?.headers,
    callbacks: plan.waiting.length === 0 ? [] : completed.callbacks,
  });
  if (result.kind === 'confirmed') {
    return { kind: 'registered', subscription: result.subscription, noSubject };
  }
  return { kind: 'nothing', reason: `${withPrefix('sub', id)} has ended` };
}

/** An accepted PUT without a callback URL ends the subscription of its resource. */
export async function clearResource(
  context: Context,
  call: Pick<ExchangeCall, 'app' | 'operation' | 'resource'>,
  { status }: Pick<ApiAnswer, 'status'>,
): Promise<void> {
  const { app, resource } = call;
  if (resource === undefined || refusalBy(roleOf(call), status) !== undefined) return;
  const audit = audited(app, 'subscription.ended', { details: { reason: 'replaced' } });
  const input = { appNo: app.no, resource, idempotency: undefined, audit };
  const result = await context.store.edit('clearResource', input);
  if (result.kind !== 'cleared' || result.ended === undefined) return;
  context.changed(result.ended, 'ended');
  context.changes.subscription(app.no, result.ended);
}

/** The API cannot have received the request. */
export async function abandonExchange(
  context: Context,
  { call, id }: Pick<BegunExchange, 'call' | 'id'>,
): Promise<void> {
  await refuse(context, { call, id, status: undefined, reason: 'the API was not reached' });
}

/**
 * The ids of the subscriptions of these operations that have this id or subject, as a request for an unsubscribe
 * operation names them.
 */
export async function subscriptionsNamed(
  { store }: Context,
  app: Actor,
  { contract, operations, name }: Naming,
): Promise<string[]> {
  const { no: appNo, customer } = app;
  const own = readId('sub', name);
  const byId = own === undefined ? undefined : await store.read('subscription', { appNo, id: own });
  const found = byId === undefined ? [] : [byId];
  let after: string | undefined;
  do {
    if (!isSubject(name)) break;
    const page = { limit: limits.pageItemsMax, after };
    const input = { appNo, page, state: undefined, subject: name, customer };
    const { items, next } = await store.read('subscriptions', input);
    found.push(...items);
    after = next;
  } while (after !== undefined);
  return found
    .filter((one) => one.contract === contract && operations.includes(one.operation))
    .filter((one) => one.state !== 'ended' && isVisible(app, one))
    .map(({ id }) => id);
}

export interface Naming {
  contract: string;
  /** By operationId. */
  operations: readonly string[];
  /** An id or a subject. */
  name: string;
}

/** Both halves at once: the API says what it answered. */
export async function registerExchange(
  context: Context,
  call: ExchangeCall,
  { answer, idempotency }: { answer: ApiAnswer; idempotency: KeyedRequest | undefined },
): Promise<EndedExchange> {
  const { status } = answer;
  const refusal = refusalBy(roleOf(call), status);
  if (refusal !== undefined) return { kind: 'nothing', reason: refusal };
  const plan = await planOf(context, call);
  const completed = plan && (await complete(context, { call, plan, answer }));
  if (plan === undefined || completed?.callbacks.every(({ inactive }) => inactive !== undefined)) {
    await clearResource(context, call, answer);
    return { kind: 'nothing', reason: 'neither the request nor the answer has a callback URL' };
  }
  const id = context.newId();
  const { subject, noSubject } = subjectFrom(call, answer);
  const made = newSubscription(context, {
    call,
    plan: { ...plan, ...completed },
    id,
    subject: subject ?? (roleOf(call).subject && subjectBeforeAnswer(id)),
  });
  const exchange = { requestId: call.requestId, status };
  const result = await context.store.edit('subscribe', {
    subscription: { ...made, resource: call.resource, exchange },
    idempotency: idempotency && idempotencyOf(idempotency, call.app),
    subscriptionsMax: context.quotas.fallback.subscriptions,
    audit: audited(call.app, 'subscription.created', { object: withPrefix('sub', id) }),
  });
  switch (result.kind) {
    case 'created':
      context.changes.subscription(call.app.no, id);
      announceExpiry(context, result.subscription);
      if (result.replaced !== undefined) {
        context.changed(result.replaced, 'ended');
        context.changes.subscription(call.app.no, result.replaced);
      }
      return { kind: 'registered', subscription: result.subscription, noSubject };
    case 'repeated':
      return { kind: 'registered', subscription: result.subscription, noSubject };
    case 'mismatch':
      throw idempotencyMismatch();
    case 'expired':
      throw expired('subscribe');
    case 'full':
      throw quotaExceeded(result.quota);
  }
}

function roleOf({ operation }: Pick<ExchangeCall, 'operation'>): Subscribe {
  const { role, operationId } = operation;
  assert(role.kind === 'subscribe', `${operationId} has callbacks`);
  return role;
}

/** Why the answer is no acceptance; undefined if it is one. */
function refusalBy({ accepts }: Subscribe, status: number): string | undefined {
  const [exact, range] = responseKeys(status);
  const isAccepted =
    accepts.length === 0 ? range === '2XX' : accepts.includes(exact) || accepts.includes(range);
  if (isAccepted) return undefined;
  const expected = accepts.length === 0 ? 'any 2xx' : accepts.join(' or ');
  return `the API answered ${status}, expected ${expected}`;
}

interface Refusing {
  call: ExchangeCall;
  id: string;
  /** Undefined if the API did not answer. */
  status: number | undefined;
  reason: string;
}

async function refuse(
  context: Context,
  { call, id, status, reason }: Refusing,
): Promise<EndedExchange> {
  const { no: appNo } = call.app;
  await context.store.edit('unsubscribe', { appNo, id, reason: 'refused', status });
  context.changed(id, 'ended');
  context.changes.subscription(appNo, id);
  return { kind: 'nothing', reason };
}

interface Making {
  call: ExchangeCall;
  plan: Plan;
  id: string;
  subject: string | undefined;
}

function newSubscription(context: Context, { call, plan, id, subject }: Making): NewSubscription {
  const { app, contract, operation } = call;
  const { choice, customer, callbacks, headers: declared } = plan;
  const owner = { appId: app.id, subscriptionId: id };
  const secret = newSecret(context.world, choice.controls.signing);
  const expiresMs = expiryFor(roleOf(call), subject, context.store.nowMs());
  return {
    id,
    appNo: app.no,
    contract,
    operation: operation.operationId,
    callbacks,
    secrets: sealSecrets(context, owner, [secret]),
    subject,
    customer,
    ...choose(context, {
      app,
      subscriptionId: id,
      choice: withExpiry(choice, expiresMs),
      declared,
    }),
  };
}

/** What the request alone determines; undefined if no callback can come of it. */
async function planOf(context: Context, call: ExchangeCall): Promise<Plan | undefined> {
  const { operation, variant, request, url } = call;
  const choice = chosenAtSubscribe(operation, request);
  const deps = { guard: context.guard, nowMs: context.world.nowMs() };
  const exchange = { url, request };
  const [waiting, ready] = [
    variant.callbacks.filter(readsAnswer),
    variant.callbacks.filter((one) => !readsAnswer(one)),
  ];
  const found = await findTargets(ready, exchange, deps);
  const faults = [
    ...found.faults,
    ...(await hostFaults(waiting, { ...exchange, method: '' }, deps)),
  ];
  if (faults.length > 0) throw targetRefused(faults);
  const places = waiting.map((one) => placeOf(one, request));
  const isPossible =
    found.callbacks.some(({ inactive }) => inactive === undefined) ||
    places.some(({ inactive }) => inactive === notAnswered);
  if (!isPossible) return undefined;
  const order = new Map(variant.callbacks.map(({ id }, index) => [id, index]));
  const callbacks = [...found.callbacks, ...places]
    .toSorted((a, b) => (order.get(a.definition) ?? 0) - (order.get(b.definition) ?? 0))
    .map((one, position) => ({ ...one, position }));
  const kept = narrow(callbacks, choice.events);
  const asked = { ...exchange, method: operation.method };
  const customer = customerFor(roleOf(call), { app: call.app, choice }, asked);
  return { choice, customer, callbacks: kept, headers: found.headers, waiting };
}

function readsAnswer({ target = [], event, additions }: CallbackDefinition): boolean {
  const sent = additions.flatMap(({ value, expires }) => [
    ...expressionsOf(value),
    ...(expires === undefined ? [] : [expires]),
  ]);
  return [...expressionsOf(target), ...expressionsOf(event), ...sent].some(isOfAnswer);
}

function isOfAnswer(expression: Expression): boolean {
  return 'from' in expression ? expression.from === 'response' : expression.kind === 'statusCode';
}

const notAnswered = 'the API has not answered yet';

/** The place of a callback that only the answer can complete. */
function placeOf(definition: CallbackDefinition, request: Message): Callback {
  const { id, label, method, target = [] } = definition;
  const missing = expressionsOf(target).find(
    (one) => 'from' in one && one.from === 'request' && isAbsent(one, request),
  );
  const inactive = missing === undefined ? notAnswered : `the request has no ${fieldOf(missing)}`;
  const event = isEventName(label) ? literalPattern(label) : '*';
  return { position: 0, label, events: [event], definition: id, method, url: '', inactive };
}

/** The faults of URLs whose start the request determines, although the answer completes them. */
async function hostFaults(
  definitions: readonly CallbackDefinition[],
  exchange: ExpressionInput,
  { guard }: TargetDeps,
): Promise<Fault[]> {
  const found = definitions.map(async ({ target = [] }) => {
    const [first] = target;
    if (first?.kind !== 'expression' || isOfAnswer(first.expression)) return [];
    const field = fieldOf(first.expression);
    const targets = buildTargets([first], exchange);
    const verdicts = targets.map(async (one): Promise<Fault[]> => {
      if (one.kind === 'unresolved') return [];
      if (one.kind === 'refused') return [{ field, message: one.reason }];
      const accepted = await acceptUrl(one.url, guard);
      return accepted.kind === 'refused' ? [{ field, message: accepted.message }] : [];
    });
    return (await Promise.all(verdicts)).flat();
  });
  return (await Promise.all(found)).flat();
}

interface Completing {
  call: ExchangeCall;
  plan: Plan;
  answer: ApiAnswer;
}

/** The callbacks and their headers, now that the API has answered. What cannot be called stays inactive. */
async function complete(
  context: Context,
  { call, plan, answer }: Completing,
): Promise<Pick<Plan, 'callbacks' | 'headers'>> {
  const deps = { guard: context.guard, nowMs: context.world.nowMs() };
  const exchange = {
    url: call.url,
    request: call.request,
    statusCode: answer.status,
    response: answer.message,
  };
  const waiting = new Set(plan.waiting.map(({ id }) => id));
  const callbacks = plan.callbacks.filter((one) => !waiting.has(one.definition));
  const headers = [...plan.headers];
  for (const definition of plan.waiting) {
    const place = plan.callbacks.find((one) => one.definition === definition.id);
    assert(place, 'Each callback has its place from the request on');
    const made = await attempt(async () => findTargets([definition], exchange, deps));
    const isMany =
      made.kind === 'found' &&
      callbacks.length + made.found.callbacks.length > limits.callbacksPerSubscriptionMax;
    const reason = isMany
      ? `there would be more than ${limits.callbacksPerSubscriptionMax} callbacks`
      : made.kind === 'failed'
        ? made.reason
        : undefined;
    if (reason !== undefined || made.kind === 'failed') {
      callbacks.push({ ...place, inactive: reason });
      continue;
    }
    callbacks.push(...made.found.callbacks.map((one) => narrowed(one, plan.choice.events)));
    headers.push(...made.found.headers);
  }
  return { callbacks: callbacks.map((one, position) => ({ ...one, position })), headers };
}

type Found = Awaited<ReturnType<typeof findTargets>>;

/** The API has answered already, so its values cannot be refused any more. */
async function attempt(
  find: () => Promise<Found>,
): Promise<{ kind: 'found'; found: Found } | { kind: 'failed'; reason: string }> {
  try {
    return { kind: 'found', found: await find() };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { kind: 'failed', reason: error.message };
  }
}

/** `noSubject`: why there is none, although the operation says what its subscriptions are about. */
function subjectFrom(
  call: ExchangeCall,
  { status, message }: ApiAnswer,
): { subject: string | undefined; noSubject: string | undefined } {
  const { operation, request, url } = call;
  const { subject: template } = roleOf(call);
  if (template === undefined) return { subject: undefined, noSubject: undefined };
  const { method } = operation;
  const exchange = { url, method, request, statusCode: status, response: message };
  const reading = readSubject(template, exchange);
  return reading.kind === 'subject'
    ? { subject: reading.subject, noSubject: undefined }
    : { subject: undefined, noSubject: reading.reason };
}
