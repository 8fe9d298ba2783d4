import { describe, it } from 'node:test';
import { chaos, summaryOf } from './cluster-chaos.ts';

/** Another one each day, printed with every failure; SEED=… runs a former one again. */
const seed = Number(process.env['SEED'] ?? Math.floor(Date.now() / 86_400_000));
const events = 5_000;

describe('a cluster under faults', () => {
  it('keeps every promise while nodes and the database are killed and frozen', async (t) => {
    t.diagnostic(summaryOf(await chaos(seed, events)));
  });
});
