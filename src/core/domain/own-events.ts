// Ringback's own events as the documentation and the API list them: meaning, schema and example.
import type { Notice, NoticeName } from './notice.ts';
import { deadNotice, disabledNotice, goneNotice, rejectedNotice } from './notice.ts';

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
