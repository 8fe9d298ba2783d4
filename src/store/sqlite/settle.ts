// Settle: what an attempt led to is written down, and the delivery ends or goes back to wait. The lease
// is the proof: with another one than the present nothing is written at all.
import type { DatabaseSync } from 'node:sqlite';
import type { Lane, LaneOutcome } from '../../core/lane.ts';
import { settled } from '../../core/lane.ts';
import type { Settled, Settlement } from '../delivery-verbs.ts';
import { integer } from '../row.ts';
import type { EndState } from '../verbs/end-states.ts';
import { endOwner } from '../verbs/end-subscription.ts';
import { prepareEndDelivery } from './end-delivery.ts';
import { prepareLanes } from './lanes.ts';
import { prepareRecordAttempt } from './record-attempt.ts';
import { prepareScripts } from './run-script.ts';

export const settleSql = {
  find: `
    select lane, callback, due_ms, tries, attempts from delivery_live
    where event = ? and n = ? and lease = ?`,
  back: `
    update delivery_live set lease = null, due_ms = ?, tries = ?, attempts = ?
    where event = ? and n = ?`,
} as const;

export type Settle = (settlement: Settlement, nowMs: number) => Settled;

export function prepareSettle(db: DatabaseSync): Settle {
  const find = db.prepare(settleSql.find);
  const back = db.prepare(settleSql.back);
  const lanes = prepareLanes(db);
  const record = prepareRecordAttempt(db);
  const end = prepareEndDelivery(db);
  const runScript = prepareScripts(db);

  return ({ event, n, lease, outcome, attempt }, nowMs) => {
    const row = find.get(event, n, lease);
    if (row === undefined) return { kind: 'stale' };
    const lane = lanes.get(integer(row, 'lane'));
    const count = attempt === undefined ? 0 : 1;
    const attempts = integer(row, 'attempts') + count;
    if (attempt !== undefined) record({ event, n }, attempts, attempt);

    const state = endStateOf(outcome, lane);
    if (state === undefined) {
      // An ordered delivery keeps its place: its lane waits for it.
      const dueMs = 'dueMs' in outcome && !lane.ordered ? outcome.dueMs : integer(row, 'due_ms');
      back.run(dueMs, integer(row, 'tries') + count, attempts, event, n);
    } else {
      const error = attempt?.error ?? (outcome.kind === 'dead' ? outcome.reason : undefined);
      end({ event, n, state, attempts, status: attempt?.status, error, nowMs });
    }
    const startedMs = attempt?.startedMs ?? nowMs;
    const times = settled(lane, nowMs, laneOutcome(outcome, startedMs));
    if (times !== undefined) lanes.write(lane, times);
    if (outcome.kind === 'gone') return runScript(endOwner(integer(row, 'callback'), nowMs));
    return { kind: 'settled' };
  };
}

type Result = Settlement['outcome'];

/** Undefined when it goes back to wait; in a lane that has ended there is nothing to wait for. */
function endStateOf(outcome: Result, lane: Lane): EndState | undefined {
  switch (outcome.kind) {
    case 'delivered':
    case 'dead':
    case 'cancelled':
      return outcome.kind;
    case 'gone':
      return 'cancelled';
    case 'retry':
    case 'released':
      return lane.state === 'ended' ? 'cancelled' : undefined;
  }
}

function laneOutcome(outcome: Result, startedMs: number): LaneOutcome {
  switch (outcome.kind) {
    case 'delivered':
    case 'cancelled':
    case 'released':
      return outcome;
    case 'gone':
      return { kind: 'cancelled' };
    case 'retry':
      return { kind: 'failed', dueMs: outcome.dueMs, startedMs };
    case 'dead':
      return { kind: 'failed', dueMs: undefined, startedMs };
  }
}
