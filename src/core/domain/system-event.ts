// Ringback's own events, such as `ringback.subscription.disabled`: their payloads, and how the
// documentation and the API list them.
import { withPrefix } from '../base/id.ts';
import { deliveryId, type DeliveryName } from './delivery.ts';

export const noticeNames = [
  'ringback.subscription.disabled',
  'ringback.subscription.gone',
  'ringback.delivery.dead',
  'ringback.event.rejected',
] as const;
export type NoticeName = (typeof noticeNames)[number];

/** An own event that has not been published yet. */
export interface Notice {
  name: NoticeName;
  /** JSON text. */
  payload: string;
}

/** The delivery that a notice is about; ids are bare. */
export interface NoticedDelivery extends DeliveryName {
  eventName: string;
  subscription: string;
  url: string;
}

export interface DeadFacts extends NoticedDelivery {
  reason: string;
  attempts: number;
  /** Status and error of the last attempt. */
  status: number | undefined;
  error: string | undefined;
  atMs: number;
}

export function deadNotice(facts: DeadFacts): Notice {
  const { reason, attempts, status, error, atMs } = facts;
  const about = aboutDelivery(facts);
  const what = `Delivery ${about.deliveryId} of event "${facts.eventName}" to ${about.callbackUrl}`;
  return noticeOf('ringback.delivery.dead', {
    message:
      `${what} is dead-lettered: ${whyDead(facts)}. To send it again: POST ` +
      `/deliveries/${about.deliveryId}/retry`,
    ...about,
    reason,
    attempts,
    ...(status === undefined ? {} : { status }),
    ...(error === undefined ? {} : { error }),
    at: time(atMs),
  });
}

function whyDead({ reason, attempts, status, error }: DeadFacts): string {
  const tried = attempts === 1 ? '1 attempt' : `${attempts} attempts`;
  if (reason === 'expired') return `it was still pending when its retention ended, after ${tried}`;
  const last = status === undefined ? (error ?? reason) : `status ${status}`;
  return attempts === 1
    ? `its only attempt failed (${last})`
    : `${tried} failed, the last: ${last}`;
}

export interface GoneFacts extends NoticedDelivery {
  /** Status of the receiver's response. */
  status: number | undefined;
  atMs: number;
}

export function goneNotice(facts: GoneFacts): Notice {
  const { status, atMs } = facts;
  const about = aboutDelivery(facts);
  const answer = status === undefined ? '' : `, with status ${status}`;
  return noticeOf('ringback.subscription.gone', {
    message:
      `Subscription ${about.subscriberId} has ended: its receiver ${about.callbackUrl} ` +
      `unsubscribed in its response to event "${facts.eventName}"${answer}. To receive more events, ` +
      'subscribe again',
    ...about,
    reason: 'gone',
    ...(status === undefined ? {} : { status }),
    at: time(atMs),
  });
}

export interface DisabledFacts {
  subscription: string;
  /** URL of the failing callback. */
  url: string;
  failures: number;
  failingMs: number;
  atMs: number;
}

export function disabledNotice(facts: DisabledFacts): Notice {
  const { url, failures, failingMs, atMs } = facts;
  const subscriberId = withPrefix('sub', facts.subscription);
  const callbackUrl = withoutSecrets(url);
  const failingSince = time(failingMs);
  return noticeOf('ringback.subscription.disabled', {
    message:
      `Subscription ${subscriberId} was disabled: its receiver ${callbackUrl} has failed ` +
      `${failures} times in a row since ${failingSince}. Its deliveries stay pending. When ` +
      `the receiver works again, enable it: PATCH /subscriptions/${subscriberId} with ` +
      '{"state":"active"}',
    subscriberId,
    callbackUrl,
    reason: 'failing',
    failures,
    failingSince,
    at: time(atMs),
  });
}

export interface RejectedFacts {
  event: string;
  eventName: string;
  reason: string;
  atMs: number;
}

