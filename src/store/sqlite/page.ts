// Fills one page of a list and stops after a bounded number of rows, however few of them fit.
import { strict as assert } from 'node:assert';
import { limits } from '../../core/limits.ts';
import { cursorAt } from '../cursor.ts';
import type { Page } from '../store.ts';
import type { Row } from './row.ts';
import { integer } from './row.ts';

/** One row more than may be examined, so that the last page knows that it is the last. */
export const rowsFetchedMax = limits.rowsExaminedMax + 1;

export interface PageOptions<T> {
  /** Newest first, each with its number as `no`; taken one by one and only as far as needed. */
  rows: Iterable<Row>;
  limit: number;
  /** The item that the row becomes, or undefined when the list leaves it out. */
  toItem: (row: Row) => T | undefined;
}

export function fillPage<T>({ rows, limit, toItem }: PageOptions<T>): Page<T> {
  assert(limit >= 1 && limit <= limits.pageItemsMax, `Cannot fill a page of ${limit} items`);
  const items: T[] = [];
  let examined = 0;
  let last = 0;
  for (const row of rows) {
    if (items.length === limit || examined === limits.rowsExaminedMax) {
      return { items, next: cursorAt(last) };
    }
    examined += 1;
    last = integer(row, 'no');
    const item = toItem(row);
    if (item !== undefined) items.push(item);
  }
  return { items, next: undefined };
}
