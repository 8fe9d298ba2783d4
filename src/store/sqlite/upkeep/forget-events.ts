// Deletes old events, oldest first, each after its history: while a delivery is listed, its event
// has a name.
import type { DatabaseSync } from 'node:sqlite';
import { limits } from '../../../core/limits/limits.ts';
import { integer, text } from '../../sql/row.ts';

export const forgetEventsSql = {
  oldest: 'select id, length(payload) as bytes from event where id < ? order by id limit 1',
  responses: `
    delete from response where no in
      (select no from response where event = :event limit :limit + 0)`,
  attempts: `
    delete from attempt where (event, n, k) in
      (select event, n, k from attempt where event = :event limit :limit + 0)`,
  deliveries: `
    delete from delivery_done where (event, n) in
      (select event, n from delivery_done where event = :event limit :limit + 0)`,
  event: 'delete from event where id = ?',
} as const;

export interface Forgotten {
  deleted: number;
  /** The step reached its bound; there may be more to delete. */
  isMore: boolean;
}

/**
 * Bounded in rows, because one event may have 100,000 deliveries, and in bytes, because freeing a
 * long payload means reading it: without the second bound, a step over payloads of 1 MB takes 30
 * times as long.
 */
export type ForgetEvents = (below: string, limit: number) => Forgotten;

export function prepareForgetEvents(db: DatabaseSync): ForgetEvents {
  const oldest = db.prepare(forgetEventsSql.oldest);
  const history = [
    db.prepare(forgetEventsSql.responses),
    db.prepare(forgetEventsSql.attempts),
    db.prepare(forgetEventsSql.deliveries),
  ];
  const remove = db.prepare(forgetEventsSql.event);
  return (below, limit) => {
    let left = limit;
    let bytesLeft: number = limits.keeperBytesMax;
    while (left > 0 && bytesLeft > 0) {
      const row = oldest.get(below);
      if (row === undefined) return { deleted: limit - left, isMore: false };
      const event = text(row, 'id');
      for (const each of history) left -= Number(each.run({ event, limit: left }).changes);
      if (left === 0) break;
      remove.run(event);
      left -= 1;
      bytesLeft -= integer(row, 'bytes');
    }
    return { deleted: limit - left, isMore: true };
  };
}
