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
