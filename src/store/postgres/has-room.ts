// Which lanes a node has room for, said in SQL: others are neither locked nor looked at. The same as
// `isFull` of store/slots.ts, which SQLite asks.
import type { Slots } from '../slots.ts';

/** By lane, as text: free slots, and deliveries under way. */
export function slotsJson(slots: Slots): string {
  return JSON.stringify(Object.fromEntries(slots.left()));
}

/** Of `lane`. A subscription's own cap counts what is under way here. */
export function hasRoom(slots: string, laneRoom: string): string {
  return `coalesce((${slots}::jsonb -> no::text ->> 0)::int, ${laneRoom}::int) > 0
      and (concurrency is null
        or concurrency > coalesce((${slots}::jsonb -> no::text ->> 1)::int, 0))`;
}

/**
 * Apps with a lane that is ready some day, in the order of their numbers, after one and without some. From index entry to
 * index entry: whatever lanes an app has, it costs one step.
 */
export function readyApps(after: string, without: string, most: string): string {
  return `with recursive ready (app) as (
      (${nextApp(`${after}::bigint`)})
      union all select (${nextApp('ready.app')}) from ready where ready.app is not null),
    apps as (
      select app from ready where app is not null and app <> all(${without}::bigint[])
      limit ${most})`;
}

function nextApp(after: string): string {
  return `select app from lane where app > ${after} and ready_ms < 9007199254740991 order by app limit 1`;
}
