import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { limits } from '../core/limits.ts';
import { rulesIn } from './kept-filter.ts';

describe('rulesIn', () => {
  it('remembers by the text, and forgets the oldest when it remembers too much', () => {
    const rowOf = (i: number) => ({
      filter: JSON.stringify({ '/a': [`${i} ${'x'.repeat(4_000)}`] }),
    });
    const fitting = Math.floor(limits.filtersRememberedCharsMax / rowOf(1_000).filter.length);
    const all = Array.from({ length: fitting + 10 }, (_, i) => rowOf(1_000 + i));
    const found = all.map(rulesIn);
    // The newest first: to ask for one that was forgotten makes another one go.
    for (const [i, row] of all.slice(10).entries()) assert.equal(rulesIn(row), found[10 + i]);
    assert.notEqual(rulesIn(rowOf(1_000)), found[0]);
    assert.deepEqual(rulesIn(rowOf(1_000)), found[0]);
    assert.equal(rulesIn(all.at(-1) ?? {}), found.at(-1));
  });

  it('finds none where there is none', () => {
    assert.equal(rulesIn({ filter: null }), undefined);
  });
});
