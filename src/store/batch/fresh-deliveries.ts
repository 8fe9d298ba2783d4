// Restores the payloads of fresh deliveries: a write returns them as names only, because their
// payloads never left this side.
import { strict as assert } from 'node:assert';
import type { Leased } from '../../core/domain/delivery.ts';
import type { EditCall } from '../port/transport-protocol.ts';
import type { FreshDelivery, Offer } from '../port/delivery-verbs.ts';
import type { EditInput } from '../port/store.ts';

interface Origin {
  edits: readonly EditCall[];
  offer: Offer | undefined;
}

export function leasedFrom(fresh: readonly FreshDelivery[], { edits, offer }: Origin): Leased[] {
  if (fresh.length === 0) return [];
  assert(offer !== undefined, 'Cannot take fresh deliveries: no lease was offered');
  const find = finder(edits);
  // Fields are listed one by one, because spreading the object takes three times as long.
  return fresh.map(({ event: id, n, appNo, lane, callback, version, concurrency }) => {
    const { event, trace } = find(id);
    return {
      event: id,
      n,
      appNo,
      lane,
      callback,
      version,
      concurrency,
      eventName: event.name,
      payload: event.payload,
      trace,
      lease: offer.lease,
      tries: 0,
      attempts: 0,
    };
  });
}

/**
 * Most deliveries are in the order of their events, so it searches sequentially and builds a map
 * only when they are not.
 */
function finder(edits: readonly EditCall[]): (id: string) => Published {
  const all: Published[] = [];
  for (const { verb, input } of edits) {
    if (verb !== 'publish') continue;
    for (const event of input.events) all.push({ event, trace: input.trace });
  }
  let at = 0;
  let places: ReadonlyMap<string, number> | undefined;
  return (id) => {
    if (all[at]?.event.id !== id) at += 1;
    if (all[at]?.event.id !== id) {
      places ??= new Map(all.map(({ event }, place) => [event.id, place]));
      at = places.get(id) ?? all.length;
    }
    const found = all[at];
    assert(found !== undefined, `Cannot take a delivery of event "${id}": it is not of this batch`);
    return found;
  };
}

interface Published {
  event: EditInput<'publish'>['events'][number];
  trace: string | undefined;
}
