// Walks events or deliveries, newest first: one range of time after another, and in each of them
// all places that may have matches, in the order of names. It examines few rows at first, and more
// when few of them match.
import { limits } from '../../../core/limits/limits.ts';
import type { Position } from '../../sql/cursor.ts';
import type { Row } from '../../sql/row.ts';
import { integer, text } from '../../sql/row.ts';
import type { Script, Value } from '../../sql/statement.ts';
import { forEach } from '../../sql/statement.ts';
import type { Stepped, Walk } from './fill-page.ts';
import { nextStep } from './fill-page.ts';

/** A match; or how far the walk has come: nothing between this and the previous step matches. */
export interface Step extends Stepped, Position {}

/** A range of names, from an event to below a position, and the slices that overlap it. */
export interface SearchRange {
  below: Position;
  from: string;
  slices: readonly number[];
}

/** A query that is run for each range, in each of its places. */
export interface SearchQuery {
  /**
   * See `boundedSearch`: examines at most `most` rows, and returns those that match and the last one
   * examined.
   */
  sql: string;
  values: (range: BoundedRange) => readonly (readonly Value[])[];
  /** Cost of a row, relative to one that is read in table order. */
  rowCost: number;
}

export interface BoundedRange extends SearchRange {
  /** Returned with each row, to tell which range it belongs to. */
  tag: number;
  most: number;
}

/**
 * The ranges follow each other downwards; steps without a match may come between them.
 * `rangesAtOnce`: how many ranges are read together at first.
 */
export function* searchRanges(
  ranges: Walk<SearchRange | Step>,
  queries: readonly SearchQuery[],
  { rangesAtOnce = 1 } = {},
): Walk<Step> {
  const ahead = lookAhead(ranges);
  const size = { rows: limits.searchRowsMin, rangesAtOnce };
  for (;;) {
    const some = yield* ahead.take(size.rangesAtOnce);
    if (some.length === 0) return;
    const bounded = some.flatMap((one, tag) =>
      'from' in one ? [{ ...one, tag, most: size.rows }] : [],
    );
    const rows: Answer[] = [];
    for (const { sql, values, rowCost } of queries) {
      const given = yield* forEach(sql, bounded.flatMap(values));
      rows.push(...given.map((row) => toAnswer(row, rowCost)));
    }
    const byTag = Map.groupBy(rows, ({ tag }) => tag);
    let [found, cost] = [0, 0];
    let isCut = false;
    for (const [tag, one] of some.entries()) {
      if (!('from' in one)) {
        yield one;
        continue;
      }
      const read = resultOfRange(byTag.get(tag) ?? [], one, size.rows);
      for (const step of read.steps) yield step;
      yield { ...read.reached, fits: false, cost: read.cost + limits.indexProbeRows };
      found += read.steps.length;
      cost += read.cost;
      isCut = read.isCut;
      if (!isCut) continue;
      // The rest of this range comes first; the ranges after it are read again.
      ahead.putBack([{ ...one, below: read.reached }, ...some.slice(tag + 1)]);
      break;
    }
    grow(size, { isCut, isDense: found * 4 > cost });
  }
}

/** A match; or the last row examined in a range, with the number of rows examined. */
interface Answer extends Position {
  tag: number;
  examined: number;
  cost: number;
}

function toAnswer(row: Row, rowCost: number): Answer {
  const examined = integer(row, 'examined');
  const at = { event: text(row, 'event'), n: integer(row, 'n') };
  return { ...at, tag: integer(row, 'tag'), examined, cost: examined * rowCost };
}

interface RangeResult {
  /** Newest first. */
  steps: Step[];
  cost: number;
  reached: Position;
  /** The range continues below `reached`. */
  isCut: boolean;
}

/** If one place reached its row limit, matches of other places below its last row must wait. */
function resultOfRange(rows: readonly Answer[], { from }: SearchRange, most: number): RangeResult {
  const full = rows.filter(({ examined }) => examined === most).sort(newestFirst);
  const [{ event, n } = { event: from, n: 0 }] = full;
  const reached = { event, n };
  const steps = rows
    .filter((row) => row.examined === 0 && newestFirst(row, reached) <= 0)
    .sort(newestFirst)
    .map((row): Step => ({ event: row.event, n: row.n, fits: true, cost: 0 }));
  const cost = rows.reduce((sum, row) => sum + row.cost, 0);
  return { steps, cost, reached, isCut: full.length > 0 };
}

interface Size {
  rows: number;
  rangesAtOnce: number;
}

/**
 * Long ranges are read in parts, which grow faster when little matches; short ranges are read
 * together.
 */
function grow(size: Size, { isCut, isDense }: { isCut: boolean; isDense: boolean }): void {
  if (isCut) size.rows = Math.min(size.rows * (isDense ? 2 : 4), limits.searchRowsMax);
  else size.rangesAtOnce = Math.min(size.rangesAtOnce * 2, limits.searchRangesMax);
  const room = Math.ceil((4 * limits.searchRowsMax) / size.rows);
  size.rangesAtOnce = Math.min(size.rangesAtOnce, room);
}

interface Ahead {
  /** The next `most` items, or fewer at the end. */
  take(most: number): Script<(SearchRange | Step)[]>;
  /** The items are taken again first, in this order. */
  putBack(items: readonly (SearchRange | Step)[]): void;
}

/** Reads ahead in the source, and buffers the items. */
function lookAhead(source: Walk<SearchRange | Step>): Ahead {
  const known: (SearchRange | Step)[] = [];
  let isEnd = false;
  return {
    *take(most) {
      while (known.length < most && !isEnd) {
        const step = yield* nextStep(source);
        if (step === undefined) isEnd = true;
        else known.push(step);
      }
      return known.splice(0, most);
    },
    putBack: (items) => void known.unshift(...items),
  };
}

export function newestFirst(one: Position, other: Position): number {
  if (one.event !== other.event) return one.event < other.event ? 1 : -1;
  return other.n - one.n;
}
