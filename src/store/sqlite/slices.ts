// Slices: runs of a few thousand rows in the order they were published. The counter lives in memory; a
// batch that is undone leaves a short slice behind, which harms nobody. What a search trusts, the span of
// a slice, is written with its events.
import type { DatabaseSync } from 'node:sqlite';
import { limits } from '../../core/limits.ts';
import { integer, maybe, one } from '../row.ts';
import { reachOf } from '../slice-reach.ts';

export const slicesSql = {
  last: 'select max(slice) as slice from event',
  rows: 'select count(*) as rows from event where slice = ?',
  covers: `
    select 1 from slice_span where slice = :slice and first_event <= :event and last_event >= :event`,
  widen: `
    insert into slice_span (slice, first_event, last_event) values (:slice, :event, :reach)
    on conflict (slice) do update set
      first_event = min(first_event, excluded.first_event),
      last_event = max(last_event, excluded.last_event)`,
} as const;

/** The slice of an event that is written next, with that many rows. */
export type TakeSlice = (event: string, rows: number, nowMs: number) => number;

export function prepareSlices(db: DatabaseSync): TakeSlice {
  const found = maybe(integer, one(db.prepare(slicesSql.last).get()), 'slice');
  const covers = db.prepare(slicesSql.covers);
  const widen = db.prepare(slicesSql.widen);
  let slice = found ?? 1;
  let rowsInSlice = integer(one(db.prepare(slicesSql.rows).get(slice)), 'rows');
  let sinceMs: number | undefined;
  return (event, rows, nowMs) => {
    if (rowsInSlice >= limits.sliceRowsMax) {
      slice += 1;
      rowsInSlice = 0;
      sinceMs = undefined;
    }
    sinceMs ??= nowMs;
    rowsInSlice += rows;
    if (covers.get({ slice, event }) === undefined) {
      widen.run({ slice, event, reach: reachOf(event, nowMs - sinceMs) });
    }
    return slice;
  };
}
