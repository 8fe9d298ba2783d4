// The filters of the deliveries list: the same names in the address of the page and in the query of
// GET /deliveries. Pure.
import type { Delivery } from '../../../src/client/contract/delivery.ts';

export const filterNames = [
  'state',
  'event',
  'subject',
  'customer',
  'eventId',
  'subscriberId',
  'status',
  'error',
  'from',
  'until',
] as const;

export type FilterName = (typeof filterNames)[number];

export type DeliveryFilter = Readonly<Partial<Record<FilterName, string>>>;

export function filterOf(query: URLSearchParams): DeliveryFilter {
  const given = filterNames.flatMap((name): [FilterName, string][] => {
    const value = query.get(name);
    return value === null || value === '' ? [] : [[name, value]];
  });
  return Object.fromEntries(given);
}

/** Removes every filter, for setParams and links. */
export const noFilter: Readonly<Record<FilterName, undefined>> = {
  state: undefined,
  event: undefined,
  subject: undefined,
  customer: undefined,
  eventId: undefined,
  subscriberId: undefined,
  status: undefined,
  error: undefined,
  from: undefined,
  until: undefined,
};

/**
 * Whether a delivery from the stream belongs in the list. Must agree with the filters of the
 * service.
 */
export function matches(delivery: Delivery, filter: DeliveryFilter): boolean {
  const { state, event, subject, customer, eventId, subscriberId, status, error } = filter;
  if (state !== undefined && !matchesState(delivery, state)) return false;
  if (event !== undefined && !matchesPattern(event, delivery.event)) return false;
  if (subject !== undefined && delivery.subject !== subject) return false;
  if (customer !== undefined && delivery.customer !== customer) return false;
  if (eventId !== undefined && delivery.eventId !== eventId) return false;
  if (subscriberId !== undefined && delivery.subscriberId !== subscriberId) return false;
  if (status !== undefined && !matchesStatus(delivery.status, status)) return false;
  if (error !== undefined && !matchesError(delivery, error)) return false;
  return isWithin(Date.parse(delivery.createdAt), filter);
}

function matchesState({ state, attemptCount }: Delivery, wanted: string): boolean {
  const isPending = state === 'due' || state === 'running';
  if (wanted === 'pending') return isPending;
  if (wanted === 'retrying') return isPending && attemptCount > 0;
  return state === wanted;
}

/** `order.*` matches `order.created` and `order.item.added`, not `order`. */
function matchesPattern(pattern: string, event: string): boolean {
  if (pattern === '*' || pattern === event) return true;
  return pattern.endsWith('.*') && event.startsWith(pattern.slice(0, -1));
}

function matchesStatus(status: number | undefined, wanted: string): boolean {
  if (status === undefined) return false;
  return wanted.endsWith('xx')
    ? String(status).startsWith(wanted.charAt(0))
    : `${status}` === wanted;
}

function matchesError({ error, state }: Delivery, wanted: string): boolean {
  return error === wanted || (wanted === 'exhausted' && state === 'dead' && error !== 'expired');
}

function isWithin(ms: number, { from, until }: DeliveryFilter): boolean {
  if (from !== undefined && ms < Date.parse(from)) return false;
  return until === undefined || ms < Date.parse(until);
}
