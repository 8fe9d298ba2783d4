import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { createLongestTimeout } from './dispatcher.ts';

describe('createLongest', () => {
  it('returns the longest timeout of the attempts in flight', () => {
    const longest = createLongestTimeout();
    assert.equal(longest.ms(), 0);
    const ends = [15_000, 60_000, 15_000].map((ms) => longest.begin(ms));
    assert.equal(longest.ms(), 60_000);
    ends[1]?.();
    assert.equal(longest.ms(), 15_000);
    ends[0]?.();
    assert.equal(longest.ms(), 15_000, 'the other one is still there');
    ends[2]?.();
    assert.equal(longest.ms(), 0);
  });
});
