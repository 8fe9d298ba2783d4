// Fresh deliveries come back from a write as names only: their payloads never left this side, so here
// they meet again.
import { strict as assert } from 'node:assert';
import type { Leased } from '../core/delivery.ts';
import type { EditCall } from './call.ts';
import type { Born, Offer } from './delivery-verbs.ts';

export interface Origin {
  edits: readonly EditCall[];
  offer: Offer | undefined;
}

export function leasedFrom(born: readonly Born[], { edits, offer }: Origin): Leased[] {
  if (born.length === 0) return [];
  assert(offer !== undefined, 'Cannot take fresh deliveries: no lease was offered');
  const published = edits.flatMap(({ verb, input }) => {
    if (verb !== 'publish') return [];
    return input.events.map((event) => ({ ...event, trace: input.trace }));
  });
  const events = new Map(published.map((event) => [event.id, event]));
  return born.map(({ event: id, ...rest }) => {
    const event = events.get(id);
    assert(event !== undefined, `Cannot take a delivery of event "${id}": it is not of this batch`);
    const { name: eventName, payload, trace } = event;
    const { lease } = offer;
    return { event: id, ...rest, eventName, payload, trace, lease, tries: 0, attempts: 0 };
  });
}
