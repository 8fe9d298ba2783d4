import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hearNothing } from './cluster-listen.ts';

const events = 20;

/**
 * What is promised is a time, from the answer to the callback, on a wall clock; there is no other way to
 * see it. Looking by itself a worker finds an event after 125 ms on average, so a second for the median
 * of twenty is generous to a busy machine, and far less than any wait that would come instead: what is
 * heard of by nothing but a poll of ten seconds, or by a rescue.
 */
const startsWithinMs = 1_000;

describe('a worker that hears nothing any more', () => {
  it('starts what was published at another node within a second', async (t) => {
    const { tookMs, logged } = await hearNothing(events);
    t.diagnostic(`from the answer to the callback, in ms: ${tookMs.join(' ')}`);
    assert.ok((tookMs[events / 2] ?? Infinity) <= startsWithinMs, `they took ${tookMs.join(' ')}`);
    assert.equal(logged, '', 'it never noticed');
  });
});
