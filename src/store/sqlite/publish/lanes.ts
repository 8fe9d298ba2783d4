// Lane rows on the hot path: read and written here, governed by the rules in core/domain/lane.ts.
import type { DatabaseSync } from 'node:sqlite';
import type { Lane, LaneTimes } from '../../../core/domain/lane.ts';
import { wokenReadyMs } from '../../../core/domain/lane.ts';
import { integer, one } from '../../sql/row.ts';
import { laneColumns, toLane } from '../../verbs/shared/lanes.ts';

export const lanesSql = {
  one: `select ${laneColumns} from lane where no = ?`,
  write: `
    update lane set gate_ms = ?, ready_ms = ?, tat_ms = ?, failures = ?, failing_ms = ?
    where no = ?`,
  ready: 'update lane set ready_ms = ? where no = ?',
  order: 'update lane set last_ms = max(last_ms + 1, ?) where no = ? returning last_ms',
} as const;

export interface Lanes {
  get(no: number): Lane;
  write(lane: Lane, times: LaneTimes): void;
  /** Makes the lane ready for a delivery that is due at `dueMs`, in its row and in `lane`. */
  wake(lane: Lane, dueMs: number): void;
  /** The due time of a delivery that joins the lane now; in an ordered lane its order number. */
  join(lane: Lane, nowMs: number): number;
}

export function prepareLanes(db: DatabaseSync): Lanes {
  const get = db.prepare(lanesSql.one);
  const write = db.prepare(lanesSql.write);
  const ready = db.prepare(lanesSql.ready);
  const order = db.prepare(lanesSql.order);
  return {
    get: (no) => toLane(one(get.get(no))),
    write: ({ no }, { gateMs, readyMs, tatMs, failures, failingMs }) => {
      write.run(gateMs, readyMs, tatMs, failures, failingMs ?? null, no);
    },
    wake: (lane, dueMs) => {
      const readyMs = wokenReadyMs(lane, dueMs);
      if (readyMs !== lane.readyMs) ready.run(readyMs, lane.no);
      lane.readyMs = readyMs;
    },
    join: (lane, nowMs) =>
      lane.ordered ? integer(one(order.get(nowMs, lane.no)), 'last_ms') : nowMs,
  };
}
