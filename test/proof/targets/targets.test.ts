// A little of what `npm run proof` does about forbidden connections. What was allowed once and wide ranges
// are left to it: forbidden.test.ts and address.test.ts try them as well.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stepsOf, type Step } from './part.ts';

const tries: Readonly<Partial<Record<Step, string>>> = {
  subscribe: 'for hostile URLs, however they are handed in',
  attempt: 'for hostile URLs that were in the database before',
  rebinding: 'for names that lead elsewhere after they have subscribed',
  redirects: 'for receivers that send callbacks on',
  namespace: 'in a network where a canary answers for every address',
};

describe('no forbidden connection', () => {
  const steps = stepsOf('small', 1);
  for (const [step, title] of Object.entries(tries)) {
    it(`comes about ${title}`, async (t) => {
      const finding = await steps[step as Step]();
      assert.deepEqual(finding.violations, []);
      if (finding.skipped !== undefined) t.skip(finding.skipped);
    });
  }
});
