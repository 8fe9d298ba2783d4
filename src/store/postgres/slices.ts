// Slices: runs of a few thousand rows in the order they were published. Each node fills its own, and
// takes the next number from the database; a batch that is undone leaves a short one behind.
import { limits } from '../../core/limits.ts';
import { integer, one } from '../row.ts';
import type { Tx } from './tx.ts';

export const slicesSql = {
  next: "select nextval('slice') as slice",
} as const;

export interface Slices {
  /** The slice of what is written next, which is that many rows. */
  take(tx: Tx, rows: number, nowMs: number): Promise<number>;
}

export function createSlices(): Slices {
  let slice = 0;
  let rowsInSlice: number = limits.sliceRowsMax;
  let sinceMs = 0;
  return {
    take: async (tx, rows, nowMs) => {
      if (rowsInSlice >= limits.sliceRowsMax || nowMs - sinceMs >= limits.sliceAgeMs) {
        slice = integer(one((await tx.query(slicesSql.next, []))[0]), 'slice');
        rowsInSlice = 0;
        sinceMs = nowMs;
      }
      rowsInSlice += rows;
      return slice;
    },
  };
}
