// Runs a few attacks against the real service, with shorter timeouts; `npm run proof` runs all of them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clients } from './part.ts';

describe('malicious clients', () => {
  it('hold no resources, lock out no other client and smuggle no request', async () => {
    const findings = await clients.prove({ scale: 'small', seed: 1, say: () => undefined });
    for (const { part, violations } of findings) assert.deepEqual(violations, [], part);
    const [attacked, counted] = findings;
    assert.ok(Number(attacked?.figures['ways to write a request']) > 100);
    assert.ok(Number(counted?.figures['comparisons']) > 1_000);
  });
});
