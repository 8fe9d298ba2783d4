import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  evaluate,
  resolve,
  type Evaluated,
  type Resolved,
  type ExpressionInput,
  type Message,
} from './evaluate.ts';
import { parseExpression, type Expression } from './expression.ts';

function expressionOf(text: string): Expression {
  const result = parseExpression(text);
  assert(result.kind === 'parsed', `${text} should parse`);
  return result.expression;
}

function message(parts: Partial<Message> = {}): Message {
  return { header: new Map(), query: new Map(), path: new Map(), body: undefined, ...parts };
}

const body: unknown = JSON.parse(`{
  "callbackUrl": "https://h/cb", "count": 3, "on": true, "off": false, "nothing": null, "empty": "",
  "urls": ["https://a", "https://b", "https://c"], "none": [], "mixed": ["a", 1],
  "deep": { "x": [{ "y": "z" }] }, "a/b": "slash", "m~n": "tilde", "": "blank", "p.q": "dotted",
  "__proto__": "own"
}`);

const exchange: ExpressionInput = {
  url: 'https://api.example/subscribe?x=1',
  method: 'POST',
  statusCode: 201,
  request: message({
    header: new Map([['x-url', 'https://header/']]),
    query: new Map<string, unknown>([
      ['url', 'https://query/'],
      ['n', 7],
      ['list', ['a', 'b']],
      ['filter', { a: 1 }],
    ]),
    path: new Map<string, unknown>([['id', 'p1']]),
    body,
  }),
  response: message({
    header: new Map([['location', '/subscriptions/1']]),
    query: new Map([['q', 'never']]),
    path: new Map([['eventType', 'never']]),
    body: { subscriberId: 'sub_1' },
  }),
};

function run(text: string, on: ExpressionInput = exchange): Evaluated {
  return evaluate(expressionOf(text), on);
}

function reasonOf(result: Evaluated | Resolved): string {
  assert(result.kind === 'unresolved', `expected unresolved, got ${result.kind}`);
  return result.reason;
}

