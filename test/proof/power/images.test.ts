// Checks some disk images after power cuts; `npm run proof` checks thousands.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { cutPower, lazySync } from './images.ts';

describe('a power cut', () => {
  it('loses no acknowledged write', async (t) => {
    const { figures, violations, skipped } = await cutPower({ images: 60, rounds: 1 });
    if (skipped !== undefined) return t.skip(skipped);
    assert.deepEqual(violations, []);
    assert.ok(Number(figures['images']) >= 10, JSON.stringify(figures));
  });

  it('is detected to lose acknowledged writes if commits are not synced', async (t) => {
    const options = { images: 100, rounds: 1, changes: [lazySync], isControl: true };
    const { violations, skipped } = await cutPower(options);
    if (skipped !== undefined) return t.skip(skipped);
    assert.match(violations[0] ?? 'nothing', /I1: lost/);
  });
});
