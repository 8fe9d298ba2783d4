import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { fc } from '../../../../test/fast-check.ts';
import { limits } from '../../../core/limits/limits.ts';
import type { Position } from '../../sql/cursor.ts';
import type { Row } from '../../sql/row.ts';
import type { Repeated, Statement, Value } from '../../sql/statement.ts';
import type { Walk } from './fill-page.ts';
import type { Ask, Step, Stretch } from './search-walk.ts';
import { newestFirst, walkStretches } from './search-walk.ts';

/** A row in one of the places, as in a table. */
interface Placed extends Position {
  place: number;
  fits: boolean;
}

describe('walkStretches', () => {
  it('yields all matches once, newest first, whichever place has them', () => {
    const row = fc.record({
      event: fc.integer({ min: 0, max: 99 }).map(eventOf),
      n: fc.nat({ max: 400 }),
      place: fc.nat({ max: 2 }),
      fits: fc.boolean(),
    });
    const rows = fc.uniqueArray(row, { maxLength: 1_500, selector: keyOf, size: 'max' });
    const cuts = fc.uniqueArray(fc.integer({ min: 1, max: 99 }), { maxLength: 12 });
    fc.assert(
      fc.property(rows, cuts, (table, bounds) => {
        const { steps, examined } = run(table, stretchesFrom(bounds));
        const expected = table.filter(({ fits }) => fits).sort(newestFirst);
        assert.deepEqual(steps.filter(({ fits }) => fits).map(keyOf), expected.map(keyOf));
        assert.deepEqual(steps.map(keyOf), steps.toSorted(newestFirst).map(keyOf), 'goes back');
        assert(steps.reduce((sum, { cost }) => sum + cost, 0) >= table.length);
        assert(examined <= 4 * limits.pieceRowsMax * 3);
      }),
      { numRuns: 60, endOnFailure: true },
    );
  });

  it('examines few rows at first, and never more than the limit at a time', () => {
    const table = Array.from({ length: 50_000 }, (_, n) => ({
      event: eventOf(5),
      n,
      place: 0,
      fits: false,
    }));
    const { sizes } = run(table, stretchesFrom([]));
    assert.equal(sizes[0], limits.pieceRowsMin);
    assert.equal(Math.max(...sizes), limits.pieceRowsMax);
  });
});

function eventOf(at: number): string {
  return String(at).padStart(26, '0');
}

function keyOf({ event, n }: Position): string {
  return `${event} ${n}`;
}

/** From the newest to the oldest, cut at these events; the steps between them match nothing. */
function* stretchesFrom(bounds: readonly number[]): Walk<Stretch | Step> {
  let below: Position = { event: '~', n: 0 };
  for (const bound of [...bounds.toSorted((a, b) => b - a), 0]) {
    const from = eventOf(bound);
    yield { below, from, slices: [] };
    if (bound % 2 === 0) yield { event: from, n: 0, fits: false, cost: 1 };
    below = { event: from, n: 0 };
  }
}

interface Run {
  steps: Step[];
  /**
   * Rows of each statement, and the most that any statement was allowed to examine in all its
   * places.
   */
  sizes: number[];
  examined: number;
}

function run(table: readonly Placed[], stretches: Walk<Stretch | Step>): Run {
  const asks = [0, 1, 2].map((place): Ask => ({
    sql: String(place),
    values: ({ tag, below, from, most }) => [[tag, below.event, below.n, from, most]],
    rowCost: 1,
  }));
  const sizes: number[] = [];
  const steps: Step[] = [];
  let examined = 0;
  const walk = walkStretches(stretches, asks);
  for (let move = walk.next([]); move.done !== true;) {
    if (!('sql' in move.value)) {
      steps.push(move.value);
      move = walk.next([]);
      continue;
    }
    const rows = answer(table, move.value);
    const seen = rows.map((row) => Number(row['examined']));
    sizes.push(...seen.filter((count) => count > 0));
    examined = Math.max(
      examined,
      seen.reduce((sum, count) => sum + count, 0),
    );
    move = walk.next(rows);
  }
  return { steps, sizes, examined };
}

function answer(table: readonly Placed[], asked: Statement | Repeated): Row[] {
  assert('each' in asked);
  return asked.each.flatMap((values) => piece(table, Number(asked.sql), values));
}

function piece(table: readonly Placed[], place: number, values: readonly Value[]): Row[] {
  const [tag, event, n, from, most] = values;
  const below = { event: String(event), n: Number(n) };
  const seen = table
    .filter((row) => row.place === place && row.event >= String(from))
    .filter((row) => newestFirst(below, row) < 0)
    .sort(newestFirst)
    .slice(0, Number(most));
  const edge = seen.at(-1);
  const fitting = seen.filter(({ fits }) => fits).map((row) => ({ ...row, tag, examined: 0 }));
  return edge === undefined ? [] : [...fitting, { ...edge, tag, examined: seen.length }];
}
