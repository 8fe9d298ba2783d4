import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { factOf } from './transaction-facts.ts';
import type { LaneStatistics } from './pending-statistics.ts';
import { createPendingStatistics } from './pending-statistics.ts';

const made = (lane: number) => factOf('made', { appNo: 1, lane });
const shown = (some: readonly LaneStatistics[]): number[][] =>
  some.map(({ lane, minute, figures }) => [lane, minute, figures.counts.made]);

describe('createGathered', () => {
  it('sums by lane and minute, and returns the oldest minute first', () => {
    const pending = createPendingStatistics();
    pending.add([made(1), made(2), made(1)], 7);
    pending.add([made(1)], 8);
    pending.add([made(1)], 7);
    assert.deepEqual(shown(pending.take(9)), [
      [1, 7, 3],
      [2, 7, 1],
      [1, 8, 1],
    ]);
    assert(pending.isEmpty());
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
    const pending = createPendingStatistics();
    pending.add([{ ...made(1), lane: undefined }], 7);
    assert(pending.isEmpty());
    assert.deepEqual(pending.take(9), []);
  });

  it('takes no more than requested', () => {
    const pending = createPendingStatistics();
    pending.add([made(1), made(2)], 7);
    pending.add([made(3), made(4)], 8);
    assert.deepEqual(shown(pending.take(3)), [
      [1, 7, 1],
      [2, 7, 1],
      [3, 8, 1],
    ]);
    pending.done();
    assert.deepEqual(shown(pending.take(3)), [[4, 8, 1]]);
    assert(pending.isEmpty());
  });

  it('restores what was not written, merged with newer figures', () => {
    const pending = createPendingStatistics();
    pending.add([made(1)], 7);
    pending.take(1);
    pending.add([made(1)], 7);
    pending.undo();
    pending.undo();
    assert.deepEqual(shown(pending.take(9)), [[1, 7, 2]]);
    pending.done();
    pending.undo();
    assert(pending.isEmpty());
  });

  it('is full at its limit', () => {
    const pending = createPendingStatistics(3);
    pending.add([made(1), made(1)], 7);
    pending.add([made(1)], 8);
    assert(!pending.isFull());
    pending.add([made(2)], 8);
    assert(pending.isFull());
  });
});
