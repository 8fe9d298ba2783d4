// Hidden characters are made visible, and all other text stays unchanged.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { piecesOf, visible } from '../../console/src/hidden-characters.ts';

describe('visible', () => {
  it('does not change ordinary text, including line breaks and other scripts', () => {
    for (const text of ['', 'a\n\tb', 'héllo wörld', 'مرحبا', 'می‌خواهم', '👩‍👩‍👧', '日本', '😀']) {
      assert.equal(visible(text), text);
    }
  });
  it('names characters that hide or reverse text', () => {
    assert.equal(visible('a\u202egnp.exe'), 'a⟨U+202E⟩gnp.exe');
    assert.equal(visible('\u0000\u0007\u001b[0m'), '⟨U+0000⟩⟨U+0007⟩⟨U+001B⟩[0m');
    assert.equal(visible('a\rb\u0085c'), 'a⟨U+000D⟩b⟨U+0085⟩c');
    assert.equal(
      visible('pay\u200bpal\u00ad\ufeff\u2028'),
      'pay⟨U+200B⟩pal⟨U+00AD⟩⟨U+FEFF⟩⟨U+2028⟩',
    );
    assert.equal(visible('\u{e0041}\ud800x'), '⟨U+E0041⟩⟨U+D800⟩x');
    assert.equal(visible('\u2066a\u2069'), '⟨U+2066⟩a⟨U+2069⟩');
  });
  it('names joiners that join nothing', () => {
    assert.equal(visible('ad\u200dmin'), 'ad⟨U+200D⟩min');
    assert.equal(visible('\u200c'), '⟨U+200C⟩');
  });
  it('preserves the whole text in its pieces', () => {
    const pieces = piecesOf('a\u200bb');
    assert.deepEqual(pieces, [
      { kind: 'text', text: 'a' },
      { kind: 'hidden', name: 'U+200B' },
      { kind: 'text', text: 'b' },
    ]);
  });
});
