// Walks events or deliveries, newest first: one stretch of time after another, and in each of them
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
export interface Stretch {
  below: Position;
  from: string;
  slices: readonly number[];
}

/** A query that is run for each stretch, in each of its places. */
export interface Ask {
  /**
   * See `pieceSql`: examines at most `most` rows, and returns those that match and the last one
   * examined.
   */
  sql: string;
  values: (piece: Piece) => readonly (readonly Value[])[];
  /** Cost of a row, relative to one that is read in table order. */
  rowCost: number;
}

export interface Piece extends Stretch {
  /** Returned with each row, to tell which stretch it belongs to. */
  tag: number;
  most: number;
}

/**
 * The stretches follow each other downwards; steps without a match may come between them. `looks`:
 * how many stretches are read together at first.
 */
export function* walkStretches(
  stretches: Walk<Stretch | Step>,
  asks: readonly Ask[],
  { looks = 1 } = {},
): Walk<Step> {
  const ahead = lookAhead(stretches);
  const size = { rows: limits.pieceRowsMin, looks };
  for (;;) {
    const some = yield* ahead.take(size.looks);
    if (some.length === 0) return;
    const pieces = some.flatMap((one, tag) =>
      'from' in one ? [{ ...one, tag, most: size.rows }] : [],
    );
    const rows: Answer[] = [];
    for (const { sql, values, rowCost } of asks) {
      const given = yield* forEach(sql, pieces.flatMap(values));
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
      const read = readPiece(byTag.get(tag) ?? [], one, size.rows);
      for (const step of read.steps) yield step;
      yield { ...read.reached, fits: false, cost: read.cost + limits.lookRows };
      found += read.steps.length;
      cost += read.cost;
      isCut = read.isCut;
      if (!isCut) continue;
      // The rest of this stretch comes first; the stretches after it are read again.
      ahead.putBack([{ ...one, below: read.reached }, ...some.slice(tag + 1)]);
      break;
    }
    grow(size, { isCut, isDense: found * 4 > cost });
  }
}

/** A match; or the last row of a piece, with the number of rows it examined. */
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

interface ReadPiece {
  /** Newest first. */
  steps: Step[];
  cost: number;
  reached: Position;
  /** The stretch continues below `reached`. */
  isCut: boolean;
}

/** If one place reached its row limit, matches of other places below its last row must wait. */
function readPiece(rows: readonly Answer[], { from }: Stretch, most: number): ReadPiece {
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
  looks: number;
}

/**
 * Long stretches are read in longer pieces, growing faster when little matches; short ones are read
 * together.
 */
function grow(size: Size, { isCut, isDense }: { isCut: boolean; isDense: boolean }): void {
  if (isCut) size.rows = Math.min(size.rows * (isDense ? 2 : 4), limits.pieceRowsMax);
  else size.looks = Math.min(size.looks * 2, limits.pieceLooksMax);
  const room = Math.ceil((4 * limits.pieceRowsMax) / size.rows);
  size.looks = Math.min(size.looks, room);
}

interface Ahead {
  /** The next `most` items, or fewer at the end. */
  take(most: number): Script<(Stretch | Step)[]>;
  /** The items are taken again first, in this order. */
  putBack(items: readonly (Stretch | Step)[]): void;
}

/** Reads ahead in the source, and buffers the items. */
function lookAhead(source: Walk<Stretch | Step>): Ahead {
  const known: (Stretch | Step)[] = [];
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
