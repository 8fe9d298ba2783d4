// What endpoints are called: their URLs, and the events that they receive. Pure, except for the strings.
import type { Subscription } from '../../../src/client/contract/subscription.ts';
import { eventSummary } from '../../src/subscriptions/event-summary.ts';
import { t } from '../language.ts';

export function urlsOf({ callbacks }: Pick<Subscription, 'callbacks'>): readonly string[] {
  return [...new Set(callbacks.flatMap(({ url }) => (url === undefined ? [] : [url])))];
}

/** Its first URL; without one, its ID. */
export function nameOf(endpoint: Pick<Subscription, 'callbacks' | 'id'>): string {
  return urlsOf(endpoint)[0] ?? endpoint.id;
}

export function eventsOf({ callbacks }: Pick<Subscription, 'callbacks'>): string {
  return eventSummary(callbacks, t().allEvents);
}
