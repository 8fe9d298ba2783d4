import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { cliPage } from '../../tools/cli-page.ts';

describe('docs/cli.md', () => {
  it('is generated from the commands (npm run docs)', () => {
    const file = join(import.meta.dirname, '..', '..', 'docs', 'cli.md');
    assert.equal(readFileSync(file, 'utf8'), cliPage());
  });
});
