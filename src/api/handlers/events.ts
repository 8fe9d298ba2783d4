// Handlers of events: publish one or many, list, show, and describe the event types.
import assert from 'node:assert/strict';
import type { Contract } from '../../contract/model/contract.ts';
import { definitionsOf } from '../../contract/request/payload.ts';
import type { Message } from '../../contract/expression/evaluate.ts';
import { timeOf, withPrefix } from '../../core/base/id.ts';
import { readOpaqueJson } from '../../core/base/json.ts';
import { eventTypeStates } from '../../core/domain/event.ts';
import type { Event, EventType, SkippedCallback } from '../../core/domain/event.ts';
import { hopsHeader } from '../../core/domain/hops.ts';
import { ownEvents } from '../../core/domain/system-event.ts';
import { Problem, type Fault } from '../../core/errors/problem.ts';
import { limits } from '../../core/limits/limits.ts';
import type { TraceContext } from '../../core/telemetry/trace.ts';
import type { Context } from '../../engine/context.ts';
import {
  deleteEventType,
  getEventType,
  listEventTypes,
  putEventType,
  type EventTypes,
} from '../../engine/publish/event-types.ts';
import { ping, publish } from '../../engine/publish/publish.ts';
import type { NewEvent, PublishRules } from '../../engine/publish/validate-events.ts';
import { beginTrace } from '../../engine/publish/trace.ts';
import { getEvent, listEvents } from '../../engine/read/events.ts';
import { getSubscription } from '../../engine/subscribe/subscriptions.ts';
import type { Accepted } from '../../store/port/delivery-verbs.ts';
import type { Pages } from '../pages/pages.ts';
import type { Call, Handlers } from '../request/call.ts';
import * as fields from '../request/fields.ts';

export function eventHandlers(context: Context, rules: PublishRules): Handlers {
  return {
    publishEvent: async (call) => {
      const body = fields.bodyFields(call.request);
      const { events, warnings, rate } = await publish(context, rules, {
        ...addressed(call, body, 'publishEvent'),
        trace: begin(context, call),
        events: [newEvent(call, body, '')],
      });
      const [accepted] = events;
      assert(accepted, 'An event that was published is accepted');
      call.note({ event: withPrefix('evt', accepted.id), deliveries: accepted.deliveries });
      const shown = { ...showAccepted(accepted), ...showWarnings(warnings) };
      return { status: 202, headers: rate, body: shown };
    },
    publishEvents: async (call) => {
      const body = fields.bodyFields(call.request);
      const events = fields
        .list(body, 'events')
        .map((item, index) => newEvent(call, fields.object(item, 'event'), `/events/${index}`));
      const accepted = await publish(context, rules, {
        ...addressed(call, body, 'publishEvents'),
        trace: begin(context, call),
        events,
      });
      call.note({ events: accepted.events.length });
      const items = accepted.events.map(showAccepted);
      const shown = { items, ...showWarnings(accepted.warnings) };
      return { status: 202, headers: accepted.rate, body: shown };
    },
    listEvents: async ({ app, request }) => {
      const query = Object.fromEntries(request.query);
      const page = await listEvents(context, app, {
        page: fields.pageInput(request, 'position'),
        name: fields.optionalText(query, 'event'),
        subject: fields.optionalText(query, 'subject'),
        customer: fields.optionalText(query, 'customer'),
        ...fields.timeRange(request),
      });
      const items = page.items.map(showEvent);
      return { status: 200, body: { items, nextCursor: page.next ?? null } };
    },
    getEvent: async ({ app, request }) => {
      const event = await getEvent(context, app, fields.pathText(request, 'id'));
      return { status: 200, mediaType: 'application/json', body: eventJson(event) };
    },
    pingSubscription: async ({ app, request }) => {
      const hops = hopsIn(request);
      const id = fields.pathText(request, 'id');
      const subscription = await getSubscription(context, app, id);
      const accepted = await ping(context, app, { id, contract: subscription.contract, hops });
      assert(accepted, 'A ping that was published is accepted');
      return { status: 202, body: showAccepted(accepted) };
    },
  };
}

export function eventTypeHandlers(
  context: Context,
  { contracts, types }: PublishRules,
  eventTypes: Pages['eventTypes'],
): Handlers {
  return {
    listEventTypes: async ({ app }) => {
      const lists = await Promise.all(contracts.map(eventTypes));
      const declared = types === undefined ? [] : await listEventTypes(context, app);
      const items = [
        ...lists.filter((list) => list !== ''),
        ...declared.map((type) => typeJson(type, placeOf(types?.contract))),
      ].join(',');
      const body = `{"items":[${items}],"own":${JSON.stringify(ownEvents)}}`;
      return { status: 200, mediaType: 'application/json', body };
    },
    getEventType: async ({ app, request }) => {
      const type = await getEventType(context, app, fields.pathText(request, 'name'));
      return { status: 200, mediaType: 'application/json', body: typeJson(type, datesOf(type)) };
    },
    putEventType: async ({ app, request }) => {
      const body = fields.bodyFields(request);
      const { type, isNew } = await putEventType(context, declarable(types), {
        app,
        name: fields.pathText(request, 'name'),
        schema: body['schema'],
        description: fields.optionalText(body, 'description'),
        example: body['example'],
        state: eventTypeStates.find((state) => state === body['state']) ?? 'active',
      });
      const shown = typeJson(type, datesOf(type));
      return { status: isNew ? 201 : 200, mediaType: 'application/json', body: shown };
    },
    deleteEventType: async ({ app, request }) => {
      const name = fields.pathText(request, 'name');
      await deleteEventType(context, declarable(types), { app, name });
      return { status: 204 };
    },
  };
}

