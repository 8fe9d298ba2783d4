import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { operations } from '../../src/client/contract/operations.ts';
import { clientContract } from '../../tools/client-contract.ts';

const folder = join(import.meta.dirname, '..', '..', 'src', 'client');

describe('clientContract', () => {
  it('equals the files in src/client/contract/ (npm run docs updates them)', async () => {
    const made = await clientContract();
    const paths = globSync('**', { cwd: join(folder, 'contract') }).filter((path) => path !== '.');
    assert.deepEqual(paths.sort(), [...made.keys()].sort());
    for (const [path, text] of made) {
      assert.equal(readFileSync(join(folder, 'contract', path), 'utf8'), text, path);
    }
  });

  it('marks the requests that may be repeated', () => {
    const once = Object.entries(operations)
      .filter(([, { repeat }]) => repeat === 'once')
      .map(([id]) => id);
    assert.deepEqual(
      once,
      [
        'rotateSecret',
        'pingSubscription',
        'retryDelivery',
        'createKey',
        'rotateKey',
        'createApp',
        'createPortalLink',
      ],
      'a new operation needs an Idempotency-Key, unless it must not be repeated',
    );
  });
});

describe('src/client', () => {
  it('imports only its own files, so that it runs wherever fetch is available', () => {
    for (const path of globSync('**/*.ts', { cwd: folder })) {
      if (path.endsWith('.test.ts')) continue;
      const text = readFileSync(join(folder, path), 'utf8');
      for (const [, from = ''] of text.matchAll(/(?<!')\b(?:from|import)\s*\(?\s*'([^']+)'/g)) {
        const isOwn = path.startsWith('contract/') ? /^\.\.?\/[\w-]+\.ts$/ : /^\.\/[\w/-]+\.ts$/;
        assert.match(from, isOwn, `${path} imports ${from}`);
      }
      assert.doesNotMatch(text, /\b(?:process|Buffer|require)\b[.(]/, `${path} needs Node`);
    }
  });
});
