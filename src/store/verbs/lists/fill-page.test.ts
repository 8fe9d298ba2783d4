import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { limits } from '../../../core/limits/limits.ts';
import type { Page } from '../../port/store.ts';
import type { Script } from '../../sql/statement.ts';
import { all } from '../../sql/statement.ts';
import type { Stepped, Walk } from './fill-page.ts';
import { fillPage } from './fill-page.ts';

describe('fillPage', () => {
  it('stops after a bounded number of rows, with a cursor where it stopped', () => {
    const { page } = run(fill({ steps: 2 * limits.rowsExaminedMax, fits: () => false }));
    assert.deepEqual(page, { items: [], next: String(limits.rowsExaminedMax - 1) });
  });

  it('reads its items together', () => {
    const { page, statements } = run(fill({ steps: 100, limit: 50, fits: () => true }));
    assert.equal(page.items.length, 50);
    assert.equal(page.next, '49');
    assert.equal(statements, 1);
  });

  it('continues after its last item, wherever it looked for another one', () => {
    const odd = (n: number): boolean => n % 2 === 1;
    const { page } = run(fill({ steps: 100, limit: 3, fits: odd }));
    assert.deepEqual(page, { items: [1, 3, 5], next: '5' });
  });

  it('continues where it stopped, if nothing matches between its last item and that place', () => {
    const { page } = run(fill({ steps: 2 * limits.rowsExaminedMax, fits: (n) => n < 3 }));
    assert.deepEqual(page, { items: [0, 1, 2], next: String(limits.rowsExaminedMax - 1) });
  });

  it('has no cursor when nothing more matches, full or not', () => {
    for (const limit of [10, 11]) {
      const { page } = run(fill({ steps: 1_000, limit, fits: (n) => n < 10 }));
      assert.deepEqual([page.items.length, page.next], [10, undefined]);
    }
  });

  it('stops with a cursor when the walk needs too many statements', () => {
    const { page, statements } = run(fill({ steps: 9_000, looks: 3, fits: () => false }));
    assert.equal(page.next, String(Math.ceil(limits.pageStatementsMax / 3) - 1));
    assert(statements < limits.pageStatementsMax + 50);
  });

  it('returns at least one step even if it needs too many statements', () => {
    const looks = limits.pageStatementsMax + 1;
    const { page } = run(fill({ steps: 2, looks, fits: () => true }));
    assert.deepEqual(page, { items: [0], next: '0' });
  });

  it('stops when the payloads of the items reach their limit', () => {
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
    walk: walk(steps, looks, fits),
    limit,
    toCursor: ({ n }) => String(n),
    toItems: function* (some) {
      assert(some.every(({ n }) => fits(n)));
      if (some.length > 0) yield* all('items');
      return some.map(({ n }) => n);
    },
    weigh: () => bytes,
  });
}

type Step = Stepped & { n: number };

function* walk(steps: number, looks: number, fits: (n: number) => boolean): Walk<Step> {
  for (let n = 0; n < steps; n += 1) {
    for (let i = 0; i < looks; i += 1) yield* all('look');
    yield { n, fits: fits(n), cost: 1 };
  }
}

function run<T>(script: Script<T>): { page: T; statements: number } {
  let statements = 0;
  for (let step = script.next([]); ; step = script.next([])) {
    if (step.done === true) return { page: step.value, statements };
    statements += 1;
  }
}
