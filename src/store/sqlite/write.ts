// Outcomes and edits in one transaction, and what it leaves behind: fresh deliveries and the outlook.
import type { DatabaseSync } from 'node:sqlite';
import type { Batch } from '../call.ts';
import type { Fact } from '../counting.ts';
import { unlessUndone } from '../counting.ts';
import type { Born, Outlook } from '../delivery-verbs.ts';
import type { Gathered } from '../gathered.ts';
import { prepareKeepFigures, prepareWriteFigures } from './write-figures.ts';
import type { Aside } from '../aside.ts';
import { prepareForesee } from './outlook.ts';
import { birthsFor } from '../slots.ts';
import type { Plan } from './transaction.ts';
import { prepareEdits } from './edits.ts';
import { nothingKnown } from './known.ts';
import type { PlanOutcomes } from './settle.ts';

export interface Left {
  born: readonly Born[];
  outlook: Outlook;
  /** What was counted, in the minute of the batch. */
  facts: readonly Fact[];
}

export type PlanWrite = (batch: Batch) => Plan<Left>;

export interface WriteMeans {
  gathered: Gathered;
  aside: Aside;
  planOutcomes: PlanOutcomes;
}

export function prepareWrite(db: DatabaseSync, means: WriteMeans): PlanWrite {
  const { gathered, aside, planOutcomes } = means;
  const keep = prepareKeepFigures(db, gathered);
  const writeFigures = prepareWriteFigures(db, { gathered, keep });
  const applyEdit = prepareEdits(db, { keep, aside });
  const foresee = prepareForesee(db, aside);
  return ({ nowMs, settlements, edits: calls, offer }) =>
    (way) => {
      gathered.undo(); // What an earlier try has taken was not written.
      // Of items that run alone one may be undone after a birth; so then nothing is born leased.
      const births = birthsFor(way === 'together' ? offer : undefined);
      const facts: Fact[] = [];
      const context = { nowMs, births, facts, known: nothingKnown() };
      return {
        outcomes: planOutcomes(settlements, { way, nowMs, facts }),
        edits: calls.map((call) => ({
          verb: call.verb,
          apply: () => {
            // Any other edit may change what was read; and of items that run alone, the last one may be undone.
            if (call.verb !== 'publish' || way === 'alone') context.known = nothingKnown();
            return unlessUndone(facts, () => applyEdit(call, context));
          },
        })),
        last: () => {
          writeFigures(facts, nowMs);
          const readyMs = foresee.readyMs(births.slots);
          const outlook = { readyMs, isFanningOut: foresee.isFanningOut() };
          return { born: births.born, outlook, facts };
        },
      };
    };
}
