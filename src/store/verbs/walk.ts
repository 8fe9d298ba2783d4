// The way through events or deliveries, newest first: one stretch of time after the other, and in each of
// them all places where something may be, in the order of names. It examines few rows at first, and more
// when few of them fit.
import { limits } from '../../core/limits.ts';
import type { Position } from '../cursor.ts';
import type { Row } from '../row.ts';
import { integer, text } from '../row.ts';
import type { Script, Value } from '../statement.ts';
import { forEach } from '../statement.ts';
import type { Stepped, Walk } from './fill-page.ts';
import { nextStep } from './fill-page.ts';

/** What fits; or how far the walk has come: nothing between this and the step before fits. */
export interface Step extends Stepped, Position {}

/** Names below one, from an event on; and the slices that reach into it. */
export interface Stretch {
  below: Position;
  from: string;
  slices: readonly number[];
}

/** Asked about each stretch at each of its places. */
export interface Ask {
  /** See `pieceSql`: examines `most` rows at most, gives those that fit and the last one it saw. */
  sql: string;
  values: (piece: Piece) => readonly (readonly Value[])[];
  /** What a row costs, compared with one that is read in the order of its table. */
  rowCost: number;
}

export interface Piece extends Stretch {
  /** What the rows have to say with their names, so that it is known where they belong. */
  tag: number;
  most: number;
}

/**
 * Stretches lie one below the other. Between them there may be steps that fit nothing. `looks`: how many
 * stretches are read at once, at first.
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
      // The rest of this stretch comes first; what was read of those after it is read once more.
      ahead.putBack([{ ...one, below: read.reached }, ...some.slice(tag + 1)]);
      break;
    }
    grow(size, { isCut, isDense: found * 4 > cost });
  }
}

/** A row that fits; or the last one of a piece, with the number of rows that it was. */
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
  /** There is more in the stretch, below what was reached. */
  isCut: boolean;
}

/** Where one place gave as many rows as it may, what others gave below its last one must wait. */
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

/** Long stretches are read in longer pieces, the faster the less fits; short ones more at a time. */
function grow(size: Size, { isCut, isDense }: { isCut: boolean; isDense: boolean }): void {
  if (isCut) size.rows = Math.min(size.rows * (isDense ? 2 : 4), limits.pieceRowsMax);
  else size.looks = Math.min(size.looks * 2, limits.pieceLooksMax);
  const room = Math.ceil((4 * limits.pieceRowsMax) / size.rows);
  size.looks = Math.min(size.looks, room);
}

interface Ahead {
  /** The next so many, if there are. */
  take(most: number): Script<(Stretch | Step)[]>;
  /** They come first, in this order. */
  putBack(items: readonly (Stretch | Step)[]): void;
}

/** What lies ahead, as far as it was looked at. */
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
