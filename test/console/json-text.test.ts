// Formatted JSON: the same tokens with different white space, whatever the values are.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../fast-check.ts';
import { indented, jsonPieces, memberText } from '../../console/src/json-text.ts';

const whole = { isCut: false };

describe('indented', () => {
  it('keeps numbers as they were written', () => {
    const text = '{"id":123456789012345678901234567890,"x":1.10,"e":1E400}';
    const expected = '{\n  "id": 123456789012345678901234567890,\n  "x": 1.10,\n  "e": 1E400\n}';
    assert.equal(indented(text, whole), expected);
  });
  it('equals the output of JSON.stringify for values that JavaScript can represent', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const text = JSON.stringify(value);
        assert.equal(indented(text, whole), JSON.stringify(value, undefined, 2));
      }),
    );
  });
  it('is undefined for text that is not JSON', () => {
    for (const text of ['', '<html>', '{"a":', '{a:1}', 'null null']) {
      assert.equal(indented(text, whole), undefined);
    }
  });
  it('accepts JSON that was truncated anywhere, and loses nothing of it', () => {
    const text = '{"a":[1,{"b":"c\\"d"},true],"e":"f"}';
    for (let end = 1; end < text.length; end += 1) {
      const cut = indented(text.slice(0, end), { isCut: true });
      assert.equal(cut?.replaceAll(/\s/gu, ''), text.slice(0, end));
    }
    assert.equal(indented('<html', { isCut: true }), undefined);
  });
});

describe('memberText', () => {
  it('finds a member of the object itself, as it was written', () => {
    const text =
      '{"x":{"payload":1},"s":"\\"payload\\":","payload": {"id": 12345678901234567890} }';
    assert.equal(memberText(text, 'payload'), '{"id": 12345678901234567890}');
    assert.equal(memberText('{"payload":null,"z":1}', 'payload'), 'null');
    assert.equal(memberText('{"a":1}', 'payload'), undefined);
  });
});

describe('jsonPieces', () => {
  it('distinguishes keys, strings, numbers and words, and preserves the text', () => {
    const text = '{"a": "b", "c": [-1.5, true, null]}';
    const pieces = jsonPieces(text);
    assert.equal(pieces.map((piece) => piece.text).join(''), text);
    const kinds = pieces.filter((piece) => piece.kind !== 'plain');
    assert.deepEqual(
      kinds.map((piece) => piece.kind),
      ['key', 'string', 'key', 'number', 'word', 'word'],
    );
  });
});
