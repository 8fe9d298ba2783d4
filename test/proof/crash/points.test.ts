// Kills a process at a few points; `npm run proof` tries all of them.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { killAtStatements } from './points.ts';

describe('killAtStatements', () => {
  it('finds every acknowledged write after a kill, and the next process finishes the rest', async () => {
    const only = ['publish', 'settle', 'upgrade'] as const;
    const { figures, violations } = await killAtStatements({ only, pointsMax: 4 });
    assert.deepEqual(violations, []);
    assert.ok(Number(figures['total']) >= 8, JSON.stringify(figures));
  });
});
