// What a batch does after its outcomes and edits: a claim, and then one step of a large fan-out.
import type { DatabaseSync } from 'node:sqlite';
import type { Leased } from '../../../core/domain/delivery.ts';
import type { StalledFanOuts } from '../../rules/stalled-fan-outs.ts';
import type { Born, TakeUp } from '../../port/delivery-verbs.ts';
import { birthsFor, laneOf, type OfferSlots } from '../../rules/offer-slots.ts';
import { prepareClaim } from './claim.ts';
import type { BirthContext } from '../transaction/edit.ts';
import { prepareFanOut } from './fan-out.ts';

export interface Claimed {
  claimed: readonly Leased[];
  fannedOut: readonly Leased[];
  /** Slots of the offer that are left; undefined when there was no offer. */
  slots: OfferSlots | undefined;
}

/**
 * `born`: deliveries that the edits of the batch inserted already leased. All offers share one
 * window.
 */
type Taking = Pick<BirthContext, 'nowMs' | 'facts'> & { born: readonly Born[] };

export function prepareClaimAndFanOut(
  db: DatabaseSync,
  aside: StalledFanOuts,
): (offers: TakeUp, taking: Taking) => Claimed {
  const claim = prepareClaim(db);
  const fanOut = prepareFanOut(db, aside);
  return (offers, { nowMs, facts, born }) => {
    const { slots } = birthsFor(offers.claim);
    for (const one of born) slots.take(laneOf(one));
    const claimed = offers.claim === undefined ? [] : claim(slots, nowMs);
    const births = birthsFor(offers.fanOut);
    for (const one of [...born, ...claimed]) births.slots.take(laneOf(one));
    const fannedOut = offers.fanOut === undefined ? [] : fanOut({ nowMs, births, facts });
    if (offers.claim !== undefined) return { claimed, fannedOut, slots };
    return { claimed, fannedOut, slots: offers.fanOut && births.slots };
  };
}
