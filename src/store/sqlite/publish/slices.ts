// Slices: runs of a few thousand rows in the order they were published. The counter is kept in
// memory; a rolled-back batch leaves a short slice behind, which is harmless. The span of a slice,
// which searches rely on, is written together with its events.
import type { DatabaseSync } from 'node:sqlite';
import { limits } from '../../../core/limits/limits.ts';
import { integer, maybe, one, text } from '../../sql/row.ts';
import type { EditContext } from '../transaction/edit.ts';
import type { PublishMemo } from '../transaction/publish-memo.ts';
import { reachOf } from '../../sql/slice-reach.ts';

export const slicesSql = {
  last: 'select max(slice) as slice from event',
  rows: 'select count(*) as rows from event where slice = ?',
  span: 'select first_event, last_event from slice_span where slice = ?',
  widen: `
    insert into slice_span (slice, first_event, last_event) values (:slice, :event, :reach)
    on conflict (slice) do update set
      first_event = min(first_event, excluded.first_event),
      last_event = max(last_event, excluded.last_event)`,
} as const;

/** Returns the slice of the next event, which writes that many rows. */
export type TakeSlice = (
  written: { event: string; rows: number },
  context: Pick<EditContext, 'nowMs' | 'known'>,
) => number;

export function prepareSlices(db: DatabaseSync): TakeSlice {
  const found = maybe(integer, one(db.prepare(slicesSql.last).get()), 'slice');
  const readSpan = db.prepare(slicesSql.span);
  const widen = db.prepare(slicesSql.widen);
  let slice = found ?? 1;
  let rowsInSlice = integer(one(db.prepare(slicesSql.rows).get(slice)), 'rows');
  let sinceMs: number | undefined;
  const spanOf = (): PublishMemo['span'] => {
    const row = readSpan.get(slice);
    return row && { slice, first: text(row, 'first_event'), last: text(row, 'last_event') };
  };
  return ({ event, rows }, { nowMs, known }) => {
    if (rowsInSlice >= limits.sliceRowsMax) {
      slice += 1;
      rowsInSlice = 0;
      sinceMs = undefined;
    }
    sinceMs ??= nowMs;
    rowsInSlice += rows;
    if (known.span?.slice !== slice) known.span = spanOf();
    const { span } = known;
    if (span === undefined || event < span.first || event > span.last) {
      widen.run({ slice, event, reach: reachOf(event, nowMs - sinceMs) });
      known.span = undefined; // The span has changed, so it must be read again.
    }
    return slice;
  };
}
