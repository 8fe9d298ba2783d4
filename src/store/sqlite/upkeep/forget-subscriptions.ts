// Deletes subscriptions that ended longer ago than the retention, with everything that belongs to
// them. Runs only when no older event is left: nothing is published to a subscription after its
// end, so it has no history by then either. The subscription row goes last, so that the next step
// continues where one stopped.
import type { DatabaseSync } from 'node:sqlite';
import type { Forgotten } from './forget-events.ts';
import { integer } from '../../sql/row.ts';

export const forgetSubscriptionsSql = {
  // Keeps the rows with the highest numbers: SQLite would assign these numbers again, and a node
  // may still have them cached. Lanes with pending deliveries are swept first.
  oldest: `
    select no from subscription as ended
    where ended_ms < ? and no < (select max(no) from subscription)
      and not exists (select 1 from callback
        where callback.subscription = ended.no and no = (select max(no) from callback))
      and not exists (select 1 from lane where lane.subscription = ended.no
        and (swept = 0 or no = (select max(no) from lane)))
    order by ended_ms limit 1`,
  patterns: `
    delete from pattern where (app, contract, pattern, callback, born) in
      (select app, contract, pattern, callback, born from pattern
       where callback in (select no from callback where subscription = :no) limit :limit + 0)`,
  callbacks: `
    delete from callback where no in
      (select no from callback where subscription = :no limit :limit + 0)`,
  lanes:
    'delete from lane where no in (select no from lane where subscription = :no limit :limit + 0)',
  subscription: 'delete from subscription where no = ?',
} as const;

export type ForgetSubscriptions = (endedBeforeMs: number, limit: number) => Forgotten;

export function prepareForgetSubscriptions(db: DatabaseSync): ForgetSubscriptions {
  const oldest = db.prepare(forgetSubscriptionsSql.oldest);
  // Each references the one after it.
  const parts = [
    db.prepare(forgetSubscriptionsSql.patterns),
    db.prepare(forgetSubscriptionsSql.callbacks),
    db.prepare(forgetSubscriptionsSql.lanes),
  ];
  const remove = db.prepare(forgetSubscriptionsSql.subscription);
  return (endedBeforeMs, limit) => {
    let left = limit;
    while (left > 0) {
      const row = oldest.get(endedBeforeMs);
      if (row === undefined) return { deleted: limit - left, isMore: false };
      const no = integer(row, 'no');
      for (const each of parts) left -= Number(each.run({ no, limit: left }).changes);
      if (left === 0) break;
      remove.run(no);
      left -= 1;
    }
    return { deleted: limit - left, isMore: true };
  };
}
