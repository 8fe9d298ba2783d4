import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { factOf } from './transaction-facts.ts';
import type { LaneFigures } from './pending-statistics.ts';
import { createPendingStatistics } from './pending-statistics.ts';

const made = (lane: number) => factOf('made', { appNo: 1, lane });
const shown = (some: readonly LaneFigures[]): number[][] =>
  some.map(({ lane, minute, figures }) => [lane, minute, figures.counts.made]);

describe('createGathered', () => {
  it('sums by lane and minute, and returns the oldest minute first', () => {
    const gathered = createPendingStatistics();
    gathered.add([made(1), made(2), made(1)], 7);
    gathered.add([made(1)], 8);
    gathered.add([made(1)], 7);
    assert.deepEqual(shown(gathered.take(9)), [
      [1, 7, 3],
      [2, 7, 1],
      [1, 8, 1],
    ]);
    assert(gathered.isEmpty());
  });

  it('is shared by parallel transactions, each of which commits or restores its own part', () => {
    const one = createPendingStatistics();
    const other = one.beside();
    one.add([made(1), made(2), made(3)], 7);
    assert.deepEqual(shown(one.take(1)), [[1, 7, 1]]);
    assert.deepEqual(shown(other.take(1)), [[2, 7, 1]]);
    one.undo();
    other.done();
    other.undo();
    assert.deepEqual(shown(other.take(9)), [
      [3, 7, 1],
      [1, 7, 1],
    ]);
  });

  it('ignores facts without a lane', () => {
    const gathered = createPendingStatistics();
    gathered.add([{ ...made(1), lane: undefined }], 7);
    assert(gathered.isEmpty());
    assert.deepEqual(gathered.take(9), []);
  });

  it('takes no more than requested', () => {
    const gathered = createPendingStatistics();
    gathered.add([made(1), made(2)], 7);
    gathered.add([made(3), made(4)], 8);
    assert.deepEqual(shown(gathered.take(3)), [
      [1, 7, 1],
      [2, 7, 1],
      [3, 8, 1],
    ]);
    gathered.done();
    assert.deepEqual(shown(gathered.take(3)), [[4, 8, 1]]);
    assert(gathered.isEmpty());
  });

  it('restores what was not written, merged with newer figures', () => {
    const gathered = createPendingStatistics();
    gathered.add([made(1)], 7);
    gathered.take(1);
    gathered.add([made(1)], 7);
    gathered.undo();
    gathered.undo();
    assert.deepEqual(shown(gathered.take(9)), [[1, 7, 2]]);
    gathered.done();
    gathered.undo();
    assert(gathered.isEmpty());
  });

  it('is full at its limit', () => {
    const gathered = createPendingStatistics(3);
    gathered.add([made(1), made(1)], 7);
    gathered.add([made(1)], 8);
    assert(!gathered.isFull());
    gathered.add([made(2)], 8);
    assert(gathered.isFull());
  });
});
