import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { controls } from './controls.ts';
import { broken } from './mutate.ts';

const root = join(import.meta.dirname, '..', '..', '..');

describe('controls', () => {
  it('each find what they break, once', () => {
    for (const control of controls) {
      const source = readFileSync(join(root, control.file), 'utf8');
      assert.notEqual(broken(source, control), source, control.name);
    }
  });

  it('refuse a text that is not there, or is there twice', () => {
    const control = { name: 'x', file: 'x.ts', find: 'ab', replace: 'c', breaks: [], by: 'sim' };
    assert.equal(broken('1 ab 2', { ...control, by: 'sim' }), '1 c 2');
    assert.throws(() => broken('1 2', { ...control, by: 'sim' }), /0 times/);
    assert.throws(() => broken('ab ab', { ...control, by: 'sim' }), /2 times/);
  });

  it('have names of their own', () => {
    assert.equal(new Set(controls.map(({ name }) => name)).size, controls.length);
  });
});
