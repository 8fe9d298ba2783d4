// The sweep cancels pending deliveries in the lanes of ended subscriptions, a bounded number of
// rows at a time. A lane is done only when no transaction can still add to it, which takes a mark
// and a second look: a transaction that saw the lane open may not have committed yet. Its id is
// older than the mark, because the marking transaction began after the lane had ended.
import { strict as assert } from 'node:assert';
import type { Fact } from '../../statistics/transaction-facts.ts';
import { factOf } from '../../statistics/transaction-facts.ts';
import { integer } from '../../sql/row.ts';
import type { EditInput, EditOutput } from '../../port/store.ts';
import { laneIsOlder } from '../connection/transact.ts';
import type { Tx } from '../connection/tx.ts';

export const sweepSql = {
  // A mark from the future comes from the cluster that a backup was taken of.
  lanes: `
    select no,
      case when quiet_xid <= pg_snapshot_xmin(pg_current_snapshot()) then 1 else 0 end as is_sure,
      case when quiet_xid < pg_snapshot_xmax(pg_current_snapshot()) then 1 else 0 end as is_marked
    from lane where state = 2 and swept = 0 and no > $1
    order by no limit $2 for no key update skip locked`,
  // Lane by lane, and no further than the limit: sorting over all lanes would read every row of
  // them.
  cancel: `
    with waiting as materialized (
      select y.event, y.n from unnest($1::bigint[]) as x (no)
      cross join lateral (
        select event, n from delivery_live where lane = x.no and lease is null
        order by due_ms, event, n limit $2 for update skip locked) y
      limit $2),
    moved as (
      delete from delivery_live using waiting
      where delivery_live.event = waiting.event and delivery_live.n = waiting.n
      returning delivery_live.*)
    insert into delivery_done (event, n, app, lane, callback, state, attempts, slice, ended_ms)
    select event, n, app, lane, callback, 3, attempts, slice, $3::bigint from moved
    returning app, lane`,
  // `offset 0` makes each lane look by itself. As a join, a plan made on an empty table would read
  // the pending deliveries of all lanes.
  swept: `
    update lane set swept = 1
    where no = any($1::bigint[])
      and not exists (select from delivery_live where lane = lane.no and lease is null offset 0)`,
  mark: `
    update lane set quiet_xid = pg_current_xact_id()
    where no = any($1::bigint[]) and ${laneIsOlder}`,
} as const;

const lanesAtOnce = 256;

export type Sweep = (
  tx: Tx,
  input: EditInput<'sweep'>,
  context: { nowMs: number; facts: Fact[] },
) => Promise<EditOutput<'sweep'>>;

/** Round-robin: a long transaction can hold up some lanes, but not those behind them. */
export function createSweep(): Sweep {
  let after = 0;
  return async (tx, { limit }, { nowMs, facts }) => {
    assert(limit >= 1, `Cannot sweep ${limit} rows`);
    const lanes = await tx.query(sweepSql.lanes, [after, lanesAtOnce]);
    const numbers = lanes.map((row) => integer(row, 'no'));
    const isLast = lanes.length < lanesAtOnce;
    const ended =
      lanes.length === 0 ? [] : await tx.query(sweepSql.cancel, [numbers, limit, nowMs]);
    for (const row of ended) {
      const owner = { appNo: integer(row, 'app'), lane: integer(row, 'lane') };
      facts.push(factOf('cancelled', owner));
    }
    const cancelled = ended.length;
    if (cancelled === limit) return { cancelled, isMore: true };
    const unmarked = lanes.filter((row) => integer(row, 'is_marked') === 0);
    const sure = lanes.filter((row) => integer(row, 'is_sure') === 1);
    await Promise.all([
      tx.query(sweepSql.swept, [sure.map((row) => integer(row, 'no'))]),
      tx.query(sweepSql.mark, [unmarked.map((row) => integer(row, 'no'))]),
    ]);
    after = isLast ? 0 : (numbers.at(-1) ?? 0);
    return { cancelled, isMore: !isLast };
  };
}
