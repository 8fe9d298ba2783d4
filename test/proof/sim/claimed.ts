// The leases that a batch may give out, and the deliveries that it claimed.
import type { Leased } from '../../../src/core/domain/delivery.ts';
import type { Offer, Worked } from '../../../src/store/port/delivery-verbs.ts';

export function leasesOf(offers: readonly (Offer | undefined)[]): number[] {
  return offers.flatMap((offer) => (offer === undefined ? [] : [offer.lease]));
}

export function takenUp(worked: Worked | undefined): readonly Leased[] {
  return worked === undefined ? [] : [...worked.claimed, ...worked.fannedOut.deliveries];
}
