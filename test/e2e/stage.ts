// What tests of whole callbacks do over and over: subscribe, publish, and see where a delivery stands.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Answer, Running } from '../api/harness.ts';
import { patienceMs } from './awaitable-count.ts';

export interface Subscribed {
  id: string;
  secret: string;
}

export interface Accepted {
  eventId: string;
  deliveries: number | null;
}

export interface AttemptView {
  id: string;
  startedAt: string;
  tookMs: number;
  status?: number;
  error?: string;
  message?: string;
  warning?: string;
  request: { method: string; url: string; headers: Record<string, string> };
  response?: { headers: Record<string, string>; body: string; isCut: boolean };
}

export interface DeliveryView {
  id: string;
  state: string;
  event: string;
  eventId: string;
  subscriberId: string;
  callback: { position: number; label: string; method: string; url: string };
  attemptCount: number;
  status?: number;
  error?: string;
  nextAttemptAt?: string;
  createdAt: string;
  endedAt?: string;
  attempts: AttemptView[];
}

export interface Page<T> {
  items: T[];
  nextCursor: string | null;
}

/** Variants body and multi by what the body has, variant query by `callbackUrl` and `event`. */
export async function subscribe(
  service: Running,
  given: string | { body: object } | { callbackUrl: string; event: string },
): Promise<Subscribed> {
  const call =
    typeof given === 'string'
      ? { path: '/subscribe', body: { callbackUrl: given } }
      : 'body' in given
        ? { path: '/subscribe', body: given.body }
        : { path: `/subscribe?${new URLSearchParams({ ...given }).toString()}` };
  const answer = await service.call({ method: 'POST', ...call });
  assert(answer.status === 200 || answer.status === 201, answer.text);
  const { subscriberId, secret } = answer.json;
  return { id: String(subscriberId), secret: String(secret) };
}

/** `payload` is the text of a JSON value, and leaves as it is. */
export async function publish(
  service: Running,
  event: string,
  more: { payload?: string; subscriberId?: string; key?: string } = {},
): Promise<Accepted> {
  const answer = await tryPublish(service, event, more);
  assert.equal(answer.status, 202, answer.text);
  return answer.json as unknown as Accepted;
}

/** Repeats what a starved machine did not get done within the deadline of the store; accepted once all the same. */
export async function publishPatiently(service: Running, event: string): Promise<void> {
  const idempotencyKey = randomUUID();
  for (;;) {
    const answer = await tryPublish(service, event, { idempotencyKey });
    if (answer.status === 202) return;
    assert.equal(answer.status, 503, answer.text);
  }
}

export async function tryPublish(
  service: Running,
  event: string,
  more: { payload?: string; subscriberId?: string; key?: string; idempotencyKey?: string } = {},
): Promise<Answer> {
  const { payload = '{"message":"hello"}', subscriberId, key, idempotencyKey } = more;
  const address = subscriberId === undefined ? '' : `,"subscriberId":"${subscriberId}"`;
  return service.call({
    method: 'POST',
    path: '/events',
    headers: {
      'content-type': 'application/json',
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    },
    body: `{"event":${JSON.stringify(event)},"payload":${payload}${address}}`,
    ...(key === undefined ? {} : { key }),
  });
}

/** What a call that must succeed answers. Repeats what a starved machine did not get done within the deadline of the store. */
export async function get<T>(service: Running, path: string): Promise<T> {
  const lastMs = performance.now() + patienceMs;
  for (;;) {
    const { status, json, text } = await service.call({ path });
    if (status === 200) return json as T;
    const isLate = json['code'] === 'store_unavailable' && performance.now() < lastMs;
    assert(isLate, `${path}: ${status} ${text}`);
  }
}

export async function patch(service: Running, id: string, body: object): Promise<Answer> {
  return service.call({ method: 'PATCH', path: `/subscriptions/${id}`, body });
}

export async function deliveryOf(service: Running, id: string): Promise<DeliveryView> {
  return get<DeliveryView>(service, `/deliveries/${id}`);
}

/** The one delivery of an event to a subscription. */
export async function onlyDelivery(
  service: Running,
  { eventId, subscriberId }: { eventId: string; subscriberId?: string },
): Promise<string> {
  const more = subscriberId === undefined ? '' : `&subscriberId=${subscriberId}`;
  const page = await get<Page<DeliveryView>>(service, `/deliveries?eventId=${eventId}${more}`);
  assert.equal(page.items.length, 1);
  return page.items[0]?.id ?? '';
}

/** The delivery, once it has had so many attempts and waits or has ended. */
export async function attempted(service: Running, id: string, attempts = 1): Promise<DeliveryView> {
  return until(
    async () => deliveryOf(service, id),
    ({ attemptCount, state }) => attemptCount >= attempts && state !== 'running',
  );
}

/** The delivery, once it is in the state. */
export async function inState(service: Running, id: string, state: string): Promise<DeliveryView> {
  return until(
    async () => deliveryOf(service, id),
    (delivery) => delivery.state === state,
  );
}

/** Resolves when every delivery has ended: then receivers have seen all that they will ever see. */
export async function quiet(service: Running): Promise<DeliveryView[]> {
  const { items, nextCursor } = await until(
    async () => get<Page<DeliveryView>>(service, '/deliveries?limit=500'),
    (page) => page.items.every(({ state }) => state !== 'due' && state !== 'running'),
  );
  assert.equal(nextCursor, null, 'expected fewer deliveries');
  return items;
}

const askAgainMs = 5;

/**
 * What is settled is in the store a moment after the receiver has answered, and only the API can say
 * when. So it is asked, again and again, but not all the time: the core is needed by whom it asks.
 */
export async function until<T>(read: () => Promise<T>, isSo: (value: T) => boolean): Promise<T> {
  const lastMs = performance.now() + patienceMs;
  for (;;) {
    const value = await read();
    if (isSo(value)) return value;
    assert(performance.now() < lastMs, `Waited in vain: ${JSON.stringify(value)}`);
    await wait(askAgainMs);
  }
}
