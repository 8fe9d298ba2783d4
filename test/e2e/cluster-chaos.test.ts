import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chaos, summaryOf } from './cluster-chaos.ts';

/** Printed with every failure. SEED=… selects another one, and `npm run soak` draws a random one. */
const seed = Number(process.env['SEED'] ?? 20_772);
/** Enough for each kind of fault; `npm run soak` publishes 50,000. */
const events = 1_200;

describe('a cluster under faults', () => {
  it('keeps every guarantee while nodes and the database are killed and frozen', async (t) => {
    const report = await chaos(seed, events);
    t.diagnostic(summaryOf(report));
    const { kills, freezes, outages, refused, lost } = report;
    assert.equal(report.events, events);
    assert.ok(kills > 0 && freezes > 0 && outages > 0, 'there were faults');
    assert.ok(refused + lost > 0 && report.cancelled > 0, 'and they had an effect');
  });
});