describe('evaluate', () => {
  const forms: readonly [string, string][] = [
    ['$url', 'https://api.example/subscribe?x=1'],
    ['$method', 'POST'],
    ['$statusCode', '201'],
    ['$request.path.id', 'p1'],
    ['$request.query.url', 'https://query/'],
    ['$request.header.X-Url', 'https://header/'],
    ['$request.body#/callbackUrl', 'https://h/cb'],
    ['$request.body#/deep/x/0/y', 'z'],
    ['$request.body#/a~1b', 'slash'],
    ['$request.body#/m~0n', 'tilde'],
    ['$request.body#/', 'blank'],
    ['$request.body#/p.q', 'dotted'],
    ['$request.body#/empty', ''],
    ['$response.header.location', '/subscriptions/1'],
    ['$response.body#/subscriberId', 'sub_1'],
  ];
  for (const [text, value] of forms) {
    it(`returns the value of ${text}`, () => {
      assert.deepEqual(run(text), { kind: 'value', text: value });
    });
  }

  it('returns the whole body when it is text', () => {
    const request = message({ body: 'https://h/' });
    assert.deepEqual(run('$request.body', { ...exchange, request }), {
      kind: 'value',
      text: 'https://h/',
    });
  });

  it('counts array elements from 0; "-" and leading zeros resolve to nothing', () => {
    assert.deepEqual(run('$request.body#/urls/2'), { kind: 'value', text: 'https://c' });
    for (const index of ['3', '-', '00', '01', '-1', '1.0', '1e0', ' 1', 'length', '']) {
      const reason = reasonOf(run(`$request.body#/urls/${index}`));
      assert.equal(reason, `the request body has nothing at "/urls/${index}"`);
    }
  });

  it('converts numbers and booleans to strings', () => {
    assert.deepEqual(run('$request.body#/count'), { kind: 'value', text: '3' });
    assert.deepEqual(run('$request.body#/on'), { kind: 'value', text: 'true' });
    assert.deepEqual(run('$request.body#/off'), { kind: 'value', text: 'false' });
    assert.deepEqual(run('$request.query.n'), { kind: 'value', text: '7' });
  });

  it('returns an array of strings as several values', () => {
    assert.deepEqual(run('$request.body#/urls'), {
      kind: 'values',
      texts: ['https://a', 'https://b', 'https://c'],
    });
    assert.deepEqual(run('$request.query.list'), { kind: 'values', texts: ['a', 'b'] });
  });

  it('leaves null, objects and other arrays unresolved', () => {
    const expected = 'expected a string, a number, a boolean or a list of strings';
    const cases: readonly [string, string][] = [
      ['$request.body#/nothing', 'null'],
      ['$request.body#/deep', 'an object'],
      ['$request.body', 'an object'],
      ['$request.query.filter', 'an object'],
      ['$request.body#/none', 'an empty list'],
      ['$request.body#/mixed', 'a list with items that are not strings'],
    ];
    for (const [text, what] of cases) {
      assert.equal(reasonOf(run(text)), `${text} is ${what}, ${expected}`);
    }
  });

  it('names the missing part', () => {
    const cases: readonly [string, string][] = [
      ['$request.body#/callback', 'the request body has nothing at "/callback"'],
      ['$request.body#/callbackUrl/0', 'the request body has nothing at "/callbackUrl/0"'],
      ['$request.body#/nothing/x', 'the request body has nothing at "/nothing/x"'],
      ['$response.body#/id', 'the response body has nothing at "/id"'],
      ['$request.query.URL', 'the request has no query parameter "URL"'],
      ['$request.path.other', 'the request has no path parameter "other"'],
      ['$request.header.x-other', 'the request has no header "x-other"'],
    ];
    for (const [text, reason] of cases) assert.equal(reasonOf(run(text)), reason);
  });

  it('names a missing body, answer or status code', () => {
    const bare: ExpressionInput = { url: 'https://h/', method: 'POST', request: message() };
    assert.equal(reasonOf(run('$request.body#/a', bare)), 'the request has no body');
    assert.equal(reasonOf(run('$response.body#/a', bare)), 'there is no response yet');
    assert.equal(reasonOf(run('$response.header.a', bare)), 'there is no response yet');
    assert.equal(reasonOf(run('$statusCode', bare)), 'there is no status code yet');
  });

  it('suggests the pointer that a dotted one may mean (repairs)', () => {
    assert.equal(
      reasonOf(run('$request.body#/deep.x/0/y')),
      'the request body has nothing at "/deep.x/0/y", but it has "/deep/x/0/y"',
    );
    assert.equal(
      reasonOf(run('$request.body#/deep.q')),
      'the request body has nothing at "/deep.q"',
    );
  });

  it('leaves $request.path.eventType to the delivery, unless the path has such a parameter', () => {
    assert.deepEqual(run('$request.path.eventType'), { kind: 'event' });
    const request = message({ path: new Map([['eventType', 'mine']]) });
    assert.deepEqual(run('$request.path.eventType', { ...exchange, request }), {
      kind: 'value',
      text: 'mine',
    });
    assert.equal(run('$request.query.eventType').kind, 'unresolved');
  });

  it('never resolves $response.query and $response.path', () => {
    assert.equal(reasonOf(run('$response.query.q')), 'a response has no query parameters');
    assert.equal(reasonOf(run('$response.path.eventType')), 'a response has no path parameters');
  });

  it('does not see parameters or headers that the caller left out as undeclared', () => {
    const request = message({ header: new Map([['accept', 'text/plain']]) });
    const on = { ...exchange, request };
    assert.deepEqual(run('$request.header.Accept', on), { kind: 'value', text: 'text/plain' });
    assert.equal(run('$request.query.url', on).kind, 'unresolved');
  });

  it('resolves pointers into a decoded form as into JSON', () => {
    const form: unknown = Object.assign(Object.create(null), { url: 'https://form/' });
    const on = { ...exchange, request: message({ body: form }) };
    assert.deepEqual(run('$request.body#/url', on), { kind: 'value', text: 'https://form/' });
    assert.equal(run('$request.body#/toString', on).kind, 'unresolved');
  });

  it('sees own properties only', () => {
    const inherited = [
      '/constructor',
      '/constructor/name',
      '/toString',
      '/hasOwnProperty',
      '/deep/__proto__',
      '/deep/__proto__/constructor/name',
      '/urls/constructor',
      '/urls/__proto__',
      '/urls/length',
      '/callbackUrl/length',
      '/callbackUrl/0',
      '/count/constructor/name',
    ];
    for (const pointer of inherited) {
      const reason = reasonOf(run(`$request.body#${pointer}`));
      assert.equal(reason, `the request body has nothing at "${pointer}"`);
    }
    assert.deepEqual(run('$request.body#/__proto__'), { kind: 'value', text: 'own' });
  });
});

describe('resolve', () => {
  it('returns any JSON value unchanged, for links', () => {
    const values: readonly [string, unknown][] = [
      ['$request.body', body],
      ['$request.body#/deep/x', [{ y: 'z' }]],
      ['$request.body#/nothing', null],
      ['$request.body#/count', 3],
      ['$statusCode', 201],
      ['$response.body#/subscriberId', 'sub_1'],
    ];
    for (const [text, value] of values) {
      assert.deepEqual(resolve(expressionOf(text), exchange), { kind: 'found', value });
    }
  });

  it('reports that there is none', () => {
    const result = resolve(expressionOf('$response.body#/id'), exchange);
    assert.equal(reasonOf(result), 'the response body has nothing at "/id"');
  });
});
