import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { belowCursor, belowPosition, cursorAt, cursorAtPosition, isCursor } from './cursor.ts';

describe('belowCursor', () => {
  it('continues where a page ended', () => {
    assert.equal(belowCursor(cursorAt(42)), 42);
    assert(isCursor(cursorAt(42)));
  });

  it('starts above everything', () => {
    assert.equal(belowCursor(undefined), Number.MAX_SAFE_INTEGER);
  });

  it('refuses text that is not a cursor', () => {
    for (const text of ['', '0', '-1', '1.5', '1e3', ' 1', '9999999999999999', 'abc']) {
      assert.equal(isCursor(text), false, text);
      assert.throws(() => belowCursor(text), TypeError);
    }
  });
});

describe('belowPosition', () => {
  const event = '01kabcdefghjkmnpqrstvwxyz0';

  it('continues where a page ended, within an event or before it', () => {
    for (const position of [
      { event, n: 12 },
      { event, n: 0 },
    ]) {
      const cursor = cursorAtPosition(position);
      assert.deepEqual(belowPosition(cursor), position);
      assert(isCursor(cursor));
      assert(isCursor(cursor, 'position'));
      assert(!isCursor(cursor, 'row'));
    }
  });

  it('starts above everything', () => {
    assert(belowPosition(undefined).event > 'zzzzzzzzzzzzzzzzzzzzzzzzzz');
  });

  it('refuses text that is not a position', () => {
    for (const text of ['', '5', `1_${event}_0`, event, `${event}_`, `${event}_-1`, 'x_0', '_0']) {
      assert.equal(isCursor(text, 'position'), false, text);
      assert.throws(() => belowPosition(text), TypeError);
    }
    assert.throws(() => belowCursor(cursorAtPosition({ event, n: 0 })), TypeError);
  });
});
