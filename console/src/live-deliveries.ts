// Merges changes of the stream into a list of the newest deliveries. Pure.
import type { Delivery } from '../../src/client/contract/delivery.ts';

/** Replaces changed deliveries in place and adds new ones on top, newest first. */
export function mergeDeliveries(
  shown: readonly Delivery[],
  changed: readonly Delivery[],
  { max }: { max: number },
): Delivery[] {
  const byId = new Map(shown.map((one) => [one.id, one]));
  for (const one of changed) byId.set(one.id, one);
  return [...byId.values()].sort(newestFirst).slice(0, max);
}

/** Replaces changed deliveries in place and adds none. */
export function replaceDeliveries(
  shown: readonly Delivery[],
  changed: readonly Delivery[],
): Delivery[] {
  const byId = new Map(changed.map((one) => [one.id, one]));
  return shown.map((one) => byId.get(one.id) ?? one);
}

/** Whether the delivery belongs to the loaded part of the list, and not to a later page. */
export function isInLoadedRange(
  delivery: Delivery,
  { items, hasMore }: { readonly items: readonly Delivery[]; readonly hasMore: boolean },
): boolean {
  const last = items.at(-1);
  return !hasMore || last === undefined || newestFirst(delivery, last) <= 0;
}

function newestFirst(one: Delivery, other: Delivery): number {
  // All deliveries of an event are created at the same time; only their numbers order them.
  const byTime = Date.parse(other.createdAt) - Date.parse(one.createdAt);
  if (byTime !== 0) return byTime;
  if (one.eventId !== other.eventId) return one.eventId < other.eventId ? 1 : -1;
  return numberOf(other) - numberOf(one);
}

/** `dlv_…_12` is number 12 of its event. */
function numberOf({ id }: Delivery): number {
  return Number(id.slice(id.lastIndexOf('_') + 1));
}
