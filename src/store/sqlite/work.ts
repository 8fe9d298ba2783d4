// A cycle of work in one transaction: settlements, then a claim, then one step of a large fan-out.
import type { DatabaseSync } from 'node:sqlite';
import type { Settled, Work, Worked } from '../delivery-verbs.ts';
import { prepareClaim } from './claim.ts';
import { prepareFanOut } from './fan-out.ts';
import { prepareForesee } from './outlook.ts';
import { prepareSettle } from './settle.ts';
import { birthsFor, noSlots, slotsOf } from '../slots.ts';
import type { Plan } from './transaction.ts';

export type PlanWork = (work: Work) => Plan<Settled, Omit<Worked, 'settled'>>;

export function prepareWork(db: DatabaseSync): PlanWork {
  const settle = prepareSettle(db);
  const claim = prepareClaim(db);
  const fanOut = prepareFanOut(db);
  const foresee = prepareForesee(db);

  return ({ nowMs, settlements, claim: claimOffer, fanOut: fanOutOffer }) =>
    () => ({
      items: settlements.map((settlement) => ({
        verb: 'settle',
        apply: () => settle(settlement, nowMs),
      })),
      last: () => {
        const slots = claimOffer === undefined ? noSlots : slotsOf(claimOffer);
        const claimed = claimOffer === undefined ? [] : claim(slots, nowMs);
        const births = birthsFor(fanOutOffer);
        for (const { lane } of claimed) births.slots.take(lane); // Both offers are of one window.
        const deliveries = fanOutOffer === undefined ? [] : fanOut({ nowMs, births });
        const isMore = foresee.isFanningOut();
        const readyMs = foresee.readyMs(claimOffer === undefined ? births.slots : slots);
        return { claimed, fannedOut: { deliveries, isMore }, readyMs };
      },
    });
}
