// A batch of edits in one transaction, and what it leaves behind: fresh deliveries and the outlook.
import type { DatabaseSync } from 'node:sqlite';
import type { Batch } from '../call.ts';
import type { Born, Outlook } from '../delivery-verbs.ts';
import type { EditOutput, EditVerb } from '../store.ts';
import { prepareForesee } from './outlook.ts';
import { birthsFor } from '../slots.ts';
import type { Plan } from './transaction.ts';
import { prepareEdits } from './edits.ts';

export interface Left {
  born: readonly Born[];
  outlook: Outlook;
}

export type PlanWrite = (batch: Batch) => Plan<EditOutput<EditVerb>, Left>;

export function prepareWrite(db: DatabaseSync): PlanWrite {
  const applyEdit = prepareEdits(db);
  const foresee = prepareForesee(db);
  return ({ nowMs, edits: calls, offer }) =>
    (way) => {
      // Of items that run alone one may be undone after a birth; so then nothing is born leased.
      const births = birthsFor(way === 'together' ? offer : undefined);
      const context = { nowMs, births };
      return {
        items: calls.map((call) => ({
          verb: call.verb,
          apply: () => applyEdit(call, context),
        })),
        last: () => ({
          born: births.born,
          outlook: {
            readyMs: foresee.readyMs(births.slots),
            isFanningOut: foresee.isFanningOut(),
          },
        }),
      };
    };
}
