// A cycle of work in one transaction: settlements, then a claim, then one step of a large fan-out.
import type { DatabaseSync } from 'node:sqlite';
import type { Lane } from '../../core/lane.ts';
import type { Fact } from '../counting.ts';
import { unlessUndone } from '../counting.ts';
import type { Settled, Work, Worked } from '../delivery-verbs.ts';
import { prepareClaim } from './claim.ts';
import { prepareFanOut } from './fan-out.ts';
import type { WriteMeans } from './write.ts';
import { prepareKeepFigures, prepareWriteFigures } from './write-figures.ts';
import { prepareForesee } from './outlook.ts';
import { prepareSettle } from './settle.ts';
import { firstReadyMs, type Changes } from '../settling.ts';
import { birthsFor, noSlots, slotsOf } from '../slots.ts';
import type { Plan } from './transaction.ts';

export interface Done {
  worked: Omit<Worked, 'settled'>;
  /** What was counted, in the minute of the work. */
  facts: readonly Fact[];
}

export type PlanWork = (work: Work) => Plan<Settled, Done>;

export function prepareWork(db: DatabaseSync, { gathered, aside }: WriteMeans): PlanWork {
  const settle = prepareSettle(db);
  const claim = prepareClaim(db);
  const fanOut = prepareFanOut(db, aside);
  const foresee = prepareForesee(db, aside);
  const keep = prepareKeepFigures(db, gathered);
  const writeFigures = prepareWriteFigures(db, { gathered, keep });

  return ({ nowMs, settlements, claim: claimOffer, fanOut: fanOutOffer }) =>
    (way) => {
      gathered.undo(); // What an earlier try has taken was not written.
      const facts: Fact[] = [];
      const met = new Map<number, Lane>();
      const changes: Changes = new Map();
      return {
        items: settlements.map((settlement) => ({
          verb: 'settle',
          apply: () => {
            if (way === 'alone') met.clear(); // The one before may have been undone.
            return unlessUndone(facts, () => settle(settlement, { nowMs, facts, met, changes }));
          },
        })),
        last: () => {
          const slots = claimOffer === undefined ? noSlots : slotsOf(claimOffer);
          const claimed = claimOffer === undefined ? [] : claim(slots, nowMs);
          const births = birthsFor(fanOutOffer);
          for (const { lane } of claimed) births.slots.take(lane); // Both offers are of one window.
          const deliveries = fanOutOffer === undefined ? [] : fanOut({ nowMs, births, facts });
          writeFigures(facts, nowMs);
          const isMore = foresee.isFanningOut();
          const isOffered = (claimOffer ?? fanOutOffer) !== undefined;
          const readyMs = isOffered
            ? foresee.readyMs(claimOffer === undefined ? births.slots : slots)
            : firstReadyMs(changes);
          return { worked: { claimed, fannedOut: { deliveries, isMore }, readyMs }, facts };
        },
      };
    };
}
