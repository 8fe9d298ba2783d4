// Common steps of end-to-end tests: subscribe, publish, and read the state of a delivery.
import assert from 'node:assert/strict';
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

/** Subscribes with the variant body, multi or query, depending on what is given. */
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

/** `payload` is JSON text, and is sent unchanged. */
export async function publish(
  service: Running,
  event: string,
  more: { payload?: string; subscriberId?: string; key?: string } = {},
): Promise<Accepted> {
  const answer = await tryPublish(service, event, more);
  assert.equal(answer.status, 202, answer.text);
  return answer.json as unknown as Accepted;
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

/** The result of a call that must succeed. */
export async function get<T>(service: Running, path: string): Promise<T> {
  const { status, json, text } = await service.call({ path });
  assert.equal(status, 200, `${path}: ${status} ${text}`);
  return json as T;
}

export async function patch(service: Running, id: string, body: object): Promise<Answer> {
  return service.call({ method: 'PATCH', path: `/subscriptions/${id}`, body });
}

export async function deliveryOf(service: Running, id: string): Promise<DeliveryView> {
  return get<DeliveryView>(service, `/deliveries/${id}`);
}

/** The id of the only delivery of an event. */
export async function onlyDelivery(
  service: Running,
  { eventId, subscriberId }: { eventId: string; subscriberId?: string },
): Promise<string> {
  const more = subscriberId === undefined ? '' : `&subscriberId=${subscriberId}`;
  const page = await get<Page<DeliveryView>>(service, `/deliveries?eventId=${eventId}${more}`);
  assert.equal(page.items.length, 1);
  return page.items[0]?.id ?? '';
}

/** The delivery, once it has that many attempts and is not running. */
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

/** Waits until every delivery has ended, so that no further requests will come. Returns all of them. */
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
 * Polls until `isSo` holds. An outcome is stored a moment after the receiver's response, and only the API shows when.
 * The pause between two reads leaves the CPU to the service.
 */
export async function until<T>(read: () => Promise<T>, isSo: (value: T) => boolean): Promise<T> {
  const lastMs = performance.now() + patienceMs;
  for (;;) {
    const value = await read();
    if (isSo(value)) return value;
    assert(performance.now() < lastMs, `Timed out waiting, last value: ${JSON.stringify(value)}`);
    await wait(askAgainMs);
  }
}
