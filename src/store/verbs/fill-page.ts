// Fills one page of a list and stops after a bounded number of rows, however few of them fit.
import { strict as assert } from 'node:assert';
import { limits } from '../../core/limits.ts';
import { cursorAt } from '../cursor.ts';
import type { Page } from '../page.ts';
import type { Row } from '../row.ts';
import { integer } from '../row.ts';
import type { Script, Statement } from '../statement.ts';

/** A page of rows that all fit. `rows`: one more than the page holds, each with its number as `no`. */
export function pageOf<T>(rows: readonly Row[], limit: number, toItem: (row: Row) => T): Page<T> {
  assertLimit(limit);
  const items = rows.slice(0, limit).map(toItem);
  const last = rows[limit - 1];
  const isMore = rows.length > limit && last !== undefined;
  return { items, next: isMore ? cursorAt(integer(last, 'no')) : undefined };
}

/** A walk hands out statements like a script, and steps on its way; a step has no `sql`. */
export type Walk<S> = Generator<Statement | S, void, readonly Row[]>;

export interface FillOptions<S, T> {
  /** Newest first; a step may lead to nothing, and counts as examined all the same. */
  walk: Walk<S>;
  limit: number;
  toCursor: (step: S) => string;
  /** The item that the step leads to, or undefined when the list leaves it out. */
  toItem: (step: S) => Script<T | undefined>;
  /** Whether the page has enough, however few its items. */
  isFull?: () => boolean;
}

export function* fillPage<S extends object, T>({
  walk,
  limit,
  toCursor,
  toItem,
  isFull = () => false,
}: FillOptions<S, T>): Script<Page<T>> {
  assertLimit(limit);
  const items: T[] = [];
  let examined = 0;
  let next: string | undefined;
  for (let move = walk.next([]); move.done !== true;) {
    if ('sql' in move.value) {
      move = walk.next(yield move.value);
      continue;
    }
    if (items.length === limit || examined === limits.rowsExaminedMax || isFull()) {
      return { items, next };
    }
    examined += 1;
    next = toCursor(move.value);
    const item = yield* toItem(move.value);
    if (item !== undefined) items.push(item);
    move = walk.next([]);
  }
  return { items, next: undefined };
}

function assertLimit(limit: number): void {
  assert(limit >= 1 && limit <= limits.pageItemsMax, `Cannot fill a page of ${limit} items`);
}
