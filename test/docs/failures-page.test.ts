import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { failuresPage } from '../../tools/failures-page.ts';

describe('failuresPage', () => {
  it('equals docs/failures.md (npm run docs updates it)', () => {
    const page = readFileSync(new URL('../../docs/failures.md', import.meta.url), 'utf8');
    assert.equal(page, failuresPage());
  });
});
