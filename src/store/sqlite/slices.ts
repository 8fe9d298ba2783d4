// Slices: runs of a few thousand rows in the order they were published. The counter lives in memory; a
// batch that is undone leaves a short slice behind, which harms nobody.
import type { DatabaseSync } from 'node:sqlite';
import { limits } from '../../core/limits.ts';
import { integer, maybe, one } from '../row.ts';

export const slicesSql = {
  last: 'select max(slice) as slice from event',
  rows: 'select count(*) as rows from event where slice = ?',
} as const;

/** The slice of what is written next, which is that many rows. */
export type TakeSlice = (rows: number) => number;

export function prepareSlices(db: DatabaseSync): TakeSlice {
  const found = maybe(integer, one(db.prepare(slicesSql.last).get()), 'slice');
  let slice = found ?? 1;
  let rowsInSlice = integer(one(db.prepare(slicesSql.rows).get(slice)), 'rows');
  return (rows) => {
    if (rowsInSlice >= limits.sliceRowsMax) {
      slice += 1;
      rowsInSlice = 0;
    }
    rowsInSlice += rows;
    return slice;
  };
}
