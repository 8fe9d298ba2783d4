// The oldest event of an app with a pending delivery: how far behind the app is. The queue is in
// the order of events, but of all apps; behind a long backlog of other apps, the search goes by
// slices.
import { maybe, text } from '../../sql/row.ts';
import type { Script } from '../../sql/statement.ts';
import { only } from '../../sql/statement.ts';
import { waits } from '../../sql/waits.ts';

export const oldestPendingSql = {
  first: `
    select min(event) as event from (
      select event, app from delivery_live order by event, n limit ?2 + 0) as oldest
    where app = ?1`,
  // Slice by slice, one probe each, until a few contain deliveries of the app. Slices that several
  // nodes fill overlap in time, so on PostgreSQL this may miss the oldest event by some minutes.
  bySlices: `
    with recursive step (slice, depth) as (
      select min(slice), 1 from delivery_live where ${waits}
      union all
      select (
        select min(slice) from delivery_live where slice > step.slice and ${waits}), depth + 1
      from step where slice is not null and depth < ?2)
    select min(event) as event from delivery_live
    where app = ?1 and ${waits} and slice in (
      select slice from step where exists (
        select 1 from delivery_live as found
        where found.slice = step.slice and found.app = ?1 and ${waits})
      order by slice limit 4)`,
  // Of an expression: otherwise PostgreSQL may scan everything pending in the order of the primary
  // key.
  running: `
    select min(event || '') as event from delivery_live indexed by delivery_running
    where lease is not null and app + 0 = ?1`,
} as const;

const rowsMax = 1_000;
/** At 4,096 rows per slice that is a backlog of millions. */
const slicesMax = 1_000;

export function* oldestPending(appNo: number): Script<string | undefined> {
  const found = yield* only(oldestPendingSql.first, appNo, rowsMax);
  const event = maybe(text, found, 'event');
  if (event !== undefined) return event;
  const waiting = maybe(text, yield* only(oldestPendingSql.bySlices, appNo, slicesMax), 'event');
  const running = maybe(text, yield* only(oldestPendingSql.running, appNo), 'event');
  return [waiting, running].filter((one) => one !== undefined).sort()[0];
}
