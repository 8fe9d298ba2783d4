// Runs a few hostile receivers a few times; `npm run proof` runs all of them thousands of times.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { receivers } from './part.ts';

describe('hostile receivers', () => {
  it('lead to the outcomes in the catalogue, through the whole service', async () => {
    const found = await receivers.prove({ scale: 'small', seed: 1, say: () => undefined });
    assert.deepEqual(
      found.flatMap(({ violations }) => violations),
      [],
    );
    const [endless, others] = found.map(({ figures }) => Number(figures['attempts']));
    assert.ok(endless === 8 && others === 64, JSON.stringify(found));
  });
});
