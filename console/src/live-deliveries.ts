// A short list of the newest deliveries that follows the stream. Pure: what is shown plus what changed.
import type { Delivery } from '../../src/client/contract/delivery.ts';

/** Changed ones are replaced where they are; new ones come on top, the newest first. */
export function mergeDeliveries(
  shown: readonly Delivery[],
  changed: readonly Delivery[],
  { max }: { max: number },
): Delivery[] {
  const byId = new Map(shown.map((one) => [one.id, one]));
  for (const one of changed) byId.set(one.id, one);
  return [...byId.values()].sort(newestFirst).slice(0, max);
}

/** Changed ones are replaced where they are, and nothing is added. */
export function replaceDeliveries(
  shown: readonly Delivery[],
  changed: readonly Delivery[],
): Delivery[] {
  const byId = new Map(changed.map((one) => [one.id, one]));
  return shown.map((one) => byId.get(one.id) ?? one);
}

/** Not beyond the end of what was read: that comes with the next page. */
export function isInReach(
  delivery: Delivery,
  { items, hasMore }: { readonly items: readonly Delivery[]; readonly hasMore: boolean },
): boolean {
  const last = items.at(-1);
  return !hasMore || last === undefined || newestFirst(delivery, last) <= 0;
}

function newestFirst(one: Delivery, other: Delivery): number {
  // All deliveries of an event are made at one time: only their numbers tell them apart.
  const byTime = Date.parse(other.createdAt) - Date.parse(one.createdAt);
  if (byTime !== 0) return byTime;
  if (one.eventId !== other.eventId) return one.eventId < other.eventId ? 1 : -1;
  return numberOf(other) - numberOf(one);
}

/** `dlv_…_12` is the twelfth of its event. */
function numberOf({ id }: Delivery): number {
  return Number(id.slice(id.lastIndexOf('_') + 1));
}
