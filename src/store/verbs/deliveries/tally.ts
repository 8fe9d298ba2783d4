// Counts all deliveries. It reads every row, so it is for tests and must not be used in a running
// service.
import { integer } from '../../sql/row.ts';
import { only } from '../../sql/statement.ts';
import type { Read } from '../shared/verb.ts';

// One statement, so that it reads one snapshot on both databases.
export const tallySql = {
  all: `
    select sum(due) as due, sum(running) as running, sum(delivered) as delivered,
      sum(dead) as dead, sum(cancelled) as cancelled
    from (
      select count(*) - count(lease) as due, count(lease) as running, 0 as delivered, 0 as dead,
        0 as cancelled
      from delivery_live
      union all
      select 0, 0, count(*) filter (where state = 1), count(*) filter (where state = 2),
        count(*) filter (where state = 3)
      from delivery_done) as counted`,
} as const;

export const tally: Read<'tally'> = function* () {
  const row = yield* only(tallySql.all);
  return {
    due: integer(row, 'due'),
    running: integer(row, 'running'),
    delivered: integer(row, 'delivered'),
    dead: integer(row, 'dead'),
    cancelled: integer(row, 'cancelled'),
  };
};
