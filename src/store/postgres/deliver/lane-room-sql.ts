// Which lanes a node has room for, in SQL, so that full lanes are neither locked nor read. Must
// agree with `isFull` of store/rules/offer-slots.ts, which SQLite calls. Shared by the
// claim and by the search for the next work.
import type { OfferSlots } from '../../rules/offer-slots.ts';

/** By lane, as JSON: free slots, and deliveries in flight. */
export function slotsJson(slots: OfferSlots): string {
  return JSON.stringify(Object.fromEntries(slots.left()));
}

/**
 * A condition on table `lane`. A subscription's own cap counts its deliveries in flight on this
 * node.
 */
export function hasRoom(slots: string, laneRoom: string): string {
  return `coalesce((${slots}::jsonb -> no::text ->> 0)::int, ${laneRoom}::int) > 0
      and (concurrency is null
        or concurrency > coalesce((${slots}::jsonb -> no::text ->> 1)::int, 0))`;
}

/**
 * Apps that have a ready lane, in the order of their numbers, starting after one and excluding
 * some. Skips through the index: one step per app, however many lanes it has.
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
