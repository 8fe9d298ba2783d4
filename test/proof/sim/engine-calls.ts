// Calls of clients to an engine, as the HTTP API would make them.
import assert from 'node:assert/strict';
import { withPrefix } from '../../../src/core/base/id.ts';
import { noChoice } from '../../../src/core/domain/read-controls.ts';
import { publish } from '../../../src/engine/publish/publish.ts';
import { createReplay } from '../../../src/engine/read/replays.ts';
import { subscribe } from '../../../src/engine/subscribe/subscribe.ts';
import { changeSubscription } from '../../../src/engine/subscribe/subscriptions.ts';
import { contract, type Engine } from './engine.ts';
import type { Publishing, Replaying } from './records.ts';

const rules = { contracts: [contract], isLenient: true };

export async function publishIn(
  { context }: Engine,
  records: readonly Pick<Publishing, 'name' | 'key' | 'body'>[],
): Promise<string[]> {
  const asked = records.map(({ name, body }, at) => ({
    name,
    value: JSON.parse(body),
    payload: Buffer.from(body),
    at: `body#/events/${at}`,
  }));
  const key = records[0]?.key;
  const parts = asked.map(({ payload }) => payload);
  const { events } = await publish(context, rules, {
    app: context.defaultApp,
    contract: undefined,
    events: asked,
    subscriberId: undefined,
    hops: 0,
    idempotency: key === undefined ? undefined : { key, operation: 'publish', parts },
  });
  return events.map(({ id }) => withPrefix('evt', id));
}

export async function subscribeIn(
  { context }: Engine,
  callbackUrl: string,
  chosen: Record<string, unknown>,
): Promise<string> {
  const operation = contract.operations.find((one) => one.operationId === 'subscribeOperation');
  const variants = operation?.role.kind === 'subscribe' ? operation.role.variants : [];
  const variant = variants.find(({ name }) => name === 'body');
  if (operation === undefined || variant === undefined)
    throw new Error('Cannot find the variant "body" of subscribeOperation');
  const body = { callbackUrl, 'x-ringback': chosen };
  const request = { header: new Map(), query: new Map(), path: new Map(), body };
  const { id } = await subscribe(context, {
    app: context.defaultApp,
    contract: contract.title,
    operation,
    variant,
    request,
    url: 'http://127.0.0.1/subscribe',
    resource: undefined,
    idempotency: undefined,
  });
  assert(id !== undefined, 'the request has a callback URL');
  return withPrefix('sub', id);
}

export async function change(
  { context }: Engine,
  id: string,
  {
    state,
    callbacks,
  }: {
    state: 'active' | 'paused' | undefined;
    callbacks: { position: number; url: string; events: undefined }[];
  },
): Promise<void> {
  const asked = { state, callbacks, choice: noChoice };
  await changeSubscription(context, context.defaultApp, { id, change: asked });
}

export async function replayIn({ context }: Engine, request: Replaying): Promise<string> {
  const { key, state, event, subscriberId, ratePerSecond } = request;
  const owner = { subject: undefined, customer: undefined };
  const anything = { ...owner, status: undefined, error: undefined };
  const always = { fromMs: undefined, untilMs: undefined };
  const { id } = await createReplay(context, context.defaultApp, {
    filter: { state, event, subscriberId, ...anything, ...always },
    ratePerSecond,
    idempotency: { key, operation: 'createReplay', parts: [] },
  });
  return withPrefix('rpl', id);
}
