import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { settingsPage } from '../../tools/settings-page.ts';

describe('settingsPage', () => {
  it('equals docs/settings.md (npm run docs updates it)', () => {
    const page = readFileSync(new URL('../../docs/settings.md', import.meta.url), 'utf8');
    assert.equal(page, settingsPage());
  });
});
