// Fills one page of a list and stops after a bounded number of rows, however few of them fit.
import { strict as assert } from 'node:assert';
import { limits } from '../../core/limits.ts';
import type { Position } from '../cursor.ts';
import { cursorAt, cursorAtPosition } from '../cursor.ts';
import type { Page } from '../page.ts';
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
  return fill({
    steps: rows,
    limit,
    toItem,
    toCursor: (row) => cursorAt(integer(row, 'no')),
    isFull: () => false,
  });
}

export interface StepOptions<S, T> {
  /** Newest first; a step may lead to nothing, and counts as examined all the same. */
  steps: Iterable<S>;
  limit: number;
  toPosition: (step: S) => Position;
  toItem: (step: S) => T | undefined;
  /** Whether the page has enough, however few its items. */
  isFull: () => boolean;
}

export function fillSteps<S, T>({ toPosition, ...options }: StepOptions<S, T>): Page<T> {
  return fill({ ...options, toCursor: (step) => cursorAtPosition(toPosition(step)) });
}

type FillOptions<S, T> = Omit<StepOptions<S, T>, 'toPosition'> & { toCursor: (step: S) => string };

function fill<S, T>({ steps, limit, toItem, toCursor, isFull }: FillOptions<S, T>): Page<T> {
  assert(limit >= 1 && limit <= limits.pageItemsMax, `Cannot fill a page of ${limit} items`);
  const items: T[] = [];
  let examined = 0;
  let next: string | undefined;
  for (const step of steps) {
    if (items.length === limit || examined === limits.rowsExaminedMax || isFull()) {
      return { items, next };
    }
    examined += 1;
    next = toCursor(step);
    const item = toItem(step);
    if (item !== undefined) items.push(item);
  }
  return { items, next: undefined };
}
