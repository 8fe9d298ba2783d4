import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { whenReady, allReady } from './maybe-promise.ts';

describe('whenReady', () => {
  it('uses an available value at once, and throws at once', () => {
    assert.equal(
      whenReady(1, (value) => value + 1),
      2,
    );
    assert.throws(
      () =>
        whenReady(1, () => {
          throw new Error('wrong');
        }),
      /wrong/,
    );
  });

  it('waits for a promise', async () => {
    const later = whenReady(Promise.resolve(1), (value) => value + 1);
    assert(later instanceof Promise);
    assert.equal(await later, 2);
  });
});

describe('allReady', () => {
  it('returns at once when all values are available', () => {
    assert.deepEqual(allReady([1, undefined]), [1, undefined]);
    assert.deepEqual(allReady([]), []);
  });

  it('waits when one of them is a promise', async () => {
    const later = allReady([1, Promise.resolve(2)]);
    assert(later instanceof Promise);
    assert.deepEqual(await later, [1, 2]);
  });
});
