import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/fast-check.ts';
import { cutTo, facts, table, textWidth, type Column } from './table.ts';

interface Row {
  id: string;
  state: string;
  url: string;
}

const columns: Column<Row>[] = [
  { title: 'ID', show: ({ id }) => id },
  { title: 'STATE', show: ({ state }) => state, rank: 2 },
  { title: 'URL', show: ({ url }) => url, rank: 1, shrinksTo: 8 },
];
const rows: Row[] = [
  { id: 'dlv_1', state: 'dead', url: 'http://127.0.0.1:9000/a/long/one' },
  { id: 'dlv_22', state: 'delivered', url: 'http://x' },
];

describe('table', () => {
  it('aligns columns, without trailing blanks', () => {
    assert.equal(
      table(columns, rows, { width: Infinity }),
      'ID      STATE      URL\n' +
        'dlv_1   dead       http://127.0.0.1:9000/a/long/one\n' +
        'dlv_22  delivered  http://x\n',
    );
  });

  it('first shortens cells, then drops columns of the lowest rank, then cuts the first column', () => {
    const at = (width: number): string[] => table(columns, rows, { width }).split('\n');
    assert.deepEqual(at(30).slice(0, 2), [
      'ID      STATE      URL',
      'dlv_1   dead       http://127…',
    ]);
    assert.deepEqual(at(20).slice(0, 2), ['ID      STATE', 'dlv_1   dead']);
    assert.deepEqual(at(10).slice(0, 3), ['ID', 'dlv_1', 'dlv_22']);
    assert.deepEqual(at(4).slice(0, 3), ['ID', 'dlv…', 'dlv…']);
  });

  it('counts wide characters as two, and paints after cutting', () => {
    const wide: Column<string>[] = [
      { title: 'A', show: (text) => text, paint: (_, text) => `<${text}>` },
      { title: 'N', show: () => '7', isRight: true },
    ];
    assert.equal(
      table(wide, ['日本', 'ab', 'é'], { width: 20, paintTitle: (text) => `*${text}*` }),
      '*A*     *N*\n<日本>  <7>\n<ab>    <7>\n<é>     <7>\n'.replaceAll('<7>', '7'),
    );
  });

  it('never passes a control character, and is never wider than asked', () => {
    const signs = ['a', '/', '日', 'é', '\u0301', '\u001b', '\u0007', '\n', '\r', '\t'];
    const others = ['\u202e', '\u200d', '\u2028', '😀', '\ud800', '\udc00'];
    const unit = fc.constantFrom(...signs, ...others);
    const hostile = fc.string({ unit, maxLength: 30 });
    fc.assert(
      fc.property(hostile, hostile, fc.integer({ min: 1, max: 60 }), (id, url, width) => {
        const text = table(columns, [{ id, state: 'due', url }], { width });
        for (const line of text.split('\n')) {
          assert.doesNotMatch(line, /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
          assert.ok(textWidth(line) <= width, JSON.stringify(line));
        }
        assert.equal(text.split('\n').length, 3);
      }),
      { numRuns: 100 },
    );
  });
});

describe('facts', () => {
  it('aligns values, leaves out absent ones, and wraps long ones instead of cutting them', () => {
    assert.equal(
      facts(
        [
          ['id', 'sub_1'],
          ['filter', undefined],
          ['url', 'http://a.example/b'],
        ],
        { width: 15 },
      ),
      'id   sub_1\nurl  http://a.e\n     xample/b\n',
    );
  });

  it('shows control characters as text, except line breaks', () => {
    const text = facts([['body', 'a\u001b[31m\r\nb\u0007']], { width: Infinity });
    assert.equal(text, 'body  a\\u{1b}[31m\\u{d}\n      b\\u{7}\n');
  });
});

describe('cutTo', () => {
  it('never splits a character', () => {
    assert.equal(cutTo('日本語', 5), '日本…');
    assert.equal(cutTo('日本語', 4), '日…');
    assert.equal(cutTo('abc', 3), 'abc');
    assert.equal(cutTo('abc', 0), '');
  });
});
