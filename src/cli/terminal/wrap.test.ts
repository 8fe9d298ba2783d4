import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { filled, wrap } from './wrap.ts';

describe('wrap', () => {
  it('breaks at spaces, keeps the indent, and leaves long words whole', () => {
    assert.deepEqual(wrap('one two three', 7), ['one two', 'three']);
    assert.deepEqual(wrap('  one two three', 9), ['  one two', '  three']);
    assert.deepEqual(wrap('a incomprehensibilities b', 5), ['a', 'incomprehensibilities', 'b']);
    assert.deepEqual(wrap('', 5), ['']);
    assert.deepEqual(wrap('as long as it likes', Infinity), ['as long as it likes']);
  });
});

describe('filled', () => {
  it('wraps each line separately, and nothing if the width is unlimited', () => {
    const text = `${'word '.repeat(12)}end\nnext\n`;
    assert.equal(filled(text, Infinity), text);
    const lines = filled(text, 60).split('\n');
    assert.deepEqual(lines.slice(2), ['next', '']);
    assert.ok(lines.every((line) => line.length <= 60));
    assert.ok(filled('word '.repeat(60), 5_000).split('\n').length > 2);
  });
});
