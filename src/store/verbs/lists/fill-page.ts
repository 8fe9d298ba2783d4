// Fills one page of a list. Stops after a bounded number of rows, however few of them match.
import { strict as assert } from 'node:assert';
import { limits } from '../../../core/limits/limits.ts';
import { cursorAt } from '../../sql/cursor.ts';
import type { Page } from '../../port/store.ts';
import type { Row } from '../../sql/row.ts';
import { integer } from '../../sql/row.ts';
import type { Repeated, Script, Statement } from '../../sql/statement.ts';

/**
 * A page of rows that all match. `rows`: up to one more than the page holds, each with its number
 * as `no`.
 */
export function pageOf<T>(rows: readonly Row[], limit: number, toItem: (row: Row) => T): Page<T> {
  assertLimit(limit);
  const items = rows.slice(0, limit).map(toItem);
  const last = rows[limit - 1];
  const isMore = rows.length > limit && last !== undefined;
  return { items, next: isMore ? cursorAt(integer(last, 'no')) : undefined };
}

/** A matching row, or how far the walk has come; and how many rows it examined on the way. */
export interface Stepped {
  fits: boolean;
  cost: number;
}

/** A walk yields statements like a script, and steps on its way; a step has no `sql`. */
export type Walk<S> = Generator<Statement | Repeated | S, void, readonly Row[]>;

export interface FillOptions<S, T> {
  /** Newest first. */
  walk: Walk<S>;
  limit: number;
  toCursor: (step: S) => string;
  /** Reads the items of the steps, in the same order; all of them match. */
  toItems: (steps: readonly S[]) => Script<readonly (T | undefined)[]>;
  /** How many items are read together. Default: a page. */
  atOnce?: number;
  /** Bytes of an item that count towards `pageBytesMax`. */
  weigh?: (item: T) => number;
}

/**
 * Looks for one item more than the page holds, so that only a page that reached its row limit may
 * be followed by an empty one.
 */
export function* fillPage<S extends Stepped, T>(options: FillOptions<S, T>): Script<Page<T>> {
  const { walk, limit, toCursor, toItems, weigh = () => 0, atOnce = limit } = options;
  assertLimit(limit);
  const items: T[] = [];
  const spent: Spent = { rows: 0, statements: 0, hasStepped: false };
  let bytes = 0;
  let next: string | undefined;
  const isFull = (): boolean => items.length === limit || bytes >= limits.pageBytesMax;
  for (;;) {
    const isOver = isFull();
    const most = isOver ? 1 : Math.min(atOnce, limit - items.length);
    const { steps, reached, isEnd } = yield* gather(walk, most, spent);
    if (isOver && steps.length > 0) return { items, next };
    const found = yield* toItems(steps);
    for (const [index, step] of steps.entries()) {
      if (isFull()) return { items, next };
      next = toCursor(step);
      const item = found[index];
      if (item === undefined) continue;
      items.push(item);
      bytes += weigh(item);
    }
    if (isEnd) return { items, next: undefined };
    // The row limit was reached. Nothing matches between the last item and this place.
    if (steps.length < most)
      return { items, next: reached === undefined ? next : toCursor(reached) };
  }
}

interface Spent {
  rows: number;
  statements: number;
  /** The walk has come further than the previous page, if only by a step. */
  hasStepped: boolean;
}

interface Gathered<S> {
  /** Matching steps; fewer than requested if the walk ended or reached its limit. */
  steps: S[];
  /** The last step, whether it matches or not. */
  reached: S | undefined;
  isEnd: boolean;
}

function* gather<S extends Stepped>(
  walk: Walk<S>,
  most: number,
  spent: Spent,
): Script<Gathered<S>> {
  const steps: S[] = [];
  let reached: S | undefined;
  while (steps.length < most && !isExhausted(spent)) {
    const step = yield* nextStep(walk, spent);
    if (step === undefined) return { steps, reached, isEnd: true };
    reached = step;
    spent.rows += step.cost;
    spent.hasStepped = true;
    if (step.fits) steps.push(step);
  }
  return { steps, reached, isEnd: false };
}

/** Runs the walk up to its next step; undefined at its end. */
export function* nextStep<S extends object>(
  walk: Walk<S>,
  spent = { statements: 0 },
): Script<S | undefined> {
  for (let move = walk.next([]); move.done !== true;) {
    if (!('sql' in move.value)) return move.value;
    spent.statements += 1;
    move = walk.next(yield move.value);
  }
  return undefined;
}

function isExhausted({ rows, statements, hasStepped }: Spent): boolean {
  const isEnough = rows >= limits.rowsExaminedMax || statements >= limits.pageStatementsMax;
  return hasStepped && isEnough;
}

function assertLimit(limit: number): void {
  assert(limit >= 1 && limit <= limits.pageItemsMax, `Cannot fill a page of ${limit} items`);
}
