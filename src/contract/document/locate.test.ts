import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { fc } from '../../../test/fast-check.ts';
import { dump, load } from 'js-yaml';
import { ContractError, readDocument } from './document.ts';
import { printPointer } from '../../core/base/pointer.ts';
import { explainError, locate, locateAll } from './locate.ts';

const folder = mkdtempSync(join(tmpdir(), 'ringback-locate-'));
after(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

/** `line:column`, and the rest of that line. */
function found(file: string, pointer: string): string {
  const position = locate(file, pointer);
  if (position === undefined) return 'nowhere';
  const { line, column } = position;
  const lines = readFileSync(file, 'utf8')
    .replace(/^\uFEFF/, '')
    .split(/\r\n|[\r\n]/);
  return `${line}:${column} ${Array.from(lines[line - 1] ?? '')
    .slice(column - 1)
    .join('')}`;
}

describe('locate in YAML', () => {
  const text = `# A comment: with a colon
openapi: 3.0.4
"quoted key": { 'flow': [a, {b: 1}, "c, d"], other : 2,
  wide: x }
'/x/{id}':
  get:
    description: |
      Text: with colons
        - and dashes
      get: no
    folded: >-
      one
      two
    parameters:
    - name: a   # not indented
      in: query
    -
      name: b
    - &three
      name: c
    - *three
    - name: plain
        goes on
      in: "double
        goes on"
base: &base
  shared: 1
  deep: { inner: 2 }
  list: [1, 2]
more: &more { extra: 1 }
merged:
  <<: [*base, *more]
  own: 3
  deep: *base
alias: *base
200: number
? explicit
: value
? lonely
empty:
null: nothing
tagged: !!str 5
"tab\\tkey": 1
emoji🙂: { 🙂: 1 }
lists:
- - a
  - b: 1
- []
- - - deep
set: {one, two: 2, three}
`;
  const cases: [string, string][] = [
    ['#', '1:1 # A comment: with a colon'],
    ['#/openapi', '2:1 openapi: 3.0.4'],
    ['#/quoted key', `3:1 "quoted key": { 'flow': [a, {b: 1}, "c, d"], other : 2,`],
    ['#/quoted key/flow', `3:17 'flow': [a, {b: 1}, "c, d"], other : 2,`],
    ['#/quoted key/flow/0', `3:26 a, {b: 1}, "c, d"], other : 2,`],
    ['#/quoted key/flow/1/b', `3:30 b: 1}, "c, d"], other : 2,`],
    ['#/quoted key/flow/2', `3:37 "c, d"], other : 2,`],
    ['#/quoted key/other', '3:46 other : 2,'],
    ['#/quoted key/wide', '4:3 wide: x }'],
    ['#/~1x~1{id}', "5:1 '/x/{id}':"],
    ['#/~1x~1{id}/get/description', '7:5 description: |'],
    ['#/~1x~1{id}/get/folded', '11:5 folded: >-'],
    ['#/~1x~1{id}/get/parameters/0/in', '16:7 in: query'],
    ['#/~1x~1{id}/get/parameters/1', '18:7 name: b'],
    ['#/~1x~1{id}/get/parameters/1/name', '18:7 name: b'],
    ['#/~1x~1{id}/get/parameters/2', '19:7 &three'],
    ['#/~1x~1{id}/get/parameters/2/name', '20:7 name: c'],
    ['#/~1x~1{id}/get/parameters/3', '21:7 *three'],
    ['#/~1x~1{id}/get/parameters/3/name', '20:7 name: c'],
    ['#/~1x~1{id}/get/parameters/4/in', '24:7 in: "double'],
    ['#/base/deep/inner', '28:11 inner: 2 }'],
    ['#/merged/own', '33:3 own: 3'],
    ['#/merged/shared', '27:3 shared: 1'],
    ['#/merged/extra', '30:15 extra: 1 }'],
    ['#/merged/list/1', '29:13 2]'],
    ['#/merged/deep', '34:3 deep: *base'],
    ['#/merged/deep/deep/inner', '28:11 inner: 2 }'],
    ['#/alias', '35:1 alias: *base'],
    ['#/alias/list/0', '29:10 1, 2]'],
    ['#/200', '36:1 200: number'],
    ['#/explicit', '37:3 explicit'],
    ['#/lonely', '39:3 lonely'],
    ['#/empty', '40:1 empty:'],
    ['#/null', '41:1 null: nothing'],
    ['#/tagged', '42:1 tagged: !!str 5'],
    ['#/tab\tkey', '43:1 "tab\\tkey": 1'],
    ['#/emoji🙂/🙂', '44:11 🙂: 1 }'],
    ['#/lists/0/1/b', '47:5 b: 1'],
    ['#/lists/2/0/0', '49:7 deep'],
    ['#/set/two', '50:12 two: 2, three}'],
    ['#/set/three', '50:20 three}'],
    ['#/openapi/gone/further', '2:1 openapi: 3.0.4'],
    ['#/gone', '1:1 # A comment: with a colon'],
    ['other.yaml#/base/shared', '27:3 shared: 1'],
  ];
  for (const [name, change] of Object.entries({
    'lf.yaml': (given: string): string => given,
    'crlf.yaml': (given: string): string => given.replaceAll('\n', '\r\n'),
    'bom.yml': (given: string): string => `\uFEFF${given}`,
  })) {
    it(`finds every place in ${name}`, () => {
      const file = write(name, change(text));
      for (const [pointer, expected] of cases) {
        // The root comes after anything before the document, so its column varies.
        if (pointer === '#' || pointer === '#/gone') continue;
        assert.equal(found(file, pointer), expected, pointer);
      }
    });
  }

  it('returns the start of the document for a missing place', () => {
    const file = write('lf.yaml', text);
    assert.deepEqual(locate(file, '#/gone'), { line: 2, column: 1 });
    assert.deepEqual(locate(file, '#'), { line: 2, column: 1 });
  });
});

describe('locate in JSON', () => {
  const text =
    '{\n\t"a": [ 1, {"b" : "}]\\"{"}, [] ],\r\n"é\\u0041":{"x":null},\n"twice": {"x": 1}, "twice": {"y": 2}\n}';
  const cases: [string, string][] = [
    ['#', '1:1 {'],
    ['#/a', '2:2 "a": [ 1, {"b" : "}]\\"{"}, [] ],'],
    ['#/a/0', '2:9 1, {"b" : "}]\\"{"}, [] ],'],
    ['#/a/1/b', '2:13 "b" : "}]\\"{"}, [] ],'],
    ['#/a/2', '2:29 [] ],'],
    ['#/a/7', '2:2 "a": [ 1, {"b" : "}]\\"{"}, [] ],'],
    ['#/éA/x', '3:12 "x":null},'],
    ['#/twice', '4:20 "twice": {"y": 2}'],
    ['#/twice/x', '4:20 "twice": {"y": 2}'],
    ['#/twice/y', '4:30 "y": 2}'],
  ];
  for (const name of ['a.json', 'bom.JSON']) {
    it(`finds every place in ${name}`, () => {
      const file = write(name, name === 'a.json' ? text : `\uFEFF${text}`);
      for (const [pointer, expected] of cases)
        assert.equal(found(file, pointer), expected, pointer);
    });
  }
});

describe('locateAll', () => {
  const documents = fc.dictionary(
    fc.string({
      unit: fc.constantFrom('a', 'B', '-', ' ', '/', '~', ':', '#', '1', '{', '"', "'"),
    }),
    fc.jsonValue({ maxDepth: 4 }),
  );

  function pointersOf(value: unknown, tokens: readonly string[] = []): string[][] {
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).flatMap(([key, inner]) => [
      [...tokens, key],
      ...pointersOf(inner, [...tokens, key]),
    ]);
  }

  /** The YAML printer does not quote every key that it should; then there is nothing to find. */
  function rootOf(file: string): unknown {
    try {
      return readDocument(file).root;
    } catch {
      return undefined;
    }
  }

  /** Every key of the document must be at its reported position. */
  function check(file: string, read: (text: string) => unknown): void {
    const pointers = pointersOf(rootOf(file));
    const positions = locateAll(
      file,
      pointers.map((tokens) => `#${printPointer(tokens)}`),
    );
    const lines = readFileSync(file, 'utf8').split('\n');
    for (const tokens of pointers) {
      const pointer = `#${printPointer(tokens)}`;
      const { line = 0, column = 0 } = positions.get(pointer) ?? {};
      const rest = Array.from(lines[line - 1] ?? '')
        .slice(column - 1)
        .join('');
      if (/^(?:0|[1-9]\d*)$/.test(tokens.at(-1) ?? '')) continue; // It may be a list item.
      assert.equal(read(rest), tokens.at(-1), `${pointer} at ${line}:${column} "${rest}"`);
    }
  }

  it('finds the keys of any JSON document', () => {
    fc.assert(
      fc.property(documents, fc.constantFrom(0, 2, '\t'), (value, indent) => {
        const file = write('any.json', JSON.stringify(value, undefined, indent));
        check(file, (rest) => JSON.parse(/^"(?:[^"\\]|\\.)*"/.exec(rest)?.[0] ?? '""'));
      }),
      { numRuns: 200 },
    );
  });

  it('finds the keys of any YAML document', () => {
    fc.assert(
      fc.property(
        documents,
        fc.constantFrom(-1, 0, 1, 2),
        fc.boolean(),
        (value, flowLevel, forceQuotes) => {
          const text = dump(value, { flowLevel, forceQuotes, lineWidth: -1 });
          fc.pre(readsAs(text, value));
          const file = write('any.yaml', text);
          check(file, (rest) => {
            const quoted = /^"(?:[^"\\]|\\.)*"/.exec(rest)?.[0];
            if (quoted !== undefined) return JSON.parse(quoted);
            const single = /^'((?:[^']|'')*)'/.exec(rest)?.[1];
            if (single !== undefined) return single.replaceAll("''", "'");
            return /^(?:\? )?(.*?)(?=: |:$|$)/.exec(rest)?.[1];
          });
        },
      ),
      { numRuns: 200 },
    );
  });

  it('returns nothing for a file that is missing, malformed or not a regular file', () => {
    for (const file of [
      '/gone.yaml',
      folder,
      write('broken.yaml', 'a: ['),
      write('empty.yaml', ''),
    ]) {
      assert.deepEqual(locateAll(file, ['#/a']), new Map(), file);
    }
  });
});

