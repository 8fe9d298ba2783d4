import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/fast-check.ts';
import { filled, harmless, harmlessLines, wrap } from './text.ts';

describe('harmless', () => {
  it('escapes what a terminal would interpret or hide, and leaves the rest', () => {
    assert.equal(
      harmless('a\u001b[2J\u009b\u202e\u200b\r\n'),
      'a\\u{1b}[2J\\u{9b}\\u{202e}\\u{200b}\\u{d}\\u{a}',
    );
    assert.equal(harmless('Grüße ✓ 日本 😀'), 'Grüße ✓ 日本 😀');
    assert.equal(harmlessLines('a\tb\r\nc\u0007'), 'a\tb\nc\\u{7}');
  });

  it('passes no control character, whatever the text', () => {
    const text = fc.array(fc.nat({ max: 0x2070 })).map((codes) => String.fromCharCode(...codes));
    const property = fc.property(text, (one) => {
      assert.doesNotMatch(harmless(one), /[\p{Cc}\p{Cf}\p{Cs}]/u);
      assert.doesNotMatch(harmlessLines(one).replaceAll(/[\n\t]/g, ''), /[\p{Cc}\p{Cf}\p{Cs}]/u);
    });
    fc.assert(property);
  });
});

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
