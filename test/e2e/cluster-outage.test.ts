import { describe, it } from 'node:test';
import { outage } from './cluster-outage.ts';

/** Longer than a commit of unknown outcome is asked about; `npm run soak` takes 20 seconds. */
const awayMs = 6_000;

/** At once: both wait for most of the time, each for a database of its own. */
describe('a cluster whose database is away', { concurrency: true }, () => {
  for (const how of ['killed', 'frozen'] as const) {
    it(`refuses in time, says why, and heals without a restart: ${how}`, async (t) => {
      t.diagnostic(JSON.stringify(await outage(how, awayMs)));
    });
  }
});
