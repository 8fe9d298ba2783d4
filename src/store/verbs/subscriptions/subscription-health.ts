// Reads the health of a subscription's receivers: its failing lanes, a bounded number, and the head
// of each.
import { healthOf, type LaneHealth } from '../../../core/domain/health.ts';
import type { Row } from '../../sql/row.ts';
import { integer, maybe } from '../../sql/row.ts';
import { all } from '../../sql/statement.ts';
import { toLaneState } from '../shared/lanes.ts';
import type { Read } from '../shared/verb.ts';

export const subscriptionHealthSql = {
  failing: `
    select lane.state as lane_state, lane.ordered, lane.gate_ms, lane.failures, lane.failing_ms,
      (select due_ms from delivery_live where delivery_live.lane = lane.no and lease is null
       order by due_ms limit 1) as due_ms,
      (select position from callback where callback.lane = lane.no limit 1) as position
    from subscription join lane on lane.subscription = subscription.no
    where subscription.id = ?1 and subscription.app = ?2 and lane.failures > 0`,
} as const;

export const subscriptionHealth: Read<'subscriptionHealth'> = function* ({ appNo, id }) {
  const rows = yield* all(subscriptionHealthSql.failing, id, appNo);
  return healthOf(rows.filter(isInUse).map(toLaneHealth));
};

/** A lane that no callback uses any more only matters while deliveries are pending in it. */
function isInUse(row: Row): boolean {
  return (
    maybe(integer, row, 'position') !== undefined || maybe(integer, row, 'due_ms') !== undefined
  );
}

function toLaneHealth(row: Row): LaneHealth {
  return {
    state: toLaneState(integer(row, 'lane_state')),
    ordered: integer(row, 'ordered') === 1,
    gateMs: integer(row, 'gate_ms'),
    failures: integer(row, 'failures'),
    failingMs: maybe(integer, row, 'failing_ms'),
    dueMs: maybe(integer, row, 'due_ms'),
  };
}
