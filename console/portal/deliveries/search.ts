// What a search for deliveries means: an ID leads to the delivery or filters by it, a known event name or a pattern
// filters by event, everything else by subject. Pure.
import type { Query } from '../../src/api.ts';

export type Search = { readonly deliveryId: string } | { readonly filter: Query };

export function searchFor(text: string, events: readonly string[]): Search {
  const sought = text.trim();
  const none = { subject: undefined, event: undefined, eventId: undefined };
  if (/^dlv_\w+$/u.test(sought)) return { deliveryId: sought };
  // An attempt is shown with its delivery: `att_…_0_2` is the second attempt of `dlv_…_0`.
  const attempt = /^att_(\w+)_\d+$/u.exec(sought)?.[1];
  if (attempt !== undefined) return { deliveryId: `dlv_${attempt}` };
  if (/^evt_\w+$/u.test(sought)) return { filter: { ...none, eventId: sought } };
  if (/^sub_\w+$/u.test(sought)) return { filter: { ...none, endpoint: sought } };
  const isEvent = events.includes(sought) || sought.endsWith('.*');
  return { filter: isEvent ? { ...none, event: sought } : { ...none, subject: sought } };
}
