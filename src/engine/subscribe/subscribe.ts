// Subscribe: composes the answer, builds the targets from request and answer, commits, then
// answers. A refused request registers nothing.
import { strict as assert } from 'node:assert';
import { hash } from 'node:crypto';
import type { ExpressionInput, Message } from '../../contract/expression/evaluate.ts';
import type { AnswerShape, Operation, Variant } from '../../contract/model/contract.ts';
import {
  composeAnswer,
  messageOf,
  withoutId,
  withoutSecrets,
  type Answer,
} from '../../contract/request/answer.ts';
import { idOfForm, withPrefix } from '../../core/base/id.ts';
import type { Actor } from '../../core/domain/app.ts';
import { Problem } from '../../core/errors/problem.ts';
import { limits } from '../../core/limits/limits.ts';
import { verifierOf, type SigningSecret } from '../../core/secrets/signing-secret.ts';
import type { Idempotency } from '../../store/port/store.ts';
import { audited } from '../audit.ts';
import type { Context } from '../context.ts';
import { idempotencyMismatch, idempotencyOf } from '../publish/idempotency.ts';
import { newSecret, openSecrets, sealSecrets } from '../targets/secrets.ts';
import {
  announceExpiry,
  choose,
  chosenAtSubscribe,
  expired,
  narrow,
  withExpiry,
} from './controls.ts';
import { customerFor, expiryFor, requiredSubject } from './subject.ts';
import { makeCallbacks } from './targets.ts';

export interface SubscribeCall {
  app: Actor;
  contract: string;
  operation: Operation;
  variant: Variant;
  request: Message;
  /** Absolute, without credentials. */
  url: string;
  idempotency: { key: string; body: Uint8Array } | undefined;
  /** Of a PUT, which replaces an earlier subscription: see resourceAt(). */
  resource: string | undefined;
}

export interface Subscribed {
  /** Undefined if the request leaves out the callback URL, which is optional. */
  id: string | undefined;
  answer: Answer;
}

export async function subscribe(context: Context, call: SubscribeCall): Promise<Subscribed> {
  const { world, store, guard, ring } = context;
  const { app, contract, operation, variant } = call;
  const { role } = operation;
  assert(role.kind === 'subscribe', `${operation.operationId} has callbacks`);
  const id = idOfForm(shapeFor(variant).idForm, context.newId());
  const choice = chosenAtSubscribe(operation, call.request);
  const secret = newSecret(world, choice.controls.signing);
  const answer = answerFor(call, { id, secret });
  const exchange = exchangeOf(call, answer);
  const made = await makeCallbacks(variant.callbacks, exchange, { guard, nowMs: world.nowMs() });
  if (made.callbacks.length === 0) {
    return { id: undefined, answer: plainAnswer(call, await replaceByNothing(context, call)) };
  }
  const callbacks = narrow(made.callbacks, choice.events);
  const asked = { ...exchange, method: operation.method };
  const subject = requiredSubject(role, asked);
  const customer = customerFor(role, { app, choice }, asked);
  const expiresMs = expiryFor(role, subject, store.nowMs());
  const secrets = sealSecrets({ ring, world }, { appId: app.id, subscriptionId: id }, [secret]);
  const result = await store.edit('subscribe', {
    subscription: {
      id,
      appNo: app.no,
      contract,
      operation: operation.operationId,
      callbacks,
      secrets,
      resource: call.resource,
      subject,
      customer,
      ...choose(context, {
        app,
        subscriptionId: id,
        choice: withExpiry(choice, expiresMs),
        declared: made.headers,
      }),
    },
    idempotency: call.idempotency && keyed(call, call.idempotency),
    subscriptionsMax: context.quotas.fallback.subscriptions,
    audit: audited(app, 'subscription.created', { object: withPrefix('sub', id) }),
  });
  switch (result.kind) {
    case 'created':
      context.changes.subscription(app.no, id);
      announceExpiry(context, result.subscription);
      if (result.replaced === undefined) return { id, answer };
      context.changed(result.replaced, 'ended');
      context.changes.subscription(app.no, result.replaced);
      return { id, answer: answerFor(call, { id, secret, isReplaced: true }) };
    case 'repeated': {
      const { isReplacing: isReplaced, subscription } = result;
      const { id: known, secrets: sealed } = subscription;
      const owner = { appId: app.id, subscriptionId: known };
      const [before] = openSecrets(ring, owner, sealed);
      return { id: known, answer: answerFor(call, { id: known, secret: before, isReplaced }) };
    }
    case 'mismatch':
      throw idempotencyMismatch();
    case 'expired':
      throw expired('subscribe');
    case 'full':
      throw quotaExceeded(result.quota);
  }
}

