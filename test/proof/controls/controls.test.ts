import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { changeText } from './change-source.ts';
import { controls } from './controls.ts';

const root = join(import.meta.dirname, '..', '..', '..');

describe('controls', () => {
  it('each find what they break, once', () => {
    for (const control of controls) {
      const source = readFileSync(join(root, control.file), 'utf8');
      assert.notEqual(changeText(source, control), source, control.name);
    }
  });

  it('refuse a text that is not there, or is there twice', () => {
    const change = { file: 'x.ts', find: 'ab', replace: 'c' };
    assert.equal(changeText('1 ab 2', change), '1 c 2');
    assert.throws(() => changeText('1 2', change), /0 times/);
    assert.throws(() => changeText('ab ab', change), /2 times/);
  });

  it('have names of their own', () => {
    assert.equal(new Set(controls.map(({ name }) => name)).size, controls.length);
  });
});
