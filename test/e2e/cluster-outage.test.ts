import { describe, it } from 'node:test';
import { outage } from './cluster-outage.ts';

/** Longer than nodes query the status of an uncertain commit; `npm run soak` takes 20 seconds. */
const awayMs = 6_000;

/** Concurrent, because both mostly wait, each for its own database. */
describe('a cluster whose database is down', { concurrency: true }, () => {
  for (const how of ['killed', 'frozen'] as const) {
    it(`refuses in time with the reason, and recovers without a restart: ${how}`, async (t) => {
      t.diagnostic(JSON.stringify(await outage(how, awayMs)));
    });
  }
});
