import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { postgres } from './part.ts';

describe('a PostgreSQL that fails', { timeout: 300_000 }, () => {
  it('loses nothing that was answered, and makes nothing twice', async (t) => {
    const findings = await postgres.prove({ scale: 'small', seed: 1, say: () => undefined });
    for (const { part, figures } of findings) t.diagnostic(`${part}: ${JSON.stringify(figures)}`);
    assert.deepEqual(
      findings.flatMap(({ violations }) => violations),
      [],
    );
  });
});
