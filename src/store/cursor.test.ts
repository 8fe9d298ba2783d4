import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { belowCursor, belowPosition, cursorAt, cursorAtPosition, isCursor } from './cursor.ts';

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

describe('belowPosition', () => {
  const event = '01kabcdefghjkmnpqrstvwxyz0';

  it('goes on where a page ended, in a slice or after it', () => {
    for (const position of [
      { slice: 3, event, n: 12 },
      { slice: 3, event: '', n: 0 },
    ]) {
      const cursor = cursorAtPosition(position);
      assert.deepEqual(belowPosition(cursor), position);
      assert(isCursor(cursor));
      assert(isCursor(cursor, 'position'));
      assert(!isCursor(cursor, 'row'));
    }
  });

  it('starts above everything', () => {
    const { slice, event: top } = belowPosition(undefined);
    assert.equal(slice, Number.MAX_SAFE_INTEGER);
    assert(top > 'zzzzzzzzzzzzzzzzzzzzzzzzzz');
  });

  it('refuses what is no position', () => {
    for (const text of ['', '5', `0_${event}_0`, `1_${event}`, `1_${event}_-1`, `1_x_0`, '1__']) {
      assert.equal(isCursor(text, 'position'), false, text);
      assert.throws(() => belowPosition(text), TypeError);
    }
    assert.throws(() => belowCursor(cursorAtPosition({ slice: 1, event, n: 0 })), TypeError);
  });
});
