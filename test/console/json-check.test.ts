// JSON validation while typing: agrees with JSON.parse, and points at the error.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../fast-check.ts';
import { checkJson, lineAndColumn } from '../../console/src/events/json-check.ts';

describe('checkJson', () => {
  it('agrees with JSON.parse about valid and invalid text', () => {
    const written = fc.jsonValue({ maxDepth: 5 }).map((value) => JSON.stringify(value, null, 1));
    const broken = fc
      .tuple(written, fc.nat(), fc.constantFrom('"', '{', ']', ',', '\\', '0', '-', 'e', '\n', ''))
      .map(([text, at, put]) => {
        const place = at % (text.length + 1);
        return text.slice(0, place) + put + text.slice(place + 1);
      });
    fc.assert(
      fc.property(fc.oneof(written, broken), (text) => {
        assert.equal(checkJson(text).kind === 'right', isJson(text), text);
      }),
    );
  });
  it('reports what was expected, and where', () => {
    const cases: [string, string, number][] = [
      ['', 'expected a value, found the end of the text', 0],
      ['{"a": 1,}', 'expected a property name in double quotes, found "}"', 8],
      ["{'a': 1}", 'expected a property name in double quotes, found "\'"', 1],
      ['{"a" 1}', 'expected ":", found "1"', 5],
      ['[1 2]', 'expected "," or "]", found "2"', 3],
      ['{"a": nul}', 'expected a value, found "n"', 6],
      ['{"a": 01}', 'expected a value, found "0"', 6],
      ['{"a": "b', 'the string has no closing quote', 6],
      ['"a\nb"', 'control character in a string: write a line break as \\n', 2],
      ['"\\x"', 'invalid escape sequence', 1],
      ['{} {}', 'unexpected text after the JSON value', 3],
      ['🙂', 'expected a value, found "🙂"', 0],
    ];
    for (const [text, message, at] of cases) {
      assert.deepEqual(checkJson(text), { kind: 'wrong', message, at }, text);
    }
  });
  it('finds the position of every value by its pointer', () => {
    const text = '{ "a/b": [1, {"~": "x"}] }';
    const check = checkJson(text);
    assert(check.kind === 'right');
    const shown = [...check.places].map(([pointer, { from, to }]) => [
      pointer,
      text.slice(from, to),
    ]);
    assert.deepEqual(Object.fromEntries(shown), {
      '': text,
      '/a~1b': '[1, {"~": "x"}]',
      '/a~1b/0': '1',
      '/a~1b/1': '{"~": "x"}',
      '/a~1b/1/~0': '"x"',
    });
  });
  it('refuses text that is too deep for the service', () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    assert.equal(checkJson(nested(63)).kind, 'right');
    assert.equal(checkJson(nested(64)).kind, 'wrong');
  });
});

describe('lineAndColumn', () => {
  it('counts from 1', () => {
    assert.deepEqual(lineAndColumn('ab\ncd', 0), { line: 1, column: 1 });
    assert.deepEqual(lineAndColumn('ab\ncd', 4), { line: 2, column: 2 });
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
