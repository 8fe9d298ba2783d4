import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { limits } from '../../core/limits/limits.ts';
import { rulesIn } from './listeners.ts';

describe('rulesIn', () => {
  it('caches by the text, and drops the oldest when it is full', () => {
    const rowOf = (i: number) => ({
      filter: JSON.stringify({ '/a': [`${i} ${'x'.repeat(4_000)}`] }),
    });
    const fitting = Math.floor(limits.filtersRememberedCharsMax / rowOf(1_000).filter.length);
    const all = Array.from({ length: fitting + 10 }, (_, i) => rowOf(1_000 + i));
    const found = all.map(rulesIn);
    // Newest first: requesting one that was dropped drops another.
    for (const [i, row] of all.slice(10).entries()) assert.equal(rulesIn(row), found[10 + i]);
    assert.notEqual(rulesIn(rowOf(1_000)), found[0]);
    assert.deepEqual(rulesIn(rowOf(1_000)), found[0]);
    assert.equal(rulesIn(all.at(-1) ?? {}), found.at(-1));
  });

  it('returns undefined without a filter', () => {
    assert.equal(rulesIn({ filter: null }), undefined);
  });
});
