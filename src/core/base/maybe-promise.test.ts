import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { followed, together } from './maybe-promise.ts';

describe('followed', () => {
  it('uses an available value at once, and throws at once', () => {
    assert.equal(
      followed(1, (value) => value + 1),
      2,
    );
    assert.throws(
      () =>
        followed(1, () => {
          throw new Error('wrong');
        }),
      /wrong/,
    );
  });

  it('waits for a promise', async () => {
    const soon = followed(Promise.resolve(1), (value) => value + 1);
    assert(soon instanceof Promise);
    assert.equal(await soon, 2);
  });
});

describe('together', () => {
  it('returns at once when all values are available', () => {
    assert.deepEqual(together([1, undefined]), [1, undefined]);
    assert.deepEqual(together([]), []);
  });

  it('waits when one of them is a promise', async () => {
    const soon = together([1, Promise.resolve(2)]);
    assert(soon instanceof Promise);
    assert.deepEqual(await soon, [1, 2]);
  });
});
