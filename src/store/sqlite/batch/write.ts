// One batch in one transaction: outcomes, edits, the claim and the fan-out step; and the state it
// leaves.
import type { DatabaseSync } from 'node:sqlite';
import type { Batch } from '../../port/transport-protocol.ts';
import type { Fact } from '../../statistics/transaction-facts.ts';
import { unlessUndone } from '../../statistics/transaction-facts.ts';
import type { Born, Outlook, Worked } from '../../port/delivery-verbs.ts';
import type { PendingStatistics } from '../../statistics/pending-statistics.ts';
import { prepareKeepFigures, prepareWriteFigures } from './write-statistics.ts';
import type { StalledFanOuts } from '../../rules/stalled-fan-outs.ts';
import { prepareOutlook } from '../deliver/outlook.ts';
import { firstReadyMs, type Changes } from '../../rules/settlement-rules.ts';
import { birthsFor } from '../../rules/offer-slots.ts';
import type { Plan } from '../transaction/transaction.ts';
import { prepareEdits } from './edits.ts';
import { emptyMemo } from '../transaction/publish-memo.ts';
import type { Rebase } from '../upkeep/rebase-times.ts';
import type { PlanOutcomes } from '../deliver/settle.ts';
import { prepareClaimAndFanOut, type Claimed } from '../deliver/claim-and-fan-out.ts';

export interface Left {
  born: readonly Born[];
  outlook: Outlook;
  worked: Worked | undefined;
  /** Facts of the batch for statistics, in its minute. */
  facts: readonly Fact[];
}

export type PlanWrite = (batch: Batch) => Plan<Left>;

export interface WriteDeps {
  gathered: PendingStatistics;
  aside: StalledFanOuts;
  planOutcomes: PlanOutcomes;
  rebase: Rebase;
}

export function prepareWrite(db: DatabaseSync, deps: WriteDeps): PlanWrite {
  const { gathered, aside, planOutcomes, rebase } = deps;
  const keep = prepareKeepFigures(db, gathered);
  const writeFigures = prepareWriteFigures(db, { gathered, keep });
  const applyEdit = prepareEdits(db, { keep, aside });
  const take = prepareClaimAndFanOut(db, aside);
  const ahead = prepareOutlook(db, aside);
  return ({ nowMs, settlements, edits: calls, offer, takeUp }) =>
    (way) => {
      gathered.undo(); // The figures that an earlier try took were not written.
      // When items run alone, one may be rolled back after it inserted a delivery; so then none is
      // leased.
      const births = birthsFor(way === 'together' ? offer : undefined);
      const facts: Fact[] = [];
      const changes: Changes = new Map();
      const context = { nowMs, births, facts, known: emptyMemo() };
      return {
        outcomes: planOutcomes(settlements, { way, nowMs, facts, changes }),
        edits: calls.map((call) => ({
          verb: call.verb,
          apply: () => {
            // Any other edit may change what was read; and when items run alone, the last one may
            // be rolled back.
            if (call.verb !== 'publish' || way === 'alone') context.known = emptyMemo();
            return unlessUndone(facts, () => applyEdit(call, context));
          },
        })),
        last: () => {
          // After the outcomes: an attempt that ended just before the clock was set back sets the
          // due time of its retry.
          rebase.apply(nowMs);
          const { born } = births;
          const taken = takeUp && take(takeUp, { nowMs, facts, born });
          writeFigures(facts, nowMs);
          const isKnown = calls.length > 0 || taken?.slots !== undefined;
          const slots = taken?.slots ?? births.slots;
          const readyMs = isKnown ? ahead.readyMs(slots) : firstReadyMs(changes);
          const isFanningOut = ahead.isFanningOut();
          const worked = taken && workedFrom(taken, { readyMs, isFanningOut });
          return { born, outlook: { readyMs, isFanningOut }, worked, facts };
        },
      };
    };
}

function workedFrom({ claimed, fannedOut }: Claimed, { readyMs, isFanningOut }: Outlook): Worked {
  return { claimed, fannedOut: { deliveries: fannedOut, isMore: isFanningOut }, readyMs };
}
