// Handlers of operations that a contract itself defines: subscribe and unsubscribe.
import assert from 'node:assert/strict';
import type { Message } from '../../contract/expression/evaluate.ts';
import type { Contract, Operation, Parameter, Unsubscribe } from '../../contract/model/contract.ts';
import { composeAnswer, type Answer } from '../../contract/request/answer.ts';
import { withPrefix } from '../../core/base/id.ts';
import type { Actor } from '../../core/domain/app.ts';
import type { Context } from '../../engine/context.ts';
import { resourceAt, subscribe } from '../../engine/subscribe/subscribe.ts';
import { unsubscribe } from '../../engine/subscribe/subscriptions.ts';
import type { Handler, Reply } from '../request/call.ts';

export interface ContractHandlerDeps {
  context: Context;
  contract: Contract;
  operation: Operation;
  publicUrl: () => string;
}

export function contractHandler(deps: ContractHandlerDeps): Handler {
  const { operation } = deps;
  const { role } = operation;
  assert(role.kind !== 'managed', `${operation.operationId} has a handler of its own`);
  if (role.kind === 'subscribe') return subscribeHandler(deps);
  const shape = role.answer;
  assert(shape, `${operation.operationId} is answered here`);
  return async ({ app, request, target, note }) => {
    const named = role.id && idIn(request, role.id);
    const found = await resourceIn(deps, { app, target, role });
    const ended = await unsubscribe(deps.context, app, found ?? named ?? '');
    const id = withPrefix('sub', ended.id);
    note({ subscription: id });
    const url = deps.publicUrl() + withoutCredentials(target, deps.contract);
    return replyOf(composeAnswer(shape, { request, id, secret: '', url }));
  };
}

function replyOf({ mediaType, body, ...answer }: Answer): Reply {
  if (body === undefined || mediaType === 'application/json') return { ...answer, body };
  return { ...answer, body: JSON.stringify(body), mediaType };
}

/** The id of what a PUT subscribed where the request says. */
export async function resourceIn(
  { context, contract }: Pick<ContractHandlerDeps, 'context' | 'contract'>,
  { app, target, role }: { app: Actor; target: string; role: Unsubscribe },
): Promise<string | undefined> {
  if (role.resource === undefined) return undefined;
  const [path = '', ...query] = withoutCredentials(target, contract).split('?');
  const own = role.resource === 'own' ? path : path.replace(/\/[^/]*$/u, '');
  const resource = resourceAt(contract.title, [own, ...query].join('?'), app);
  const id = await context.store.read('subscriptionOf', { appNo: app.no, resource });
  return id && withPrefix('sub', id);
}

/** Empty, and so no valid id, if an optional parameter is absent. */
export function idIn(request: Message, { in: place, name }: Parameter): string {
  // Cookies are never ids, and a message has none.
  if (place === 'cookie') return '';
  const value = request[place].get(place === 'header' ? name.toLowerCase() : name);
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

function subscribeHandler({
  context,
  contract,
  operation,
  publicUrl,
}: ContractHandlerDeps): Handler {
  return async ({ app, request, variant, target, bytes, note }) => {
    assert(variant, `${operation.operationId} was read with a variant`);
    const key = request.header.get('idempotency-key');
    const own = withoutCredentials(target, contract);
    const { id, answer } = await subscribe(context, {
      app,
      contract: contract.title,
      operation,
      variant,
      request,
      url: publicUrl() + own,
      resource: operation.method === 'PUT' ? resourceAt(contract.title, own, app) : undefined,
      idempotency: key === undefined ? undefined : { key, body: bytes },
    });
    if (id !== undefined) note({ subscription: withPrefix('sub', id) });
    return replyOf(answer);
  };
}

// Removes credentials from URLs before they reach a target, a log or the store.

/** Path and query of a request, without the query parameters that carry keys in this contract. */
export function withoutCredentials(target: string, { operations }: Contract): string {
  const mark = target.indexOf('?');
  if (mark < 0) return target;
  const secret = new Set(
    operations
      .flatMap(({ security }) => security.flatMap(({ schemes }) => schemes))
      .flatMap(({ carrier }) => (carrier.in === 'query' ? [carrier.name] : [])),
  );
  const pairs = target
    .slice(mark + 1)
    .split('&')
    .filter((pair) => ![...new URLSearchParams(pair).keys()].some((name) => secret.has(name)));
  return pairs.length === 0 ? target.slice(0, mark) : `${target.slice(0, mark)}?${pairs.join('&')}`;
}
