// Tries a few faults of the disk; `npm run proof` tries many more.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { patientBusyMs } from '../faults/node.ts';
import { fullDisk } from '../faults/store-faults.ts';
import type { Finding } from '../finding.ts';
import { killAtCalls } from './disk-faults.ts';
import { serveOnFailedSync } from './service-faults.ts';

const faults: Readonly<Record<string, () => Promise<Finding>>> = {
  'a process killed in a call to the disk': async () =>
    killAtCalls({ only: ['life'], pointsMax: 2 }),
  'a service with a full disk': async () => fullDisk([], patientBusyMs),
  'a service after a failed sync': async () => serveOnFailedSync(),
};

for (const [what, fault] of Object.entries(faults)) {
  describe(what, () => {
    it('loses no acknowledged write', async (t) => {
      const { violations, skipped } = await fault();
      if (skipped !== undefined) return t.skip(skipped);
      assert.deepEqual(violations, []);
    });
  });
}
