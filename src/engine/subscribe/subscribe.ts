// Subscribe: composes the answer, builds the targets from request and answer, commits, then
// answers. A refused request registers nothing.
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
import type { App } from '../../core/domain/app.ts';
import { Problem } from '../../core/errors/problem.ts';
import { limits } from '../../core/limits/limits.ts';
import { verifierOf, type SigningSecret } from '../../core/secrets/signing-secret.ts';
import type { Idempotency } from '../../store/port/store.ts';
import type { Context } from '../context.ts';
import { idempotencyMismatch, idempotencyOf } from '../publish/idempotency.ts';
import { newSecret, openSecrets, sealSecrets } from '../targets/secrets.ts';
import { choose, chosenAtSubscribe, expired, narrow, announceExpiry } from './controls.ts';
import { unsubscribe } from './subscriptions.ts';
import { makeCallbacks } from './targets.ts';

export interface SubscribeCall {
  app: Pick<App, 'no' | 'id'>;
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
  const id = idOfForm(variant.answer.idForm, context.newId());
  const choice = chosenAtSubscribe(operation, call.request);
  const secret = newSecret(world, choice.controls.signing);
  const answer = answerFor(call, { id, secret });
  const made = await makeCallbacks(variant.callbacks, exchangeOf(call, answer), {
    guard,
    nowMs: world.nowMs(),
  });
  if (made.callbacks.length === 0) {
    const isReplaced = await endAt(context, call);
    return { id: undefined, answer: plainAnswer(call, isReplaced) };
  }
  const callbacks = narrow(made.callbacks, choice.events);
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
      ...choose(context, { app, subscriptionId: id, choice, declared: made.headers }),
    },
    idempotency: call.idempotency && keyed(call, call.idempotency),
    subscriptionsMax: context.quotas.fallback.subscriptions,
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
      const { id: known, secrets: sealed } = result.subscription;
      const owner = { appId: app.id, subscriptionId: known };
      const [before] = openSecrets(ring, owner, sealed);
      return { id: known, answer: answerFor(call, { id: known, secret: before }) };
    }
    case 'mismatch':
      throw idempotencyMismatch();
    case 'expired':
      throw expired('subscribe');
    case 'full':
      throw quotaExceeded(result.quota);
  }
}

/**
 * A PUT replaces what is there by nothing. If another PUT is faster, it ends the same subscription,
 * and its own stays, as if it had come later.
 */
async function endAt(context: Context, { app, resource }: SubscribeCall): Promise<boolean> {
  if (resource === undefined) return false;
  const id = await context.store.read('subscriptionOf', { appNo: app.no, resource });
  if (id === undefined) return false;
  await unsubscribe(context, app, withPrefix('sub', id));
  return true;
}

function quotaExceeded(quota: number): Problem {
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
    { ...shapeFor(variant, isReplaced), idForm: variant.answer.idForm },
    {
      request: withoutSecrets(request, variant),
      url,
      id: withPrefix('sub', id),
      secret: secret === undefined ? '' : verifierOf(secret),
    },
  );
}

function shapeFor({ answer, replaced }: Variant, isReplaced: boolean): AnswerShape {
  return isReplaced ? (replaced ?? answer) : answer;
}

interface Answering {
  id: string;
  secret: SigningSecret | undefined;
  isReplaced?: boolean;
}

/**
 * Names what a PUT of the same path and query replaces. `target` has no credentials; it is hashed,
 * since it may be long.
 */
export function resourceAt(contract: string, target: string): string {
  return hash('sha256', JSON.stringify([contract, target]), 'hex');
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
  { operation, url }: SubscribeCall,
  { key, body }: NonNullable<SubscribeCall['idempotency']>,
): Idempotency {
  const { pathname, search } = new URL(url);
  const parts = [operation.method, pathname + search, body];
  return idempotencyOf({ key, operation: operation.operationId, parts });
}
