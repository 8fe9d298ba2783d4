// A small version of the part about forbidden connections. Revoked permissions and wide ranges are left to `npm run
// proof`; forbidden.test.ts and address.test.ts cover them, too.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stepsOf, type Step } from './part.ts';

const tries: Readonly<Partial<Record<Step, string>>> = {
  subscribe: 'hostile URLs, in every way to pass a URL',
  attempt: 'hostile URLs that are already in the database',
  rebinding: 'names that resolve to other addresses after the subscribe',
  redirects: 'receivers that redirect',
  namespace: 'the whole service, in a network where a canary has every address',
};

describe('forbidden connections', () => {
  const steps = stepsOf('small', 1);
  for (const [step, title] of Object.entries(tries)) {
    it(`are never made: ${title}`, async (t) => {
      const finding = await steps[step as Step]();
      assert.deepEqual(finding.violations, []);
      if (finding.skipped !== undefined) t.skip(finding.skipped);
    });
  }
});
