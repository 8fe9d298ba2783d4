// A cycle of work in one transaction: settlements, then a claim, then one step of a large fan-out.
import type { DatabaseSync } from 'node:sqlite';
import type { Fact } from '../counting.ts';
import type { Work, Worked } from '../delivery-verbs.ts';
import { prepareClaim } from './claim.ts';
import { prepareFanOut } from './fan-out.ts';
import type { WriteMeans } from './write.ts';
import { prepareKeepFigures, prepareWriteFigures } from './write-figures.ts';
import { prepareForesee } from './outlook.ts';
import { firstReadyMs, type Changes } from '../settling.ts';
import { birthsFor, noSlots, slotsOf } from '../slots.ts';
import type { Plan } from './transaction.ts';

export interface Done {
  worked: Worked;
  /** What was counted, in the minute of the work. */
  facts: readonly Fact[];
}

export type PlanWork = (work: Work) => Plan<Done>;

export function prepareWork(db: DatabaseSync, means: WriteMeans): PlanWork {
  const { gathered, aside, planOutcomes } = means;
  const claim = prepareClaim(db);
  const fanOut = prepareFanOut(db, aside);
  const foresee = prepareForesee(db, aside);
  const keep = prepareKeepFigures(db, gathered);
  const writeFigures = prepareWriteFigures(db, { gathered, keep });

  return ({ nowMs, settlements, claim: claimOffer, fanOut: fanOutOffer }) =>
    (way) => {
      gathered.undo(); // What an earlier try has taken was not written.
      const facts: Fact[] = [];
      const changes: Changes = new Map();
      return {
        outcomes: planOutcomes(settlements, { way, nowMs, facts, changes }),
        edits: [],
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
