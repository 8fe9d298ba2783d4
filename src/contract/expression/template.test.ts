import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { expressionsOf, parseTemplate, printTemplate } from './template.ts';
import type { Part, Template } from './template.ts';

function parse(text: string): Template {
  const result = parseTemplate(text);
  assert(result.kind === 'parsed', `${text} should parse`);
  return result.template;
}

function query(name: string): Part {
  return { kind: 'expression', expression: { kind: 'query', from: 'request', name } };
}

function plain(content: string): Part {
  return { kind: 'text', text: content };
}

describe('parseTemplate', () => {
  it('parses one expression with and without braces alike', () => {
    assert.deepEqual(parse('{$request.query.url}'), [query('url')]);
    assert.deepEqual(parse('$request.query.url'), [query('url')]);
  });

  it('parses expressions within static text', () => {
    assert.deepEqual(parse('{$request.query.url}?event={$request.query.event}'), [
      query('url'),
      plain('?event='),
      query('event'),
    ]);
    assert.deepEqual(parse('https://h/{$request.query.a}{$request.query.b}/c'), [
      plain('https://h/'),
      query('a'),
      query('b'),
      plain('/c'),
    ]);
  });

  it('treats text outside braces literally', () => {
    assert.deepEqual(parse('https://h/$url'), [plain('https://h/$url')]);
    assert.deepEqual(parse('$request.cookie.a'), [plain('$request.cookie.a')]);
    assert.deepEqual(parse('a}b'), [plain('a}b')]);
    assert.deepEqual(parse(''), []);
  });

  it('closes an expression at the first brace', () => {
    assert.deepEqual(parse('{$request.query.a}}'), [query('a'), plain('}')]);
  });

  it('treats the slash of a bare query name as part of the name', () => {
    assert.deepEqual(parse('$request.query.url/data'), [query('url/data')]);
  });

  it('reports where a template is malformed', () => {
    const cases: readonly [string, number][] = [
      ['{$request.query.a', 17],
      ['x{', 2],
      ['x{}', 2],
      ['{name}', 1],
      ['ab{$request.body#x}', 17],
      ['{$request.query.a{b}', 17],
      ['{{$url}}', 1],
    ];
    for (const [malformed, at] of cases) {
      const result = parseTemplate(malformed);
      assert.equal(result.kind, 'malformed', malformed);
      assert(result.kind === 'malformed');
      assert.equal(result.at, at, malformed);
      assert.notEqual(result.expected, '');
    }
  });
});

describe('expressionsOf', () => {
  it('lists the expressions in order, including repeated ones', () => {
    const template = parse('{$url}/{$request.query.a}/b/{$url}');
    assert.deepEqual(expressionsOf(template), [
      { kind: 'url' },
      { kind: 'query', from: 'request', name: 'a' },
      { kind: 'url' },
    ]);
    assert.deepEqual(expressionsOf(parse('https://h/')), []);
  });
});

describe('printTemplate', () => {
  it('prints text that parses to the same template, always with braces', () => {
    assert.equal(printTemplate(parse('$request.body#/url')), '{$request.body#/url}');
    const mixed = '{$request.body#/url}/x?y={$request.header.z}';
    assert.equal(printTemplate(parse(mixed)), mixed);
  });
});
