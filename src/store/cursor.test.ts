import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { belowCursor, cursorAt, isCursor } from './cursor.ts';

describe('belowCursor', () => {
  it('goes on where a page ended', () => {
    assert.equal(belowCursor(cursorAt(42)), 42);
    assert(isCursor(cursorAt(42)));
  });

  it('starts above everything', () => {
    assert.equal(belowCursor(undefined), Number.MAX_SAFE_INTEGER);
  });

  it('refuses what is no cursor', () => {
    for (const text of ['', '0', '-1', '1.5', '1e3', ' 1', '9999999999999999', 'abc']) {
      assert.equal(isCursor(text), false, text);
      assert.throws(() => belowCursor(text), TypeError);
    }
  });
});
