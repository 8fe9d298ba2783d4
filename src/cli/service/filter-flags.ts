// Flags that filter events and deliveries, in lists, the live view and replays.
import type { Flag } from '../declare/command.ts';

export const timeFlags = {
  since: {
    kind: 'text',
    placeholder: 'WHEN',
    says:
      'Published at or after this time: a duration ago (15m, 1h, 7d) or a timestamp ' +
      '(2026-01-31T12:00:00Z)',
  },
  until: {
    kind: 'text',
    placeholder: 'WHEN',
    says: 'Published before this time; same format as --since',
  },
} as const satisfies Record<string, Flag>;

export const subjectFlag = {
  kind: 'text',
  placeholder: 'TEXT',
  says: 'With this subject, such as job_17',
} as const satisfies Flag;

export const customerFlag = {
  kind: 'text',
  placeholder: 'TEXT',
  says: 'Of this customer, such as cus_1',
} as const satisfies Flag;

export const errorWords = [
  'dns',
  'refused',
  'tls',
  'timeout',
  'reset',
  'too_large',
  'redirect',
  'blocked',
  'protocol',
  'status',
  'exhausted',
  'expired',
] as const;

export const deliveryFlags = {
  event: {
    kind: 'text',
    placeholder: 'PATTERN',
    says: 'Of this event, or matching a pattern such as order.*',
  },
  subject: { ...subjectFlag, says: 'Of events with this subject, such as job_17' },
  customer: { ...customerFlag, says: 'To subscriptions of this customer, such as cus_1' },
  to: { kind: 'text', placeholder: 'SUB', says: 'To this subscription' },
  status: {
    kind: 'text',
    placeholder: 'STATUS',
    says: 'Last response had this status, such as 404 or 5xx',
  },
  error: {
    kind: 'choice',
    placeholder: 'ERROR',
    choices: errorWords,
    says: 'Last attempt failed with this error; or dead-lettered as exhausted or expired',
  },
  ...timeFlags,
} as const satisfies Record<string, Flag>;

export const deliveryStates = [
  'due',
  'running',
  'delivered',
  'dead',
  'cancelled',
  'pending',
  'retrying',
] as const;

export const endedStates = ['dead', 'delivered', 'cancelled', 'ended'] as const;

export const listFlags = {
  limit: { kind: 'count', placeholder: 'N', min: 1, says: 'Show at most N, newest first (50)' },
  all: { kind: 'switch', says: 'Show all, across pages' },
  cursor: {
    kind: 'text',
    placeholder: 'CURSOR',
    says: 'Continue from the nextCursor of --json output',
  },
} as const satisfies Record<string, Flag>;
