// Reads and writes many lane rows at once. Code that changes lanes other than by a look locks them
// first, in the order of their numbers, so that nodes do not deadlock, and clears their quiet
// marks.
import type { Lane } from '../../../core/domain/lane.ts';
import { integer } from '../../sql/row.ts';
import { laneColumns, toLane } from '../../verbs/shared/lanes.ts';
import type { Tx } from '../connection/tx.ts';

export const lanesSql = {
  lock: `
    select ${laneColumns} from lane where no = any($1::bigint[]) order by no for no key update`,
  write: `
    update lane set gate_ms = x.gate_ms, ready_ms = x.ready_ms, tat_ms = x.tat_ms,
      failures = x.failures, failing_ms = x.failing_ms, quiet_ms = null, quiet_xid = null
    from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::float8[], $5::int[], $6::bigint[])
      as x (no, gate_ms, ready_ms, tat_ms, failures, failing_ms)
    where lane.no = x.no`,
  clearLaneFloors: 'update lane set floor_ms = 0 where no = any($1::bigint[]) and floor_ms > 0',
} as const;

export async function lockLanes(tx: Tx, numbers: Iterable<number>): Promise<Map<number, Lane>> {
  const rows = await tx.query(lanesSql.lock, [[...numbers]]);
  return new Map(rows.map((row) => [integer(row, 'lane'), toLane(row)]));
}

export async function writeLanes(tx: Tx, lanes: readonly Lane[]): Promise<void> {
  await tx.query(lanesSql.write, [
    lanes.map(({ no }) => no),
    lanes.map(({ gateMs }) => gateMs),
    lanes.map(({ readyMs }) => readyMs),
    lanes.map(({ tatMs }) => tatMs),
    lanes.map(({ failures }) => failures),
    lanes.map(({ failingMs }) => failingMs ?? null),
  ]);
}

/**
 * For deliveries that return to an earlier position, which may be below the floor of the lane. The
 * lanes are locked.
 */
export async function clearFloors(tx: Tx, numbers: readonly number[]): Promise<void> {
  if (numbers.length > 0) await tx.query(lanesSql.clearLaneFloors, [numbers]);
}
