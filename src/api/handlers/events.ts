// Handlers of events: publish them, one or many, and see what was published.
import assert from 'node:assert/strict';
import type { Bundle } from '../../contract/bundle.ts';
import type { Contract } from '../../contract/contract.ts';
import { definitionsOf } from '../../contract/payload.ts';
import { printTemplate } from '../../contract/template.ts';
import { withPrefix } from '../../core/id.ts';
import type { Event } from '../../core/event.ts';
import type { Context } from '../../engine/context.ts';
import { getEvent, listEvents } from '../../engine/events.ts';
import { ping, publish, type NewEvent } from '../../engine/publish.ts';
import { getSubscription } from '../../engine/subscriptions.ts';
import type { Accepted } from '../../store/delivery-verbs.ts';
import type { Call, Handlers } from '../call.ts';
import { sampleOf } from '../docs/sample.ts';
import * as fields from '../fields.ts';

export function eventHandlers(context: Context, contract: Contract): Handlers {
  return {
    publishEvent: async (call) => {
      const body = fields.bodyFields(call.request);
      const [accepted] = await publish(context, {
        ...published(call, contract, 'publishEvent'),
        events: [newEvent(call, body, '')],
        subscriberId: fields.optionalText(body, 'subscriberId'),
      });
      assert(accepted, 'An event that was published is accepted');
      return { status: 202, body: showAccepted(accepted) };
    },
    publishEvents: async (call) => {
      const body = fields.bodyFields(call.request);
      const events = fields
        .list(body, 'events')
        .map((item, index) => newEvent(call, fields.object(item, 'event'), `/events/${index}`));
      const accepted = await publish(context, {
        ...published(call, contract, 'publishEvents'),
        events,
        subscriberId: fields.optionalText(body, 'subscriberId'),
      });
      return { status: 202, body: { items: accepted.map(showAccepted) } };
    },
    listEvents: async ({ app, request }) => {
      const name = fields.optionalText(Object.fromEntries(request.query), 'event');
      const page = await listEvents(context, app, { ...fields.pageInput(request), name });
      const items = page.items.map(showEvent);
      return { status: 200, body: { items, nextCursor: page.next ?? null } };
    },
    getEvent: async ({ app, request }) => {
      const event = await getEvent(context, app, fields.pathText(request, 'id'));
      const payload: unknown = JSON.parse(Buffer.from(event.payload).toString());
      return { status: 200, body: { ...showEvent(event), payload } };
    },
    listEventTypes: async () => ({ status: 200, body: { items: eventTypes(contract) } }),
    pingSubscription: async ({ app, request }) => {
      const id = fields.pathText(request, 'id');
      const subscription = await getSubscription(context, app, id);
      const accepted = await ping(context, app, { id, contract: subscription.contract });
      assert(accepted, 'A ping that was published is accepted');
      return { status: 202, body: showAccepted(accepted) };
    },
  };
}

type Published = Pick<Parameters<typeof publish>[1], 'app' | 'contract' | 'idempotency'>;

function published(
  { app, request, bytes }: Call,
  contract: Contract,
  operation: string,
): Published {
  const key = request.header.get('idempotency-key');
  return {
    app,
    contract,
    idempotency: key === undefined ? undefined : { key, operation, body: bytes },
  };
}

function newEvent({ opaque }: Call, body: fields.Fields, at: string): NewEvent {
  const payload = opaque.get(`${at}/payload`);
  assert(payload, `The payload at ${at} was kept as it came`);
  return { name: fields.text(body, 'event'), value: body['payload'], payload, at: `body#${at}` };
}

function showAccepted({ id, deliveries }: Accepted): Record<string, unknown> {
  return { eventId: withPrefix('evt', id), deliveries: deliveries ?? null };
}

function showEvent({ id, name, createdMs, deliveries }: Event): Record<string, unknown> {
  return {
    id: withPrefix('evt', id),
    event: name,
    deliveries: deliveries ?? null,
    createdAt: fields.time(createdMs),
  };
}

/** What can be published: names, schemas and an example each, as the contract has them. */
function eventTypes(contract: Contract): Record<string, unknown>[] {
  return definitionsOf(contract).map(({ label, event, payload, mediaType }) => ({
    event: printTemplate(event),
    callback: label,
    contract: contract.title,
    mediaType,
    ...(payload === undefined ? {} : described(payload.schema())),
  }));
}

function described(schema: Bundle): Record<string, unknown> {
  const root = { ...schema };
  return { schema, example: sampleOf(root, root, 'request') };
}
