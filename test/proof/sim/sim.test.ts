// A small part of what `npm run sim` does at length: some seeds without a violation, the same seed twice,
// and products that were broken on purpose, which must be noticed.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runControls } from '../controls/run-controls.ts';
import { findingOf, runBatch } from './batch.ts';
import { runSeed } from './run.ts';

const seeds = 40;

describe('the simulation', () => {
  it(`finds nothing wrong in ${seeds} seeds, and meets what it is for`, async () => {
    const sum = await runBatch({ from: 1, seeds });
    assert.deepEqual(findingOf(sum).violations, []);
    // What a few seeds are enough for; `npm run sim` wants all of them, from 200 seeds on.
    const { crashesUnderWay, rescued, staleRefused, ambiguous, duplicates } = sum.counters;
    const { retryAfter, unsubscribesUnderWay, orderedFailures } = sum.counters;
    const met = { crashesUnderWay, rescued, staleRefused, ambiguous, duplicates };
    const also = { retryAfter, unsubscribesUnderWay, orderedFailures };
    for (const [name, count] of Object.entries({ ...met, ...also })) {
      assert.ok(count > 0, `${name} was never met: ${JSON.stringify(sum.counters)}`);
    }
  });

  it('goes the same way with the same seed, and another way with another', async () => {
    const [first, again, other] = [await runSeed(7), await runSeed(7), await runSeed(8)];
    assert.equal(first.print, again.print);
    assert.equal(first.steps, again.steps);
    assert.deepEqual(first.counters, again.counters);
    assert.notEqual(first.print, other.print);
  });

  it('notices what was broken on purpose', async () => {
    const names = ['ack-before-commit', 'rescue-the-living', 'no-back-off'];
    const results = await runControls({ names, seedsMax: 60 });
    assert.equal(results.length, names.length);
    for (const { name, caughtBy } of results) assert.ok(caughtBy, `nobody noticed "${name}"`);
  });
});
