// The tally of all deliveries. It counts every row, so it is for tests, never for a running service.
import type { DatabaseSync } from 'node:sqlite';
import { integer, one } from './row.ts';
import type { Read } from './verb.ts';

export const tallySql = {
  live: 'select count(*) as pending, count(lease) as running from delivery_live',
  done: `
    select count(*) filter (where state = 1) as delivered, count(*) filter (where state = 2) as dead,
      count(*) filter (where state = 3) as cancelled
    from delivery_done`,
} as const;

export function prepareTally(db: DatabaseSync): Read<'tally'> {
  const live = db.prepare(tallySql.live);
  const done = db.prepare(tallySql.done);
  return () => {
    const pending = one(live.get());
    const ended = one(done.get());
    const running = integer(pending, 'running');
    return {
      due: integer(pending, 'pending') - running,
      running,
      delivered: integer(ended, 'delivered'),
      dead: integer(ended, 'dead'),
      cancelled: integer(ended, 'cancelled'),
    };
  };
}