export function rejectedNotice({ event, eventName, reason, atMs }: RejectedFacts): Notice {
  const eventId = withPrefix('evt', event);
  return noticeOf('ringback.event.rejected', {
    message:
      `Event ${eventId} ("${eventName}"), published by SQL, was rejected and not ` +
      `delivered: ${reason}`,
    eventId,
    event: eventName,
    reason,
    at: time(atMs),
  });
}

interface AboutDelivery {
  subscriberId: string;
  callbackUrl: string;
  deliveryId: string;
  eventId: string;
  event: string;
}

function aboutDelivery({ event, n, eventName, subscription, url }: NoticedDelivery): AboutDelivery {
  return {
    subscriberId: withPrefix('sub', subscription),
    callbackUrl: withoutSecrets(url),
    deliveryId: deliveryId({ event, n }),
    eventId: withPrefix('evt', event),
    event: eventName,
  };
}

function noticeOf(name: NoticeName, payload: Readonly<Record<string, string | number>>): Notice {
  return { name, payload: JSON.stringify(payload) };
}

/**
 * Removes credentials and the query: people put tokens into the query, and a user name and password
 * before the host.
 */
export function withoutSecrets(url: string): string {
  return url.replace(/[?#].*$/s, '').replace(/^([a-z]+:\/\/)[^/]*@/i, '$1');
}

function time(ms: number): string {
  return new Date(ms).toISOString();
}

export interface OwnEvent {
  event: NoticeName;
  description: string;
  /** JSON Schema of the payload. */
  schema: Readonly<Record<string, unknown>>;
  example: Readonly<Record<string, unknown>>;
}

const delivery = {
  event: '01k9w3m5v8x0q2r4t6y8z1b3d5',
  n: 0,
  eventName: 'order.created',
  subscription: '01k9w3kzr7h1j3m5p7s9v2x4z6',
  url: 'https://receiver.example/hook',
};
const times = new Set(['at', 'failingSince']);
/** Members that may be absent: without a response there is no status. */
const optional = new Set(['status', 'error']);
const atMs = Date.UTC(2026, 0, 31, 12);
const failingMs = atMs - 5 * 24 * 60 * 60 * 1000;

export const ownEvents: readonly OwnEvent[] = [
  ownEvent(
    'A receiver has failed for five days without a success. Its subscription was ' +
      'disabled: its deliveries stay pending until it is enabled again.',
    disabledNotice({ ...delivery, failures: 487, failingMs, atMs }),
  ),
  ownEvent(
    'A receiver unsubscribed, usually by responding with 410. Its subscription has ended.',
    goneNotice({ ...delivery, status: 410, atMs }),
  ),
  ownEvent(
    'A delivery is dead-lettered: its last attempt failed (`exhausted`), or it was still ' +
      'pending when its retention ended (`expired`). It can be sent again.',
    deadNotice({
      ...delivery,
      reason: 'exhausted',
      attempts: 8,
      status: 503,
      error: 'status',
      atMs,
    }),
  ),
  ownEvent(
    'An event that was published by SQL violates the contract and was not delivered.',
    rejectedNotice({
      ...delivery,
      reason:
        'The payload violates the contract: body#/payload/message is missing (callback ' +
        '"myEvent")',
      atMs,
    }),
  ),
];

function ownEvent(description: string, { name, payload }: Notice): OwnEvent {
  const example: Record<string, unknown> = JSON.parse(payload);
  const members = Object.entries(example).map(
    ([key, value]) => [key, schemaOf(key, value)] as const,
  );
  return {
    event: name,
    description,
    schema: {
      type: 'object',
      required: Object.keys(example).filter((key) => !optional.has(key)),
      properties: Object.fromEntries(members),
    },
    example,
  };
}

function schemaOf(key: string, value: unknown): Record<string, string> {
  if (typeof value === 'number') return { type: 'integer' };
  return times.has(key) ? { type: 'string', format: 'date-time' } : { type: 'string' };
}
