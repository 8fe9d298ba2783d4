// A few of the points at which a process is killed; `npm run proof` takes all of them.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { killAtStatements } from './points.ts';

describe('a process that is killed at a write', () => {
  it('has kept what it promised, and what it left comes to its end', async () => {
    const only = ['publish', 'settle', 'upgrade'] as const;
    const { figures, violations } = await killAtStatements({ only, pointsMax: 4 });
    assert.deepEqual(violations, []);
    assert.ok(Number(figures['total']) >= 8, JSON.stringify(figures));
  });
});
