// Handlers of deliveries: list them, show one with its attempts, send one again.
import assert from 'node:assert/strict';
import type { Attempt } from '../../core/domain/attempt.ts';
import {
  attemptId,
  deliveryId,
  deliveryStates,
  type DeliveryName,
} from '../../core/domain/delivery.ts';
import { timeOf, withPrefix } from '../../core/base/id.ts';
import { nameInHeader } from '../../core/domain/pattern.ts';
import type { Context } from '../../engine/context.ts';
import { getDelivery, listDeliveries, retryDelivery } from '../../engine/read/deliveries.ts';
import type { Delivery } from '../../store/port/delivery-verbs.ts';
import type { Handlers } from '../request/call.ts';
import * as fields from '../request/fields.ts';

export function deliveryHandlers(context: Context): Handlers {
  return {
    listDeliveries: async ({ app, request }) => {
      const query = Object.fromEntries(request.query);
      const state = fields.optionalText(query, 'state');
      const page = await listDeliveries(context, app, {
        page: fields.pageInput(request, 'position'),
        state: listedStates.find((one) => one === state),
        name: fields.optionalText(query, 'event'),
        subject: fields.optionalText(query, 'subject'),
        customer: fields.optionalText(query, 'customer'),
        status: fields.optionalText(query, 'status'),
        error: fields.optionalText(query, 'error'),
        ...fields.timeRange(request),
        eventId: fields.optionalText(query, 'eventId'),
        subscriberId: fields.optionalText(query, 'subscriberId'),
      });
      const items = page.items.map(showDelivery);
      return { status: 200, body: { items, nextCursor: page.next ?? null } };
    },
    getDelivery: async ({ app, request }) => {
      const found = await getDelivery(context, app, fields.pathText(request, 'id'));
      const attempts = found.attempts.map((one) => showAttempt(found.delivery, one));
      return { status: 200, body: { ...showDelivery(found.delivery), attempts } };
    },
    retryDelivery: async ({ app, request }) => {
      const name = await retryDelivery(context, app, fields.pathText(request, 'id'));
      return { status: 202, body: { id: deliveryId(name) } };
    },
  };
}

const listedStates = [...deliveryStates, 'pending', 'retrying'] as const;

export function showDelivery(delivery: Delivery): Record<string, unknown> {
  const { event, eventName, subject, subscription, customer, callback } = delivery;
  const { state, attempts, status, error, dueMs, endedMs } = delivery;
  return {
    id: deliveryId(delivery),
    state,
    event: eventName,
    ...(subject === undefined ? {} : { subject }),
    eventId: withPrefix('evt', event),
    subscriberId: withPrefix('sub', subscription),
    ...(customer === undefined ? {} : { customer }),
    callback,
    attemptCount: attempts,
    ...(status === undefined ? {} : { status }),
    ...(error === undefined ? {} : { error }),
    ...(dueMs === undefined ? {} : { nextAttemptAt: fields.time(dueMs) }),
    // The time that `from` and `until` filter by.
    createdAt: fields.time(timeOf(event)),
    ...(endedMs === undefined ? {} : { endedAt: fields.time(endedMs) }),
  };
}

function showAttempt(delivery: DeliveryName & Delivery, attempt: Attempt): Record<string, unknown> {
  const { k, startedMs, tookMs, status, error, message, request, response, warning } = attempt;
  assert(k > 0, 'Attempts are numbered from 1');
  return {
    id: attemptId(delivery, k),
    startedAt: fields.time(startedMs),
    tookMs,
    ...(status === undefined ? {} : { status }),
    ...(error === undefined ? {} : { error }),
    ...(message === undefined ? {} : { message }),
    ...(warning === undefined ? {} : { warning }),
    request: {
      method: request.method,
      url: request.url,
      headers: {
        'webhook-id': withPrefix('evt', delivery.event),
        'webhook-timestamp': String(Math.floor(startedMs / 1000)),
        'ringback-event': nameInHeader(delivery.eventName),
        'ringback-delivery': deliveryId(delivery),
        'ringback-subscription': withPrefix('sub', delivery.subscription),
        'ringback-attempt': String(k),
      },
    },
    ...(response === undefined ? {} : { response: showResponse(response) }),
  };
}

/** The body as text; invalid UTF-8 shows as replacement characters. */
function showResponse(response: NonNullable<Attempt['response']>): Record<string, unknown> {
  return {
    headers: Object.fromEntries(response.headers),
    body: Buffer.from(response.body).toString(),
    isCut: response.cut,
  };
}
