import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { postgres } from './part.ts';

describe('faults of PostgreSQL', { timeout: 300_000 }, () => {
  it('lose and duplicate no acknowledged event', async (t) => {
    const findings = await postgres.prove({ scale: 'small', seed: 1, say: () => undefined });
    for (const { part, figures } of findings) t.diagnostic(`${part}: ${JSON.stringify(figures)}`);
    assert.deepEqual(
      findings.flatMap(({ violations }) => violations),
      [],
    );
  });
});
