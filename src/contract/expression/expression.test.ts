import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { printPointer } from '../../core/base/pointer.ts';
import { parseExpression, printExpression } from './expression.ts';
import type { Expression } from './expression.ts';

function parse(text: string): Expression {
  const result = parseExpression(text);
  assert(result.kind === 'parsed', `${text} should parse`);
  return result.expression;
}

describe('parseExpression', () => {
  const forms: readonly [string, Expression][] = [
    ['$url', { kind: 'url' }],
    ['$method', { kind: 'method' }],
    ['$statusCode', { kind: 'statusCode' }],
    ['$request.path.id', { kind: 'path', from: 'request', name: 'id' }],
    ['$request.query.callbackUrl', { kind: 'query', from: 'request', name: 'callbackUrl' }],
    ['$request.header.x-url', { kind: 'header', from: 'request', name: 'x-url' }],
    ['$request.body', { kind: 'body', from: 'request', pointer: [] }],
    ['$request.body#/a/b', { kind: 'body', from: 'request', pointer: ['a', 'b'] }],
    ['$request.body#/urls/0', { kind: 'body', from: 'request', pointer: ['urls', '0'] }],
    ['$response.header.location', { kind: 'header', from: 'response', name: 'location' }],
    ['$response.body#/id', { kind: 'body', from: 'response', pointer: ['id'] }],
    ['$response.body', { kind: 'body', from: 'response', pointer: [] }],
  ];
  for (const [text, expression] of forms) {
    it(`reads ${text}`, () => {
      assert.deepEqual(parse(text), expression);
    });
  }

  it('reads $response.query and $response.path', () => {
    assert.deepEqual(parse('$response.query.a'), { kind: 'query', from: 'response', name: 'a' });
    assert.deepEqual(parse('$response.path.a'), { kind: 'path', from: 'response', name: 'a' });
  });

  it('never splits a name or token on dots', () => {
    assert.deepEqual(parse('$request.query.a.b.c'), {
      kind: 'query',
      from: 'request',
      name: 'a.b.c',
    });
    assert.deepEqual(parse('$request.path.body#/x'), {
      kind: 'path',
      from: 'request',
      name: 'body#/x',
    });
    assert.deepEqual(parse('$request.header.a.b'), {
      kind: 'header',
      from: 'request',
      name: 'a.b',
    });
    assert.deepEqual(parse('$request.body#/a.b'), {
      kind: 'body',
      from: 'request',
      pointer: ['a.b'],
    });
  });

  it('lowercases header names only', () => {
    assert.deepEqual(parse('$request.header.X-URL'), parse('$request.header.x-url'));
    assert.notDeepEqual(parse('$request.query.URL'), parse('$request.query.url'));
    assert.notDeepEqual(parse('$request.path.ID'), parse('$request.path.id'));
  });

  it('accepts every character of a header token, and an empty query name', () => {
    const token = "!#$%&'*+-.^_`|~09az";
    assert.deepEqual(parse(`$request.header.${token}`), {
      kind: 'header',
      from: 'request',
      name: token,
    });
    assert.deepEqual(parse('$request.query.'), { kind: 'query', from: 'request', name: '' });
  });

  it('decodes pointer escapes and nothing else', () => {
    const pointerOf = (text: string): readonly string[] => {
      const expression = parse(`$request.body#${text}`);
      return expression.kind === 'body' ? expression.pointer : [];
    };
    assert.deepEqual(pointerOf('/a~1b/m~0n'), ['a/b', 'm~n']);
    assert.deepEqual(pointerOf('/~01'), ['~1']);
    assert.deepEqual(pointerOf('/a%20b'), ['a%20b']);
    assert.deepEqual(pointerOf('/'), ['']);
    assert.deepEqual(pointerOf('//x/'), ['', 'x', '']);
    assert.deepEqual(pointerOf(''), []);
  });

  const start = '"$url", "$method", "$statusCode", "$request." or "$response."';
  const malformed: readonly [string, number, string][] = [
    ['', 0, start],
    ['request.body', 0, start],
    ['$Request.body', 0, start],
    ['$urls', 0, start],
    ['$statuscode', 0, start],
    ['$request', 0, start],
    ['$request.', 9, '"header.", "query.", "path." or "body"'],
    ['$request.cookie.a', 9, '"header.", "query.", "path." or "body"'],
    ['$response.Body', 10, '"header.", "query.", "path." or "body"'],
    ['$request.body/url', 13, '"#" or the end'],
    ['$request.body.url', 13, '"#" or the end'],
    ['$request.body#url', 14, '"/" or the end'],
    ['$request.body#/a~', 16, '"~0" or "~1"'],
    ['$request.body#/~0~2', 17, '"~0" or "~1"'],
    ['$request.header.', 16, 'a character of a header name'],
    ['$request.header.a b', 17, 'a character of a header name'],
    ['$request.header.é', 16, 'a character of a header name'],
    ['$request.query.a{b', 16, 'no brace inside an expression'],
    ['$request.body#/a}', 16, 'no brace inside an expression'],
  ];
  for (const [text, at, expected] of malformed) {
    it(`refuses ${JSON.stringify(text)} at ${at}`, () => {
      assert.deepEqual(parseExpression(text), { kind: 'malformed', at, expected });
    });
  }
});

describe('printExpression', () => {
  const texts = [
    '$url',
    '$method',
    '$statusCode',
    '$request.header.x-url',
    '$request.query.a.b',
    '$response.path.c',
    '$request.body',
    '$response.body#/a~1b/~0/0/',
  ];
  for (const text of texts) {
    it(`prints ${text} as it was read`, () => {
      assert.equal(printExpression(parse(text)), text);
    });
  }

  it('prints an empty pointer without the hash', () => {
    assert.equal(printExpression(parse('$request.body#')), '$request.body');
  });
});

describe('printPointer', () => {
  it('escapes tildes before slashes', () => {
    assert.equal(printPointer(['a/b', '~1', '']), '/a~1b/~01/');
  });
});
