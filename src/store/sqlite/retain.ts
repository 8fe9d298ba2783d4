// Retention: what is older than its time goes, oldest first, a bounded number of rows at a time. What
// still waits ends dead first, so that nothing ever disappears while it is pending.
import { strict as assert } from 'node:assert';
import type { DatabaseSync } from 'node:sqlite';
import { firstIdAt } from '../../core/id.ts';
import { prepareEndDelivery } from './end-delivery.ts';
import { integer, maybe, one, text } from '../row.ts';
import type { Edit } from './edit.ts';

const oldest = '(select id from event where id < :below order by id limit :limit + 0)';

export const retainSql = {
  waiting: `
    select event, n, attempts from delivery_live where event < :below and lease is null
    order by event, n limit :limit + 0`,
  // Events of which something runs, or is yet to be made, stay until that has ended.
  pending: 'select min(event) as event from delivery_live',
  fanningOut: 'select min(event) as event from fanout',
  responses: `delete from response where event in ${oldest}`,
  attempts: `delete from attempt where event in ${oldest}`,
  deliveries: `delete from delivery_done where event in ${oldest}`,
  events: `delete from event where id in ${oldest}`,
} as const;

export function prepareRetain(db: DatabaseSync): Edit<'retain'> {
  const waiting = db.prepare(retainSql.waiting);
  const pending = [db.prepare(retainSql.pending), db.prepare(retainSql.fanningOut)];
  const steps = [
    db.prepare(retainSql.responses),
    db.prepare(retainSql.attempts),
    db.prepare(retainSql.deliveries),
    db.prepare(retainSql.events),
  ];
  const end = prepareEndDelivery(db);
  return ({ beforeMs, limit }, { nowMs }) => {
    assert(limit >= 1, `Cannot retain by ${limit} rows: to SQLite a negative limit means no limit`);
    const below = firstIdAt(beforeMs);
    const late = waiting.all({ below, limit });
    for (const row of late) {
      const name = { event: text(row, 'event'), n: integer(row, 'n') };
      const attempts = integer(row, 'attempts');
      end({ ...name, state: 'dead', attempts, status: undefined, error: 'expired', nowMs });
    }
    if (late.length === limit) return { expired: limit, deleted: 0, isMore: true };
    let free = below;
    for (const each of pending) {
      const first = maybe(text, one(each.get()), 'event') ?? below;
      if (first < free) free = first;
    }
    let deleted = 0;
    for (const step of steps) deleted = Number(step.run({ below: free, limit }).changes);
    return { expired: late.length, deleted, isMore: deleted === limit };
  };
}
