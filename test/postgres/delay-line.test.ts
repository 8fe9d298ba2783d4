import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { createDelayLine } from './delay-line.ts';

describe('a delay line', () => {
  it('delays each piece by exactly the delay, however many there are', () => {
    const line = createDelayLine<string>(3);
    for (const piece of ['a', 'b', 'c']) line.enter(piece, 10);
    line.enter('d', 11);
    assert.equal(line.dueMs(), 13);
    assert.deepEqual(line.leave(12), []);
    assert.deepEqual(line.leave(13), ['a', 'b', 'c'], 'pieces do not wait for each other');
    assert.equal(line.dueMs(), 14);
    assert.deepEqual(line.leave(20), ['d']);
    assert.equal(line.dueMs(), undefined);
  });
});
