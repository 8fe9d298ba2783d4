// Slices: runs of a few thousand rows in the order of publishing. Each node fills its own and takes
// the next number from the database; a rollback leaves a short slice behind. The span of a slice,
// which searches rely on, is written together with its events.
import { limits } from '../../../core/limits/limits.ts';
import type { MaybePromise } from '../../../core/base/maybe-promise.ts';
import { integer, one } from '../../sql/row.ts';
import { reachOf } from '../../verbs/lists/slices-in-time.ts';
import type { Tx } from '../connection/tx.ts';

export const slicesSql = {
  next: "select nextval('slice') as slice",
  // Writes and locks nothing if the span already covers the events.
  widen: `
    insert into slice_span as known (slice, first_event, last_event)
    select x.slice, x.first, x.reach
    from unnest($1::bigint[], $2::text[], $3::text[], $4::text[]) as x (slice, first, last, reach)
    where not exists (
      select from slice_span where slice_span.slice = x.slice
        and first_event <= x.first and last_event >= x.last)
    on conflict (slice) do update set
      first_event = least(known.first_event, excluded.first_event),
      last_event = greatest(known.last_event, excluded.last_event)`,
} as const;

export interface Sliced {
  event: string;
  slice: number;
}

export interface Slices {
  /** The slice for the next `rows` rows. */
  take(tx: Tx, rows: number, nowMs: number): MaybePromise<number>;
  /** Widens the spans of the slices to cover these events, in the transaction that writes them. */
  cover(tx: Tx, events: readonly Sliced[], nowMs: number): Promise<void>;
}

export function createSlices(): Slices {
  let slice = 0;
  let rowsInSlice: number = limits.sliceRowsMax;
  let sinceMs = 0;
  const begin = async (tx: Tx, rows: number, nowMs: number): Promise<number> => {
    slice = integer(one((await tx.query(slicesSql.next, []))[0]), 'slice');
    rowsInSlice = rows;
    sinceMs = nowMs;
    return slice;
  };
  return {
    take: (tx, rows, nowMs) => {
      const isOver = rowsInSlice >= limits.sliceRowsMax || nowMs - sinceMs >= limits.sliceAgeMs;
      if (isOver) return begin(tx, rows, nowMs);
      rowsInSlice += rows;
      return slice;
    },
    cover: async (tx, events, nowMs) => {
      const spans = [...Map.groupBy(events, (one_) => one_.slice)]
        .sort(([a], [b]) => a - b)
        .map(([no, some]) => ({ no, ids: some.map(({ event }) => event).sort() }));
      const firsts = spans.map(({ ids }) => ids[0] ?? '');
      const lasts = spans.map(({ ids }) => ids.at(-1) ?? '');
      await tx.query(slicesSql.widen, [
        spans.map(({ no }) => no),
        firsts,
        lasts,
        lasts.map((last) => reachOf(last, nowMs - sinceMs)),
      ]);
    },
  };
}
