// A few kills and cuts; `npm run proof` tries them at every step.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { exchanges } from './part.ts';

describe('exchanges that are cut short', { timeout: 300_000 }, () => {
  it('keep what the API accepted, and call nothing that it refused', async (t) => {
    const findings = await exchanges.prove({ scale: 'small', seed: 1, say: () => undefined });
    for (const { part, figures } of findings) t.diagnostic(`${part}: ${JSON.stringify(figures)}`);
    assert.deepEqual(
      findings.flatMap(({ violations }) => violations),
      [],
    );
  });
});
