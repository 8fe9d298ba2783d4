// A few of the faults of a disk; `npm run proof` takes many more.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { patientBusyMs } from '../faults/node.ts';
import { fullDisk } from '../faults/store-faults.ts';
import type { Finding } from '../finding.ts';
import { killAtCalls } from './disk-faults.ts';
import { serveOnFailedSync } from './service-faults.ts';

const faults: Readonly<Record<string, () => Promise<Finding>>> = {
  'a process that is killed in a call to the disk': async () =>
    killAtCalls({ only: ['life'], pointsMax: 2 }),
  'a service whose disk is full for a while': async () => fullDisk([], patientBusyMs),
  'a service whose sync fails': async () => serveOnFailedSync(),
};

for (const [what, fault] of Object.entries(faults)) {
  describe(what, () => {
    it('keeps what it promised', async (t) => {
      const { violations, skipped } = await fault();
      if (skipped !== undefined) return t.skip(skipped);
      assert.deepEqual(violations, []);
    });
  });
}