function declarable(types: EventTypes | undefined): EventTypes {
  if (types !== undefined) return types;
  throw new Problem(
    'conflict',
    'Cannot declare event types: the contracts of this service define its events. Declare them in ' +
      'the documents',
  );
}

/** Schema and example as they are stored. */
function typeJson(type: EventType, others: Record<string, unknown>): string {
  const { name, schema, description, example, state, version } = type;
  const members = JSON.stringify({ event: name, description, state, version, ...others });
  const shown = example === undefined ? '' : `,"example":${example}`;
  return `${members.slice(0, -1)},"schema":${schema}${shown}}`;
}

/** The callback that such events are sent to. */
function placeOf(contract: Contract | undefined): Record<string, unknown> {
  const [callback] = contract === undefined ? [] : definitionsOf(contract);
  const { label, mediaType } = callback ?? {};
  return { callback: label, contract: contract?.title, mediaType, source: 'declared' };
}

function datesOf({ createdMs, updatedMs }: EventType): Record<string, unknown> {
  return { createdAt: fields.time(createdMs), updatedAt: fields.time(updatedMs) };
}

/** Begins the span of the request, in the caller's trace or a new one. */
function begin(context: Context, { trace, noteSpan }: Call): TraceContext | undefined {
  const span = beginTrace(context, trace);
  if (span !== undefined) noteSpan(span);
  return span?.context;
}

type Addressed = Omit<Parameters<typeof publish>[2], 'events'>;

function addressed(
  { app, request, bytes }: Call,
  body: fields.Fields,
  operation: string,
): Addressed {
  const key = request.header.get('idempotency-key');
  return {
    app,
    contract: fields.optionalText(body, 'contract'),
    subscriberId: fields.optionalText(body, 'subscriberId'),
    isForAll: body['audience'] === 'all',
    idempotency: key === undefined ? undefined : { key, operation, parts: [bytes] },
    hops: hopsIn(request),
  };
}

/** The contract has checked that it is an integer. */
function hopsIn({ header }: Message): number {
  return Number(header.get(hopsHeader) ?? 0);
}

function newEvent({ opaque }: Call, body: fields.Fields, at: string): NewEvent {
  const payload = opaque.get(`${at}/payload`);
  assert(payload, `The payload at ${at} was kept as it came`);
  return {
    name: fields.text(body, 'event'),
    subject: fields.optionalText(body, 'subject'),
    customer: fields.optionalText(body, 'customer'),
    value: body['payload'],
    payload,
    at: `body#${at}`,
  };
}

function showAccepted({ id, deliveries, skipped }: Accepted): Record<string, unknown> {
  return {
    eventId: withPrefix('evt', id),
    deliveries: deliveries ?? null,
    ...showSkipped(skipped),
  };
}

function showSkipped(skipped: readonly SkippedCallback[] | undefined): Record<string, unknown> {
  if (skipped === undefined) return {};
  const first = skipped
    .slice(0, limits.skippedShownMax)
    .map(({ operation, definition, reason }) => ({
      operationId: operation,
      callback: definition,
      reason,
    }));
  return { skippedCallbacks: { count: skipped.length, first } };
}

/** Present if lenient mode accepted a payload that breaks its contract. */
function showWarnings(warnings: readonly Fault[]): Record<string, unknown> {
  return warnings.length === 0 ? {} : { warnings };
}

function showEvent(event: Event): Record<string, unknown> {
  const { id, name, subject, customer, deliveries, rejected, skipped } = event;
  return {
    id: withPrefix('evt', id),
    event: name,
    ...(subject === undefined ? {} : { subject }),
    ...(customer === undefined ? {} : { customer }),
    deliveries: deliveries ?? null,
    // The time that `from` and `until` filter by.
    createdAt: fields.time(timeOf(id)),
    ...(rejected === undefined ? {} : { rejected }),
    ...showSkipped(skipped),
  };
}

/**
 * Inserts the payload as published: parsing it would lose precision, for example of a number with
 * 30 digits.
 */
function eventJson(event: Event): string {
  const { payload } = event;
  const text = Buffer.from(payload).toString();
  // The payload of a rejected event may not be JSON; it is then shown as text.
  const shown = readOpaqueJson(payload).kind === 'value' ? text : JSON.stringify(text);
  return `${JSON.stringify(showEvent(event)).slice(0, -1)},"payload":${shown}}`;
}
