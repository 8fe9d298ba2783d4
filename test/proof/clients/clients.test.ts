// A few attacks on the real service, with shorter times; `npm run proof` has all of them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clients } from './part.ts';

describe('clients that mean harm', () => {
  it('hold nothing for long, keep nobody out, and have nothing done that they hid', async () => {
    const findings = await clients.prove({ scale: 'small', seed: 1, say: () => undefined });
    assert.deepEqual(
      findings.flatMap(({ violations }) => violations),
      [],
    );
    const [finding] = findings;
    assert.ok(Number(finding?.figures['ways to write a request']) > 100);
  });
});
