// Settle: records an attempt, and ends its delivery or makes it pending again. The lease is the
// fencing token: with a stale one, nothing is written.
import type { DatabaseSync } from 'node:sqlite';
import type { DeliveryName } from '../../../core/domain/delivery.ts';
import { laneAfterSettlement, type Lane } from '../../../core/domain/lane.ts';
import { limits } from '../../../core/limits/limits.ts';
import type { Settled, Settlement, AttemptRecord } from '../../port/delivery-verbs.ts';
import {
  dueAgainMs,
  endReasonOf,
  endStateOf,
  errorOf,
  isLast,
  laneOutcome,
  settledIn,
  type Changes,
} from '../../rules/settlement-rules.ts';
import { integer } from '../../sql/row.ts';
import { noteSettled, discardOnFailure, type Fact } from '../../statistics/transaction-facts.ts';
import { printHead } from '../../verbs/deliveries/attempts.ts';
import { endOwner } from '../../verbs/subscriptions/end-subscription.ts';
import { prepareLanes } from '../publish/lanes.ts';
import { prepareNoticeDead, prepareEndDelivery } from './end-delivery.ts';
import { prepareScripts } from '../transaction/run-script.ts';
import type { Item, BatchMode } from '../transaction/transaction.ts';

export const settleSql = {
  find: `
    select app, lane, callback, slice, due_ms, tries, attempts from delivery_live
    where event = ? and n = ? and lease = ?`,
  /** For an outcome that always ends the delivery: finds and deletes its row in one statement. */
  take: `
    delete from delivery_live where event = ? and n = ? and lease = ?
    returning app, lane, callback, slice, attempts`,
  back: `
    update delivery_live set lease = null, due_ms = ?, tries = ?, attempts = ?
    where event = ? and n = ?`,
} as const;

interface SettleContext {
  nowMs: number;
  /** Receives the facts of the settlement. */
  facts: Fact[];
  /** Lanes that earlier settlements have read, with their changes. */
  met: Map<number, Lane>;
  /** Receives the changes of lanes, if the caller needs them. */
  changes?: Changes;
}

type Settle = (settlement: Settlement, context: SettleContext) => Settled;

export interface OutcomesContext extends Omit<SettleContext, 'met'> {
  mode: BatchMode;
}

export type PlanOutcomes = (
  settlements: readonly Settlement[],
  context: OutcomesContext,
) => Item<Settled>[];

export function prepareOutcomes(db: DatabaseSync): PlanOutcomes {
  const settle = prepareSettle(db);
  return (settlements, { mode, ...rest }) => {
    const context: SettleContext = { ...rest, met: new Map() };
    return settlements.map((settlement) => ({
      verb: 'settle',
      apply: () => {
        if (mode === 'alone') context.met.clear(); // The previous item may have been rolled back.
        return discardOnFailure(context.facts, () => settle(settlement, context));
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
      const dueMs = dueAgainMs(outcome, lane, nowMs) ?? integer(row, 'due_ms');
      back.run(dueMs, integer(row, 'tries') + count, attempts, event, n);
    } else {
      const error = errorOf(settlement);
      const taken = isTaken ? row : undefined;
      end({ event, n, row: taken, state, attempts, status: attempt?.status, error, nowMs });
    }
    const owner = { appNo: integer(row, 'app'), lane: lane.no };
    noteSettled(facts, owner, { settlement, state });
    if (state === 'dead') notice([{ event, n, appNo: owner.appNo }], nowMs);
    const times = laneAfterSettlement(lane, nowMs, laneOutcome(settlement, nowMs));
    const isOverdue = isLast(lane, times, nowMs);
    if (times !== undefined) lanes.write(lane, times);
    Object.assign(lane, times);
    const reason = endReasonOf(settlement);
    if (reason !== undefined) {
      const { finals } = settlement;
      const ending = { event, n, callback: integer(row, 'callback'), reason, finals };
      const ended = runScript(endOwner(ending, nowMs));
      if (ended !== undefined) {
        met.clear(); // All lanes of the subscription ended as well.
        return ended;
      }
    }
    if (times !== undefined) changes?.set(laneNo, times);
    return isOverdue ? { kind: 'overdue', ...owner } : settledIn(lane);
  };
}

// Records an attempt with its request and response. A long response gets a row of its own: the
// table of attempts has no rowid, and long rows would fill its inner pages and overflow. Short ones
// are smaller and faster in the row of the attempt: docs/decisions/0024.

export const recordAttemptSql = {
  insert: `
    insert into attempt (event, n, k, node, started_ms, took_ms, code, error, head, body)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  insertLong: 'insert into response (event, n, k, head, body) values (?, ?, ?, ?, ?)',
} as const;

type RecordAttempt = (name: DeliveryName, k: number, attempt: AttemptRecord) => void;

function prepareRecordAttempt(db: DatabaseSync): RecordAttempt {
  const insert = db.prepare(recordAttemptSql.insert);
  const insertLong = db.prepare(recordAttemptSql.insertLong);
  return ({ event, n }, k, attempt) => {
    const { node, startedMs, tookMs, status = null, error = null, response } = attempt;
    const head = printHead(attempt);
    const body = response?.body ?? null;
    const isLong = head.length + (body?.length ?? 0) > limits.attemptRowBytes;
    const beside = isLong ? [null, null] : [head, body];
    insert.run(event, n, k, node, startedMs, tookMs, status, error, ...beside);
    if (isLong) insertLong.run(event, n, k, head, body);
  };
}
