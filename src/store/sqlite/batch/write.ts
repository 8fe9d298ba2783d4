// One batch in one transaction: outcomes, edits, the claim and the fan-out step; and the state it
// leaves. transaction/transaction.ts begins and commits.
import type { DatabaseSync } from 'node:sqlite';
import type { FreshDelivery, NextWork, Worked } from '../../port/delivery-verbs.ts';
import type { EditOutput, EditVerb } from '../../port/store.ts';
import type { Batch, EditCall } from '../../port/transport-protocol.ts';
import { insertLeasesFor } from '../../rules/offer-slots.ts';
import { firstReadyMs, type Changes } from '../../rules/settlement-rules.ts';
import type { StalledFanOuts } from '../../rules/fan-outs.ts';
import type { PendingStatistics } from '../../statistics/pending-statistics.ts';
import { discardOnFailure, type Fact } from '../../statistics/transaction-facts.ts';
import { editScript, isShared, type SharedEdit } from '../../verbs/edits.ts';
import { auditOf, writeAudit } from '../../verbs/shared/audit.ts';
import { prepareClaimAndFanOut, type Claimed } from '../deliver/claim-and-fan-out.ts';
import {
  prepareHeartbeat,
  prepareRescue,
  prepareStartNode,
  prepareStopNode,
} from '../deliver/nodes.ts';
import { prepareNextWork } from '../deliver/next-work.ts';
import type { PlanOutcomes } from '../deliver/settle.ts';
import { preparePublish } from '../publish/publish.ts';
import { type Edit, type EditContext, emptyMemo } from '../transaction/edit.ts';
import { prepareScripts } from '../transaction/run-script.ts';
import type { Plan } from '../transaction/transaction.ts';
import type { Rebase } from '../upkeep/rebase-times.ts';
import { prepareRetain } from '../upkeep/retain.ts';
import { prepareSweep } from '../upkeep/sweep.ts';
import {
  prepareTidyStatistics,
  prepareKeepStatistics,
  prepareWriteStatistics,
  type KeepStatistics,
} from '../upkeep/statistics.ts';

export interface WorkLeft {
  fresh: readonly FreshDelivery[];
  nextWork: NextWork;
  worked: Worked | undefined;
  /** Facts of the batch for statistics, in its minute. */
  facts: readonly Fact[];
}

export type PlanWrite = (batch: Batch) => Plan<WorkLeft>;

export interface WriteDeps {
  pending: PendingStatistics;
  stalled: StalledFanOuts;
  planOutcomes: PlanOutcomes;
  rebase: Rebase;
}

export function prepareWrite(db: DatabaseSync, deps: WriteDeps): PlanWrite {
  const { pending, stalled, planOutcomes, rebase } = deps;
  const keep = prepareKeepStatistics(db, pending);
  const writeStatistics = prepareWriteStatistics(db, { pending, keep });
  const applyEdit = prepareEdits(db, { keep, stalled });
  const take = prepareClaimAndFanOut(db, stalled);
  const ahead = prepareNextWork(db, stalled);
  return ({ nowMs, settlements, edits: calls, offer, workOffers }) =>
    (mode) => {
      rebase.apply(nowMs);
      pending.undo(); // The figures that an earlier try took were not written.
      // When items run alone, one may be rolled back after it inserted a delivery; so then none is
      // leased.
      const insertLeases = insertLeasesFor(mode === 'together' ? offer : undefined);
      const facts: Fact[] = [];
      const changes: Changes = new Map();
      const context = { nowMs, insertLeases, facts, memo: emptyMemo() };
      return {
        outcomes: planOutcomes(settlements, { mode, nowMs, facts, changes }),
        edits: calls.map((call) => ({
          verb: call.verb,
          apply: () => {
            // Any other edit may change what was read; and when items run alone, the last one may
            // be rolled back.
            if (call.verb !== 'publish' || mode === 'alone') context.memo = emptyMemo();
            return discardOnFailure(facts, () => applyEdit(call, context));
          },
        })),
        last: () => {
          const { fresh } = insertLeases;
          const taken = workOffers && take(workOffers, { nowMs, facts, fresh });
          writeStatistics(facts, nowMs);
          const isKnown = calls.length > 0 || taken?.slots !== undefined;
          const slots = taken?.slots ?? insertLeases.slots;
          const readyMs = isKnown ? ahead.readyMs(slots) : firstReadyMs(changes);
          const isFanningOut = ahead.isFanningOut();
          const worked = taken && workedFrom(taken, { readyMs, isFanningOut });
          return { fresh, nextWork: { readyMs, isFanningOut }, worked, facts };
        },
      };
    };
}

function workedFrom({ claimed, fannedOut }: Claimed, { readyMs, isFanningOut }: NextWork): Worked {
  return { claimed, fannedOut: { deliveries: fannedOut, isMore: isFanningOut }, readyMs };
}

// All edits on a connection: those shared by both databases, run as scripts, and SQLite's own.

type OwnEdit = Exclude<EditVerb, SharedEdit>;
type OwnEdits = { [V in OwnEdit]: Edit<V> };

type ApplyEdit = (call: EditCall, context: EditContext) => EditOutput<EditVerb>;

interface EditDeps {
  keep: KeepStatistics;
  stalled: StalledFanOuts;
}

function prepareEdits(db: DatabaseSync, deps: EditDeps): ApplyEdit {
  const runScript = prepareScripts(db);
  const own = ownEdits(db, deps);
  return (call, context) => {
    if (!isShared(call)) return applyOwn(own, call, context);
    const output = runScript(editScript(call, context.nowMs, context.facts));
    const audit = auditOf(call, output);
    if (audit !== undefined) runScript(writeAudit(audit, context.nowMs));
    return output;
  };
}

function applyOwn<V extends OwnEdit>(
  edits: OwnEdits,
  call: EditCall<V>,
  context: EditContext,
): EditOutput<V> {
  return edits[call.verb](call.input, context);
}

function ownEdits(db: DatabaseSync, { keep, stalled }: EditDeps): OwnEdits {
  return {
    publish: preparePublish(db),
    sweep: prepareSweep(db),
    retain: prepareRetain(db, stalled),
    startNode: prepareStartNode(db),
    heartbeat: prepareHeartbeat(db),
    stopNode: prepareStopNode(db),
    rescue: prepareRescue(db),
    keepStatistics: ({ limit }) => keep(limit),
    tidyStatistics: prepareTidyStatistics(db),
    // No other process can write to this database, so its inbox is always empty.
    takeInbox: () => ({ entries: [] }),
    rejectInbox: () => ({ kind: 'taken' }),
  };
}
