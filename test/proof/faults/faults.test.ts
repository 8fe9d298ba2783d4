// Tries a few faults; `npm run proof` tries all of them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { faults } from './part.ts';

describe('faults around a node', () => {
  it('lose no accepted event, and the node recovers by itself', async (t) => {
    const say = (line: string): void => t.diagnostic(line);
    for (const { part, violations, skipped } of await faults.prove({
      scale: 'small',
      seed: 1,
      say,
    })) {
      if (skipped !== undefined) t.diagnostic(`${part} was skipped: ${skipped}`);
      assert.deepEqual(violations, [], part);
    }
  });
});
