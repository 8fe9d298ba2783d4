import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createListing } from './listing.ts';

/** Each page names the next one. */
function pages(next: Readonly<Record<string, string | null>>, pagesMax = 1_000) {
  let asked = 0;
  return createListing<string, { items: string[]; nextCursor: string | null }>(
    async (cursor = 'first') => {
      asked += 1;
      assert.ok(asked <= pagesMax, 'it walks for ever');
      return { items: [cursor], nextCursor: next[cursor] ?? null };
    },
  );
}

describe('createListing', () => {
  it('walks through all pages, any number of times', async () => {
    const listing = pages({ first: 'a', a: 'b', b: null });
    for (const _ of [1, 2]) {
      assert.deepEqual(await Array.fromAsync(listing), ['first', 'a', 'b']);
    }
  });

  it('throws when its pages form a cycle', async () => {
    const wide = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`c${n}`, `c${n + 1}`]));
    for (const circle of [
      { first: 'a', a: 'a' },
      { first: 'a', a: 'b', b: 'a' },
      { first: 'x', x: 'y', y: 'a', a: 'b', b: 'c', c: 'a' },
      { first: 'c0', ...wide, c50: 'c0' },
    ]) {
      await assert.rejects(
        Array.fromAsync(pages(circle)),
        /^Error: Cannot list everything: the service returned the cursor "\w+" twice$/,
      );
    }
  });
});
