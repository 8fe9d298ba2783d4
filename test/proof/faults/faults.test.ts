// A few of the faults of the world; `npm run proof` takes all of them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { faults } from './part.ts';

describe('a node whose world fails', () => {
  it('loses nothing, accepts nothing in vain, and goes on by itself', async (t) => {
    const say = (line: string): void => t.diagnostic(line);
    for (const { part, violations, skipped } of await faults.prove({
      scale: 'small',
      seed: 1,
      say,
    })) {
      if (skipped !== undefined) t.diagnostic(`${part} was not tried: ${skipped}`);
      assert.deepEqual(violations, [], part);
    }
  });
});
