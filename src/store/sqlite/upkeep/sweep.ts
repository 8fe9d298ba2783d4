// Sweep: cancels pending deliveries in the lanes of ended subscriptions, a bounded number of rows
// at a time.
import { strict as assert } from 'node:assert';
import type { DatabaseSync } from 'node:sqlite';
import { factOf } from '../../statistics/transaction-facts.ts';
import { prepareEndDelivery } from '../deliver/end-delivery.ts';
import { integer, text } from '../../sql/row.ts';
import type { Edit } from '../transaction/edit.ts';

export const sweepSql = {
  lane: 'select no from lane where state = 2 and swept = 0 order by no limit 1',
  waiting: `
    select event, n, attempts from delivery_live where lane = ? and lease is null
    order by due_ms limit ? + 0`,
  swept: 'update lane set swept = 1 where no = ?',
} as const;

export function prepareSweep(db: DatabaseSync): Edit<'sweep'> {
  const ended = db.prepare(sweepSql.lane);
  const waiting = db.prepare(sweepSql.waiting);
  const swept = db.prepare(sweepSql.swept);
  const end = prepareEndDelivery(db);
  return ({ limit }, { nowMs, facts }) => {
    assert(limit >= 1, `Cannot sweep ${limit} rows: to SQLite a negative limit means no limit`);
    let cancelled = 0;
    for (let lane = ended.get(); lane !== undefined && cancelled < limit; lane = ended.get()) {
      const no = integer(lane, 'no');
      const rows = waiting.all(no, limit - cancelled);
      for (const row of rows) {
        const [event, n] = [text(row, 'event'), integer(row, 'n')];
        const attempts = integer(row, 'attempts');
        const nothing = { status: undefined, error: undefined };
        const owner = end({ event, n, state: 'cancelled', attempts, ...nothing, nowMs });
        facts.push(factOf('cancelled', owner));
      }
      cancelled += rows.length;
      if (cancelled < limit) swept.run(no);
    }
    return { cancelled, isMore: cancelled === limit };
  };
}
