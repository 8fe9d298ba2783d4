// Flags that filter events and deliveries, in lists, the live view and replays.
import type { Flag } from '../command.ts';

export const timeFlags = {
  since: {
    kind: 'text',
    placeholder: 'WHEN',
    says: 'published so long ago or later: 15m, 1h, 7d, or a time such as 2026-01-31T12:00:00Z',
  },
  until: { kind: 'text', placeholder: 'WHEN', says: 'published before; written like --since' },
} as const satisfies Record<string, Flag>;

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
  event: { kind: 'text', placeholder: 'PATTERN', says: 'of this event, or of order.*' },
  to: { kind: 'text', placeholder: 'SUB', says: 'to this subscription' },
  status: { kind: 'text', placeholder: 'STATUS', says: 'last answered with 404, or any 5xx' },
  error: {
    kind: 'choice',
    placeholder: 'ERROR',
    choices: errorWords,
    says: 'whose last attempt failed so, or that are dead because exhausted or expired',
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

export const subscriptionStates = ['active', 'paused', 'disabled', 'ended'] as const;

export const endedStates = ['dead', 'delivered', 'cancelled', 'ended'] as const;

export const listFlags = {
  limit: { kind: 'count', placeholder: 'N', min: 1, says: 'show at most so many, the newest (50)' },
  all: { kind: 'switch', says: 'show all of them' },
  cursor: { kind: 'text', placeholder: 'CURSOR', says: 'go on where --json said nextCursor' },
} as const satisfies Record<string, Flag>;