/** Whether the request, which makes no subscription, ended the one of its resource. */
async function replaceByNothing(context: Context, call: SubscribeCall): Promise<boolean> {
  const { app, resource, idempotency } = call;
  if (resource === undefined && idempotency === undefined) return false;
  const key = idempotency && keyed(call, idempotency);
  const audit = audited(app, 'subscription.ended', { details: { reason: 'replaced' } });
  const input = { appNo: app.no, resource, idempotency: key, audit };
  const result = await context.store.edit('clearResource', input);
  switch (result.kind) {
    case 'mismatch':
      throw idempotencyMismatch();
    case 'repeated':
      return result.isReplacing;
    case 'cleared':
      if (result.ended === undefined) return false;
      context.changed(result.ended, 'ended');
      context.changes.subscription(app.no, result.ended);
      return true;
  }
}

export function quotaExceeded(quota: number): Problem {
  const detail = `Cannot subscribe: the app already has ${quota} subscriptions, its quota`;
  return new Problem('quota_exceeded', detail, {
    headers: {
      'ratelimit-policy': `"subscriptions";q=${quota}`,
      ratelimit: '"subscriptions";r=0',
      'retry-after': String(limits.quotaAgainMs / 1_000),
    },
  });
}

function answerFor(
  { variant, request, url }: SubscribeCall,
  { id, secret, isReplaced = false }: Answering,
): Answer {
  return composeAnswer(
    { ...shapeFor(variant, isReplaced), idForm: shapeFor(variant).idForm },
    {
      request: withoutSecrets(request, variant),
      url,
      id: withPrefix('sub', id),
      secret: secret === undefined ? '' : verifierOf(secret),
    },
  );
}

function shapeFor({ answer, replaced }: Variant, isReplaced = false): AnswerShape {
  assert(answer, 'Cannot subscribe by an operation that an API answers');
  return isReplaced ? (replaced ?? answer) : answer;
}

interface Answering {
  id: string;
  secret: SigningSecret | undefined;
  isReplaced?: boolean;
}

/**
 * Names what a PUT of the same path and query replaces. `target` has no credentials; it is hashed,
 * since it may be long. Each customer has resources of its own.
 */
export function resourceAt(
  contract: string,
  target: string,
  { customer }: Pick<Actor, 'customer'>,
): string {
  const owner = customer === undefined ? [] : [customer];
  return hash('sha256', JSON.stringify([contract, target, ...owner]), 'hex');
}

function plainAnswer({ variant, request, url }: SubscribeCall, isReplaced: boolean): Answer {
  const own = { request: withoutSecrets(request, variant), url, id: '', secret: '' };
  return composeAnswer(withoutId(shapeFor(variant, isReplaced)), own);
}

function exchangeOf(call: SubscribeCall, answer: Answer): Omit<ExpressionInput, 'method'> {
  const { url, request } = call;
  return { url, statusCode: answer.status, request, response: messageOf(answer, url) };
}

/** Without the origin, so that a node with another origin recognizes the repeated request. */
function keyed(
  { app, operation, url }: SubscribeCall,
  { key, body }: NonNullable<SubscribeCall['idempotency']>,
): Idempotency {
  const { pathname, search } = new URL(url);
  const parts = [operation.method, pathname + search, body];
  return idempotencyOf({ key, operation: operation.operationId, parts }, app);
}