/** May be false: the printer leaves `a:,` unquoted, which is then parsed as a key. */
function readsAs(yaml: string, value: unknown): boolean {
  try {
    return isDeepStrictEqual(load(yaml), value);
  } catch {
    return false;
  }
}

describe('explainError', () => {
  function errorOf(file: string): ContractError {
    try {
      readDocument(file);
    } catch (error) {
      if (error instanceof ContractError) return error;
    }
    return assert.fail('expected a ContractError');
  }

  it('names the place of a syntax error', () => {
    const yaml = write('bad.yaml', 'a: 1\nb: 2\n c: 3\n');
    assert.ok(
      explainError(errorOf(yaml)).startsWith(`${yaml}:3:3: Cannot read`),
      explainError(errorOf(yaml)),
    );
    const json = write('bad.json', '{\n  "a": 1,\n  b\n}');
    assert.ok(explainError(errorOf(json)).startsWith(`${json}:3:3: Cannot read`));
  });

  it('names the place of a mistake in the content', () => {
    const file = write('wrong.yaml', 'paths:\n  /a:\n    get: 5\n');
    const pointer = '#/paths/~1a/get';
    assert.equal(
      explainError(new ContractError('Cannot do it', { file, pointer })),
      `${file}:3:5: Cannot do it`,
    );
  });

  it('returns the message alone when there is no place', () => {
    assert.match(explainError(errorOf('/gone.yaml')), /^Cannot open "\/gone.yaml"/);
  });
});
