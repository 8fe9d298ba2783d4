import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { limits } from '../../core/limits.ts';
import type { Page } from '../page.ts';
import type { Script } from '../statement.ts';
import { all } from '../statement.ts';
import type { Walk } from './fill-page.ts';
import { fillPage } from './fill-page.ts';

describe('fillPage', () => {
  it('reads in sets, and stops after so many rows with a cursor', () => {
    const { page, statements } = run(fill({ steps: 20_000, fits: () => false }));
    assert.deepEqual(page, { items: [], next: String(limits.rowsExaminedMax - 1) });
    assert(statements <= Math.ceil(limits.rowsExaminedMax / limits.rowsReadAtOnce) + 1);
  });

  it('reads no more than the page, if all of it fits', () => {
    const { page, statements } = run(fill({ steps: 100, limit: 50, fits: () => true }));
    assert.equal(page.items.length, 50);
    assert.equal(page.next, '49');
    assert.equal(statements, 1);
  });

  it('ends within a set where the page is full, and goes on behind its last item', () => {
    const odd = (n: number): boolean => n % 2 === 1;
    const { page } = run(fill({ steps: 100, limit: 3, fits: odd }));
    assert.deepEqual(page, { items: [1, 3, 5], next: '5' });
  });

  it('has no cursor when the walk has ended, full or not', () => {
    for (const limit of [10, 11]) {
      const { page } = run(fill({ steps: 10, limit, fits: () => true }));
      assert.deepEqual([page.items.length, page.next], [10, undefined]);
    }
  });

  it('stops with a cursor when the walk needs too many looks', () => {
    const { page, statements } = run(fill({ steps: 9_000, looks: 3, fits: () => false }));
    assert.equal(page.next, String(Math.ceil(limits.pageStatementsMax / 3) - 1));
    assert(statements < limits.pageStatementsMax + 50);
  });

  it('gives a page with a step even if the first one needs too many looks', () => {
    const looks = limits.pageStatementsMax + 1;
    const { page } = run(fill({ steps: 2, looks, fits: () => true }));
    assert.deepEqual(page, { items: [0], next: '0' });
  });

  it('stops when the payloads of the items are enough', () => {
    const bytes = limits.pageBytesMax / 2;
    const { page } = run(fill({ steps: 100, fits: () => true, bytes }));
    assert.deepEqual(page, { items: [0, 1], next: '1' });
  });
});

interface Filling {
  steps: number;
  limit?: number;
  fits: (n: number) => boolean;
  /** Statements of the walk before each step. */
  looks?: number;
  bytes?: number;
}

function fill({ steps, limit = 50, fits, looks = 0, bytes = 0 }: Filling): Script<Page<number>> {
  return fillPage({
    walk: walk(steps, looks),
    limit,
    toCursor: ({ n }) => String(n),
    toItems: function* (some) {
      yield* all('items');
      return some.map(({ n }) => (fits(n) ? n : undefined));
    },
    weigh: () => bytes,
  });
}

function* walk(steps: number, looks: number): Walk<{ n: number }> {
  for (let n = 0; n < steps; n += 1) {
    for (let i = 0; i < looks; i += 1) yield* all('look');
    yield { n };
  }
}

function run<T>(script: Script<T>): { page: T; statements: number } {
  let statements = 0;
  for (let step = script.next([]); ; step = script.next([])) {
    if (step.done === true) return { page: step.value, statements };
    statements += 1;
  }
}
