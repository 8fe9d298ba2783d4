import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { encryptionKeyBytes, keyFileIn, readOrMakeKeyFile } from './key-file.ts';

const world = { randomBytes: (count: number) => new Uint8Array(count).fill(7) };

describe('readOrMakeKeyFile', () => {
  it('creates a key once, readable by its owner only, and leaves no other file behind', (t) => {
    const dataDir = join(newFolder(t), 'a', 'b');
    const made = readOrMakeKeyFile(dataDir, world);
    assert.deepEqual([made.isNew, made.key.length], [true, encryptionKeyBytes]);
    assert.deepEqual(readdirSync(dataDir), ['encryption.key']);
    assert.equal(statSync(made.path).mode & 0o777, 0o600);
    const again = readOrMakeKeyFile(dataDir, { randomBytes: () => assert.fail('a second key') });
    assert.deepEqual([again.isNew, Buffer.from(again.key)], [false, made.key]);
  });

  it('ignores the leftover of a crash before the key was used', (t) => {
    const dataDir = newFolder(t);
    writeFileSync(`${keyFileIn(dataDir)}.new`, 'BwcH');
    assert.equal(readOrMakeKeyFile(dataDir, world).key.length, encryptionKeyBytes);
    assert.deepEqual(readdirSync(dataDir), ['encryption.key']);
  });
});

function newFolder(t: { after: (body: () => void) => void }): string {
  const folder = mkdtempSync(join(tmpdir(), 'ringback-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}
