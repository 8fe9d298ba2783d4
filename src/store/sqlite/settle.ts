// Settle: what an attempt led to is written down, and the delivery ends or goes back to wait. The lease
// is the proof: with another one than the present nothing is written at all.
import type { DatabaseSync } from 'node:sqlite';
import { settled, type Lane } from '../../core/lane.ts';
import type { Fact } from '../counting.ts';
import { noteSettled, unlessUndone } from '../counting.ts';
import type { Settled, Settlement } from '../delivery-verbs.ts';
import { integer } from '../row.ts';
import type { Changes } from '../settling.ts';
import { dueAgainMs, endStateOf, errorOf, isLast, laneOutcome, settledIn } from '../settling.ts';
import { endOwner } from '../verbs/end-subscription.ts';
import { prepareEndDelivery } from './end-delivery.ts';
import { prepareLanes } from './lanes.ts';
import { prepareNoticeDead } from './notices.ts';
import { prepareRecordAttempt } from './record-attempt.ts';
import { prepareScripts } from './run-script.ts';
import type { Item, Way } from './transaction.ts';

export const settleSql = {
  find: `
    select app, lane, callback, slice, due_ms, tries, attempts from delivery_live
    where event = ? and n = ? and lease = ?`,
  /** For one that ends in any case: its row need not be found twice. */
  take: `
    delete from delivery_live where event = ? and n = ? and lease = ?
    returning app, lane, callback, slice, attempts`,
  back: `
    update delivery_live set lease = null, due_ms = ?, tries = ?, attempts = ?
    where event = ? and n = ?`,
} as const;

interface SettleContext {
  nowMs: number;
  /** What it leads to is noted here. */
  facts: Fact[];
  /** Those that settlements before it have met, as they are now. */
  met: Map<number, Lane>;
  /** What it changes in its lane is noted here, if anybody wants to know. */
  changes?: Changes;
}

type Settle = (settlement: Settlement, context: SettleContext) => Settled;

export interface OutcomesContext extends Omit<SettleContext, 'met'> {
  way: Way;
}

export type PlanOutcomes = (
  settlements: readonly Settlement[],
  context: OutcomesContext,
) => Item<Settled>[];

export function prepareOutcomes(db: DatabaseSync): PlanOutcomes {
  const settle = prepareSettle(db);
  return (settlements, { way, ...rest }) => {
    const context: SettleContext = { ...rest, met: new Map() };
    return settlements.map((settlement) => ({
      verb: 'settle',
      apply: () => {
        if (way === 'alone') context.met.clear(); // The one before may have been undone.
        return unlessUndone(context.facts, () => settle(settlement, context));
      },
    }));
  };
}

function prepareSettle(db: DatabaseSync): Settle {
  const find = db.prepare(settleSql.find);
  const take = db.prepare(settleSql.take);
  const back = db.prepare(settleSql.back);
  const lanes = prepareLanes(db);
  const record = prepareRecordAttempt(db);
  const end = prepareEndDelivery(db);
  const notice = prepareNoticeDead(db);
  const runScript = prepareScripts(db);

  return (settlement, { nowMs, facts, met, changes }) => {
    const { event, n, lease, outcome, attempt } = settlement;
    const isTaken = outcome.kind === 'delivered';
    const row = (isTaken ? take : find).get(event, n, lease);
    if (row === undefined) return { kind: 'stale' };
    const laneNo = integer(row, 'lane');
    const lane = met.get(laneNo) ?? lanes.get(laneNo);
    met.set(laneNo, lane);
    const count = attempt === undefined ? 0 : 1;
    const attempts = integer(row, 'attempts') + count;
    if (attempt !== undefined) record({ event, n }, attempts, attempt);

    const state = endStateOf(outcome, lane);
    if (state === undefined) {
      const dueMs = dueAgainMs(outcome, lane) ?? integer(row, 'due_ms');
      back.run(dueMs, integer(row, 'tries') + count, attempts, event, n);
    } else {
      const error = errorOf(settlement);
      const taken = isTaken ? row : undefined;
      end({ event, n, row: taken, state, attempts, status: attempt?.status, error, nowMs });
    }
    const owner = { appNo: integer(row, 'app'), lane: lane.no };
    noteSettled(facts, owner, { settlement, state });
    if (state === 'dead') notice([{ event, n, appNo: owner.appNo }], nowMs);
    const times = settled(lane, nowMs, laneOutcome(settlement, nowMs));
    const isOverdue = isLast(lane, times, nowMs);
    if (times !== undefined) lanes.write(lane, times);
    Object.assign(lane, times);
    if (outcome.kind === 'gone') {
      met.clear(); // All lanes of the subscription end with it.
      return runScript(endOwner({ event, n, callback: integer(row, 'callback') }, nowMs));
    }
    if (times !== undefined) changes?.set(laneNo, times);
    return isOverdue ? { kind: 'overdue', ...owner } : settledIn(lane);
  };
}
