import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/fast-check.ts';
import { OutOfSteps, parsePath, select } from './json-path.ts';

const root = {
  paths: {
    '/a': { get: { tags: ['x', 'y'], id: 'first' }, post: { id: 'second', on: true } },
    '/b': { get: { id: 'third', deep: { id: 4 } } },
  },
  list: [{ n: 1 }, { n: 2 }, { n: 'it\'s "so"' }],
};

function found(path: string, left = 1_000): string[] {
  const parsed = parsePath(path);
  assert(parsed.kind === 'path', `${path}: ${JSON.stringify(parsed)}`);
  return select(root, parsed.segments, { left }).map((place) => place.join(' '));
}

describe('select', () => {
  const cases: readonly [string, readonly string[]][] = [
    ['$', ['']],
    ['$.paths', ['paths']],
    ["$.paths['/a'].get", ['paths /a get']],
    ['$["paths"]["/b"].*', ['paths /b get']],
    ["$.paths['/a']['get', 'post'].id", ['paths /a get id', 'paths /a post id']],
    ['$.paths[*].get', ['paths /a get', 'paths /b get']],
    ['$.list[0]', ['list 0']],
    ['$.list[-1]', ['list 2']],
    ['$.list[5]', []],
    ['$.list[0, 0, 2].n', ['list 0 n', 'list 2 n']],
    ['$..id', ['paths /a get id', 'paths /a post id', 'paths /b get id', 'paths /b get deep id']],
    ['$.paths..[?@.id]', ['paths /a get', 'paths /a post', 'paths /b get', 'paths /b get deep']],
    ["$.paths.*[?@.id == 'second']", ['paths /a post']],
    ["$.paths.*[?(@.id != 'second')]", ['paths /a get', 'paths /b get']],
    ['$.paths.*[?@.on==true]', ['paths /a post']],
    ['$.list[? @.n == 2 ]', ['list 1']],
    [String.raw`$.list[?@.n == 'it\'s "so"']`, ['list 2']],
    ['$..deep[?@ == 4]', ['paths /b get deep id']],
    ['$.nothing.at.all', []],
    ['$.constructor', []],
    ['$.list.length', []],
  ];
  for (const [path, places] of cases) {
    it(`finds ${places.length} at ${path}`, () => assert.deepEqual(found(path), places));
  }

  it('stops when the steps run out', () => {
    assert.throws(() => found('$..*..*..*', 100), OutOfSteps);
  });
});

describe('parsePath', () => {
  const cases: readonly [string, number, RegExp][] = [
    ['paths', 0, /"\$" at its start/],
    ['', 0, /"\$"/],
    ['$paths', 1, /the end/],
    ['$.', 2, /a name or "\*"/],
    ['$.a-b', 3, /the end/],
    ['$[', 2, /a quoted name/],
    ['$[1:2]', 3, /slices are not supported/],
    ['$[1.5]', 2, /a quoted name/],
    ["$['a'", 5, /"\]" or ","/],
    ['$[?length(@.a) > 2]', 3, /functions/],
    ['$[?@.a && @.b]', 7, /slices|"\]"/],
    ['$[?@.a == ]', 10, /a string, a number/],
    ['$[?(@.a || @.b)]', 8, /"&&" and "\|\|" are not supported/],
    [String.raw`$['\x']`, 6, /escapes of JSON/],
  ];
  for (const [path, at, expected] of cases) {
    it(`refuses ${path}`, () => {
      const parsed = parsePath(path);
      assert(parsed.kind === 'malformed');
      assert.match(parsed.expected, expected);
      assert.equal(parsed.at, at);
    });
  }

  it('never throws, whatever the text', () => {
    const word = fc.constantFrom(
      '$',
      '.',
      '..',
      '[',
      ']',
      '?',
      '@',
      "'",
      '"',
      '\\',
      '*',
      'a',
      '1',
      '-',
      ' ',
      '==',
      '(',
      ')',
    );
    const text = fc.array(word, { maxLength: 20 }).map((words) => `$${words.join('')}`);
    fc.assert(fc.property(fc.oneof(text, fc.string()), (path) => void parsePath(path)));
  });
});
