// Lane rows: read and written here, governed by the rules in core/domain/lane.ts.
import type { Lane } from '../../../core/domain/lane.ts';
import { wokenReadyMs } from '../../../core/domain/lane.ts';
import type { Row } from '../../sql/row.ts';
import { integer, maybe, real } from '../../sql/row.ts';
import type { Script } from '../../sql/statement.ts';
import { all, only } from '../../sql/statement.ts';

/** All columns that the rules need, of a lane aliased `lane`. */
export const laneColumns = `lane.no as lane, lane.app as lane_app, lane.state as lane_state,
  lane.ordered, lane.gate_ms, lane.ready_ms, lane.interval_ms, lane.tat_ms, lane.concurrency, lane.failures, lane.failing_ms,
  lane.version as lane_version`;

export const lanesSql = {
  // Every write to a lane clears the marks of earlier looks: see `postponeIdle` in core/domain/lane.ts.
  lock: `
    update lane set quiet_ms = null, quiet_xid = null where no = ?1
    returning ${laneColumns.replaceAll('lane.', '')}`,
  ready: 'update lane set ready_ms = ?1 where no = ?2',
  order: `
    update lane set last_ms = case when last_ms + 1 > ?1 then last_ms + 1 else ?1 end
    where no = ?2 returning last_ms`,
} as const;

/** Locks the lane until this transaction ends, and returns it. */
export function* lockLane(no: number): Script<Lane> {
  return toLane(yield* only(lanesSql.lock, no));
}

/** Makes the lane ready for a delivery that is due at `dueMs`. */
export function* wakeLane(lane: Lane, dueMs: number): Script<void> {
  const readyMs = wokenReadyMs(lane, dueMs);
  if (readyMs !== lane.readyMs) yield* all(lanesSql.ready, readyMs, lane.no);
}

/** The due time of a delivery that joins the lane now; in an ordered lane its order number. */
export function* joinLane(lane: Lane, nowMs: number): Script<number> {
  if (!lane.ordered) return nowMs;
  return integer(yield* only(lanesSql.order, nowMs, lane.no), 'last_ms');
}

export function toLane(row: Row): Lane {
  return {
    no: integer(row, 'lane'),
    appNo: integer(row, 'lane_app'),
    state: toLaneState(integer(row, 'lane_state')),
    ordered: integer(row, 'ordered') === 1,
    gateMs: integer(row, 'gate_ms'),
    readyMs: integer(row, 'ready_ms'),
    intervalMs: maybe(real, row, 'interval_ms'),
    tatMs: real(row, 'tat_ms'),
    concurrency: maybe(integer, row, 'concurrency'),
    failures: integer(row, 'failures'),
    failingMs: maybe(integer, row, 'failing_ms'),
    version: integer(row, 'lane_version'),
  };
}

/** Decodes the column `state`. Its 0 is `open` in the migrations and in metrics. */
export function toLaneState(state: number): Lane['state'] {
  return laneStates[state] ?? 'ended';
}

const laneStates = ['active', 'held', 'ended'] as const;
