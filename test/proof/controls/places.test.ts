import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { entries } from '../entries.ts';
import { changeText } from './change-source.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const controls = entries.flatMap((entry) => entry.controls ?? []);

describe('controls', () => {
  it('each find the source text they replace exactly once', () => {
    for (const { name, changes } of controls) {
      for (const change of changes) {
        const source = readFileSync(join(root, change.file), 'utf8');
        assert.notEqual(changeText(source, change), source, name);
      }
    }
  });

  it('have unique names', () => {
    assert.equal(new Set(controls.map(({ name }) => name)).size, controls.length);
  });

  it('reject a text that occurs nowhere or twice', () => {
    const change = { file: 'x.ts', find: 'ab', replace: 'c' };
    assert.equal(changeText('1 ab 2', change), '1 c 2');
    assert.throws(() => changeText('1 2', change), /0 times/);
    assert.throws(() => changeText('ab ab', change), /2 times/);
  });
});
