import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hearNothing } from './cluster-listen.ts';

const events = 20;

/**
 * The guarantee is a time, from the publish response to the callback, so it is measured with the wall clock. A polling
 * worker finds an event after 125 ms on average. A median of one second over twenty events is generous for a busy
 * machine, and far less than without the fallback: ten seconds until the next slow poll, or a recovery.
 */
const startsWithinMs = 1_000;

describe('a worker that gets no notifications', () => {
  it('starts deliveries published at another node within a second', async (t) => {
    const { tookMs, logged } = await hearNothing(events);
    t.diagnostic(`from the response to the callback, in ms: ${tookMs.join(' ')}`);
    assert.ok((tookMs[events / 2] ?? Infinity) <= startsWithinMs, `they took ${tookMs.join(' ')}`);
    assert.equal(logged, '', 'it logged nothing');
  });
});
