import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/fast-check.ts';
import { load } from 'js-yaml';
import { limits } from '../../core/limits/limits.ts';
import { bounds } from '../document/bounds.ts';
import { compileContract } from '../compile/compile.ts';
import type { Operation } from '../model/contract.ts';
import { readRequest } from './request.ts';
import type { RawRequest, Reading } from './request.ts';

/** An operation `POST /x/{p}` with these properties. */
function operation(yaml: string, openapi = '3.0.4'): Operation {
  const post = Object.assign({ operationId: 'op' }, load(yaml));
  const root = { openapi, info: { title: 'T' }, paths: { '/x/{p}': { post } } };
  const [made] = compileContract({ path: 'api.yaml', root }).operations;
  assert.ok(made);
  return made;
}

interface Given {
  query?: string;
  path?: string;
  header?: Record<string, string>;
  cookie?: Record<string, string>;
  body?: unknown;
  mediaType?: string;
}

function raw({ query = '', path = '', header = {}, cookie = {}, ...given }: Given): RawRequest {
  return {
    path: new Map(path === '' ? [] : [['p', path]]),
    query: [...new URLSearchParams(query)],
    header: new Map(Object.entries(header)),
    cookie: new Map(Object.entries(cookie)),
    body: Object.hasOwn(given, 'body')
      ? { mediaType: given.mediaType ?? 'application/json', value: given.body }
      : undefined,
  };
}

function read(made: Operation, given: Given): Reading {
  return readRequest(made, raw(given));
}

/** The value of parameter `a`, or the faults. */
function value(parameter: string, given: Given): unknown {
  const reading = read(operation(`parameters: [{ name: a, in: query, ${parameter} }]`), given);
  if (reading.kind === 'invalid') return reading.faults.map((one) => `${one.field} ${one.message}`);
  assert.ok(reading.kind === 'valid');
  return reading.message.query.get('a');
}

/** The value of path parameter `p`, or the faults. */
function pathValue(parameter: string, path: string): unknown {
  const reading = read(operation(`parameters: [{ name: p, in: path, ${parameter} }]`), { path });
  if (reading.kind === 'invalid') return reading.faults.map((one) => `${one.field} ${one.message}`);
  assert.ok(reading.kind === 'valid');
  return reading.message.path.get('p');
}

function bodyFaults(made: Operation, given: Given): string[] {
  const reading = read(made, given);
  return reading.kind === 'invalid'
    ? reading.faults.map(({ field, message }) => `${field} ${message}`)
    : [reading.kind];
}

describe('readRequest: the step limit', () => {
  const patterns = Array.from({ length: 100 }, () => ({ pattern: '^[a-z]*$' }));
  const schema = JSON.stringify({ type: 'string', allOf: patterns });
  const made = operation(`
parameters: [{ name: a, in: query, schema: ${schema} }, { name: b, in: query, schema: ${schema} }]
requestBody: { content: { application/json: { schema: ${schema} } } }`);
  /** Checking it takes 40 % of the steps. */
  const text = 'a'.repeat((bounds.requestStepsMax * 0.4) / patterns.length);
  const tooMuch = `cannot be validated: the checks of this request take more than ${bounds.requestStepsMax} steps`;

  it('is shared by all parameters and the body', () => {
    assert.deepEqual(bodyFaults(made, { query: `a=${text}&b=${text}` }), ['valid']);
    assert.deepEqual(bodyFaults(made, { query: `a=${text}`, body: text }), ['valid']);
    assert.deepEqual(bodyFaults(made, { query: `a=${text}&b=${text}`, body: text }), [
      `body ${tooMuch}`,
    ]);
    assert.deepEqual(bodyFaults(made, { query: `a=${text}&b=${text.repeat(2)}` }), [
      `query.b ${tooMuch}`,
    ]);
  });

  it('is that of each request', () => {
    for (let n = 0; n < 4; n += 1) {
      assert.deepEqual(bodyFaults(made, { query: `a=${text}&b=${text}` }), ['valid']);
    }
  });
});

describe('readRequest: query parameters', () => {
  it('converts text to the type in the schema', () => {
    assert.equal(value('schema: { type: string }', { query: 'a=5' }), '5');
    assert.equal(value('schema: { type: integer }', { query: 'a=5' }), 5);
    assert.equal(value('schema: { type: number }', { query: 'a=-1.5e3' }), -1500);
    assert.equal(value('schema: { type: boolean }', { query: 'a=false' }), false);
    assert.equal(value('schema: { type: integer, nullable: true }', { query: 'a=' }), null);
    assert.equal(
      value('schema: { oneOf: [{ type: integer }, { type: string }] }', { query: 'a=5' }),
      '5',
    );
    assert.equal(value('schema: { enum: [1, 2] }', { query: 'a=2' }), 2);
    assert.equal(value('schema: {}', { query: 'a=5' }), '5');
    assert.equal(value('required: false', { query: 'a=5' }), '5');
  });

  it('explains which text cannot be converted', () => {
    for (const [type, text, expected] of [
      ['integer', 'five', 'must be an integer, is "five"'],
      ['integer', '', 'must be an integer, is ""'],
      ['integer', '0x10', 'must be an integer, is "0x10"'],
      ['integer', '9007199254740993', 'must be an integer, is "9007199254740993"'],
      ['integer', '1.5', 'must be an integer, is 1.5'],
      ['number', '1e999', 'must be a number, is "1e999"'],
      ['number', 'NaN', 'must be a number, is "NaN"'],
      ['boolean', 'yes', 'must be a boolean, is "yes"'],
    ]) {
      assert.deepEqual(value(`schema: { type: ${type} }`, { query: `a=${text}` }), [
        `query.a ${expected}`,
      ]);
    }
  });

  it('checks the value against its schema', () => {
    const limit = 'schema: { type: integer, minimum: 1, maximum: 500, default: 50 }';
    assert.deepEqual(value(limit, { query: 'a=0' }), ['query.a must be at least 1, is 0']);
    assert.equal(value(limit, {}), 50);
  });

  it('requires required parameters, and treats an empty text as the schema does', () => {
    const required = 'required: true, schema: { type: string }';
    assert.deepEqual(value(required, {}), ['query.a is required']);
    assert.equal(value(required, { query: 'a=' }), '');
    assert.deepEqual(value('schema: { type: string, minLength: 1 }', { query: 'a' }), [
      'query.a must have at least 1 character, has 0',
    ]);
    assert.equal(value('schema: { type: string }', {}), undefined);
    const flag = 'allowEmptyValue: true, schema: { type: boolean, default: true }';
    assert.equal(value(flag, { query: 'a' }), true);
    assert.equal(value(flag, { query: 'a=false' }), false);
  });

  it('refuses a repeated scalar', () => {
    assert.deepEqual(value('schema: { type: string }', { query: 'a=1&a=1' }), [
      'query.a is given 2 times, expected once',
    ]);
  });

  it('reads lists in every style', () => {
    const list = 'schema: { type: array, items: { type: integer } }';
    assert.deepEqual(value(list, { query: 'a=1&a=2' }), [1, 2]);
    assert.deepEqual(value(list, { query: 'a=1' }), [1]);
    assert.deepEqual(value(list, { query: 'a=' }), []);
    assert.deepEqual(value(`explode: false, ${list}`, { query: 'a=1,2' }), [1, 2]);
    assert.deepEqual(value(`explode: false, ${list}`, { query: 'a=' }), []);
    assert.deepEqual(value(`style: spaceDelimited, ${list}`, { query: 'a=1+2' }), [1, 2]);
    assert.deepEqual(value(`style: pipeDelimited, ${list}`, { query: 'a=1|2' }), [1, 2]);
    assert.deepEqual(
      value(`style: pipeDelimited, explode: true, ${list}`, { query: 'a=1&a=2' }),
      [1, 2],
    );
    assert.deepEqual(value(`explode: false, ${list}`, { query: 'a=1&a=2' }), [
      'query.a is given 2 times, expected once',
    ]);
    assert.deepEqual(value(list, { query: 'a=1&a=x' }), ['query.a/1 must be an integer, is "x"']);
    assert.deepEqual(value('schema: { type: array, maxItems: 1 }', { query: 'a=1&a=2' }), [
      'query.a must have at most 1 item, has 2',
    ]);
  });

  it('reads objects in every style', () => {
    const object =
      'schema: { type: object, properties: { R: { type: integer }, t: { type: array, items: { type: string } } } }';
    assert.deepEqual(value(object, { query: 'R=100&G=2' }), { R: 100 });
    assert.equal(value(object, { query: 'G=2' }), undefined);
    assert.deepEqual(value(`explode: false, ${object}`, { query: 'a=R,100,G,2' }), {
      R: 100,
      G: '2',
    });
    assert.deepEqual(value(`style: deepObject, ${object}`, { query: 'a[R]=100&a[t]=x&a[t]=y' }), {
      R: 100,
      t: ['x', 'y'],
    });
    assert.deepEqual(
      value(`style: deepObject, ${object}`, { query: 'a[t][]=x&a[b][c]=y&a=z&ab[c]=1' }),
      {
        t: ['x'],
        b: { c: 'y' },
      },
    );
    assert.equal(value(`style: deepObject, ${object}`, { query: 'a[x]y=1&b[R]=1' }), undefined);
    assert.deepEqual(value(`style: deepObject, ${object}`, { query: 'a[R]=x&a[G]=1&a[G]=2' }), [
      'query.a/R must be an integer, is "x"',
      'query.a/G is given 2 times, expected once',
    ]);
  });

  it('bounds deep objects and never touches a prototype', () => {
    const deep = 'style: deepObject, schema: { type: object }';
    assert.equal(value(deep, { query: 'a[1][2][3][4][5][6]=x' }), undefined);
    assert.equal(value(deep, { query: 'a[__proto__][x]=1' }), undefined);
    assert.deepEqual(value(deep, { query: 'a[constructor][prototype][x]=1' }), {
      constructor: { prototype: { x: '1' } },
    });
    assert.equal(Object.hasOwn(Object.prototype, 'x'), false);
  });

  it('reads a parameter that is JSON', () => {
    const json = 'content: { application/json: { schema: { type: object, required: [x] } } }';
    assert.deepEqual(value(json, { query: 'a={"x":[1]}' }), { x: [1] });
    assert.deepEqual(value(json, { query: 'a={}' }), ['query.a/x is required']);
    assert.match(String(value(json, { query: 'a={' })), /^query\.a is not valid JSON/);
    const deep = '['.repeat(100) + ']'.repeat(100);
    assert.match(String(value(json, { query: `a=${deep}` })), /nested deeper than 64 levels/);
  });

  it('does not expose undeclared parameters', () => {
    const reading = read(operation('parameters: []'), {
      query: 'x=1',
      header: { 'x-a': '1', accept: 'text/plain', 'content-type': 'application/json' },
      body: { a: 1 },
    });
    assert.deepEqual(reading, {
      kind: 'valid',
      message: {
        header: new Map([
          ['accept', 'text/plain'],
          ['content-type', 'application/json'],
        ]),
        query: new Map(),
        path: new Map(),
        body: undefined,
      },
      variant: undefined,
    });
  });
});

describe('readRequest: path, header and cookie parameters', () => {
  it('reads the styles of a path', () => {
    const list = 'schema: { type: array, items: { type: integer } }';
    const object = 'schema: { type: object }';
    assert.equal(pathValue('schema: { type: integer }', '5'), 5);
    assert.deepEqual(pathValue(list, '1,2'), [1, 2]);
    assert.deepEqual(pathValue(`style: label, ${list}`, '.1,2'), [1, 2]);
    assert.deepEqual(pathValue(`style: label, explode: true, ${list}`, '.1.2'), [1, 2]);
    assert.deepEqual(pathValue(`style: matrix, ${list}`, ';p=1,2'), [1, 2]);
    assert.deepEqual(pathValue(`style: matrix, explode: true, ${list}`, ';p=1;p=2'), [1, 2]);
    assert.equal(pathValue('style: label, schema: { type: integer }', '.5'), 5);
    assert.equal(pathValue('style: matrix, schema: { type: integer }', ';p=5'), 5);
    assert.equal(pathValue('style: matrix, schema: { type: string }', ';q'), 'q');
    assert.deepEqual(pathValue(object, 'R,1,G'), { R: '1', G: '' });
    assert.deepEqual(pathValue(`explode: true, ${object}`, 'R=1,G'), { R: '1', G: '' });
    assert.deepEqual(pathValue(`style: label, explode: true, ${object}`, '.R=1.G=2'), {
      R: '1',
      G: '2',
    });
    assert.deepEqual(pathValue(`style: matrix, explode: true, ${object}`, ';R=1;G=2'), {
      R: '1',
      G: '2',
    });
    assert.deepEqual(pathValue('schema: { type: integer }', ''), ['path.p is required']);
  });

  it('checks headers, and exposes them as received', () => {
    const made = operation(`
parameters:
  - { name: X-Count, in: header, schema: { type: integer, maximum: 9 } }
  - { name: X-List, in: header, schema: { type: array, items: { type: integer } } }
  - { name: X-Default, in: header, schema: { type: integer, default: 3 } }
  - { name: X-Text, in: header, schema: { type: string, default: t } }`);
    const reading = read(made, { header: { 'x-count': '5', 'x-list': '1, 2' } });
    assert.ok(reading.kind === 'valid');
    assert.deepEqual(Object.fromEntries(reading.message.header), {
      'x-count': '5',
      'x-list': '1, 2',
      'x-default': '3',
      'x-text': 't',
    });
    assert.deepEqual(bodyFaults(made, { header: { 'x-count': '10', 'x-list': 'a' } }), [
      'header.X-Count must be at most 9, is 10',
      'header.X-List/0 must be an integer, is "a"',
    ]);
  });

  it('checks cookies, and never exposes them', () => {
    const made = operation(
      'parameters: [{ name: s, in: cookie, required: true, schema: { maxLength: 2 } }]',
    );
    assert.deepEqual(bodyFaults(made, {}), ['cookie.s is required']);
    assert.deepEqual(bodyFaults(made, { cookie: { s: 'abc' } }), [
      'cookie.s must have at most 2 characters, has 3',
    ]);
    assert.equal(read(made, { cookie: { s: 'a' } }).kind, 'valid');
  });
});

describe('readRequest: body', () => {
  const json = (schema: string, required = true): string =>
    `requestBody: { required: ${required}, content: { application/json: { schema: ${schema} } } }`;

  it('checks JSON', () => {
    const made = operation(
      json('{ type: object, required: [name], properties: { n: { type: string } } }'),
    );
    assert.deepEqual(bodyFaults(made, { body: { n: 1 } }), [
      'body#/name is required',
      'body#/n must be a string, is a number',
    ]);
    assert.deepEqual(bodyFaults(made, { body: 5 }), ['body must be an object, is a number']);
    assert.deepEqual(bodyFaults(made, { body: null }), ['body must be an object, is null']);
    const reading = read(made, { body: { name: 1 }, mediaType: 'application/json; charset=utf-8' });
    assert.ok(reading.kind === 'valid');
    assert.deepEqual(reading.message.body, { name: 1 });
  });

  it('refuses more JSON in several fields or parts than one body may hold', () => {
    const schema = '{ properties: { a: { type: object }, b: { type: object } } }';
    const types = ['application/x-www-form-urlencoded', 'multipart/form-data'];
    const content = types.map((type) => `${type}: { schema: ${schema} }`).join();
    const made = operation(`requestBody: { content: { ${content} } }`);
    const object = (keys: number): string =>
      `{${Array.from({ length: keys }, (_, at) => `"k${at}":1`).join()}}`;
    const [mediaType = ''] = types;
    const fields = (keys: number): Given => {
      return { mediaType, body: { a: object(keys), b: object(keys) } };
    };
    assert.deepEqual(bodyFaults(made, fields(limits.jsonKeysMax / 2)), ['valid']);
    assert.deepEqual(bodyFaults(made, fields(limits.jsonKeysMax)), [
      'body#/b has more than 10000 keys',
    ]);
    const part = (name: string, keys: number): string =>
      `--x\r\nContent-Disposition: form-data; name="${name}"\r\n` +
      `Content-Type: application/json\r\n\r\n${object(keys)}\r\n`;
    const type = 'multipart/form-data; boundary=x';
    const parts = (keys: number): Given => ({
      mediaType: type,
      header: { 'content-type': type },
      body: Buffer.from(`${part('a', keys)}${part('b', keys)}--x--`),
    });
    assert.deepEqual(bodyFaults(made, parts(limits.jsonKeysMax / 2)), ['valid']);
    assert.deepEqual(bodyFaults(made, parts(limits.jsonKeysMax)), [
      'body#/b has more than 10000 keys',
    ]);
  });

  it('refuses a text with too many items or members', () => {
    const schema = '{ properties: { a: { type: array }, b: { type: object } } }';
    const encoding = '{ a: { explode: false }, b: { explode: false } }';
    const mediaType = 'application/x-www-form-urlencoded';
    const made = operation(
      `requestBody: { content: { ${mediaType}: { schema: ${schema}, encoding: ${encoding} } } }`,
    );
    const faults = (name: string, parts: number): string[] =>
      bodyFaults(made, { mediaType, body: { [name]: Array(parts).fill('x').join() } });
    assert.deepEqual(faults('a', bounds.itemsMax), ['valid']);
    assert.deepEqual(faults('a', bounds.itemsMax + 1), ['body#/a has more than 10000 parts']);
    assert.deepEqual(faults('b', bounds.itemsMax + 1), ['body#/b has more than 10000 parts']);
  });

  it('requires a required body', () => {
    assert.deepEqual(bodyFaults(operation(json('{}')), {}), ['body is required']);
    assert.deepEqual(bodyFaults(operation(json('{}', false)), {}), ['valid']);
  });

  it('reports faults of parameters and body together', () => {
    const made = operation(
      `parameters: [{ name: a, in: query, required: true }]\n${json('{ type: string }')}`,
    );
    assert.deepEqual(bodyFaults(made, { body: 1 }), [
      'query.a is required',
      'body must be a string, is a number',
    ]);
  });

  it('lists the accepted media types', () => {
    assert.deepEqual(read(operation(json('{}')), { body: 'x', mediaType: 'text/plain' }), {
      kind: 'unsupported',
      mediaType: 'text/plain',
      offered: ['application/json'],
    });
  });

  it('accepts types built on JSON, ranges, and any type if none is declared', () => {
    assert.deepEqual(
      bodyFaults(operation(json('{ type: string }')), { body: 1, mediaType: 'application/a+json' }),
      ['body must be a string, is a number'],
    );
    const range = operation('requestBody: { content: { "*/*": { schema: { type: string } } } }');
    assert.deepEqual(bodyFaults(range, { body: 1 }), ['body must be a string, is a number']);
    assert.equal(read(range, { body: 1, mediaType: 'image/png' }).kind, 'valid');
    assert.equal(read(operation('requestBody: {}'), { body: 1, mediaType: 'a/b' }).kind, 'valid');
    assert.equal(
      read(operation('requestBody: { content: { application/json: {} } }'), { body: 1 }).kind,
      'valid',
    );
  });

  it('converts the texts of a form to the types in its schema', () => {
    const made = operation(`
requestBody:
  content:
    application/x-www-form-urlencoded:
      schema: { type: object, properties: { n: { type: integer }, s: { type: string }, l: { type: array } } }`);
    const mediaType = 'application/x-www-form-urlencoded';
    const reading = read(made, { mediaType, body: { n: '5', s: '5', l: ['a'] } });
    assert.ok(reading.kind === 'valid');
    assert.deepEqual(reading.message.body, { n: 5, s: '5', l: ['a'] });
    assert.deepEqual(bodyFaults(made, { mediaType, body: { n: 'x' } }), [
      'body#/n must be an integer, is "x"',
    ]);
    assert.deepEqual(bodyFaults(made, { mediaType, body: 'x' }), [
      'body must be an object, is a string',
    ]);
  });

  it('ignores a body that the operation does not declare', () => {
    const reading = read(operation('parameters: []'), { body: { a: 1 } });
    assert.ok(reading.kind === 'valid');
    assert.equal(reading.message.body, undefined);
  });
});

describe('readRequest: variants', () => {
  const made = operation(`
x-ringback-variants:
  body: { needs: ['$request.body#/url'] }
  query: { needs: ['$request.query.url', '$request.query.event'] }
parameters:
  - { name: url, in: query, schema: { type: string } }
  - { name: event, in: query, schema: { type: string, pattern: '^[a-z]+$' } }
requestBody:
  content:
    application/json:
      schema: { type: object, required: [url], properties: { url: { type: string } } }
callbacks:
  a: { '{$request.body#/url}': { x-ringback-variant: body, post: {} } }
  b: { '{$request.query.url}': { x-ringback-variant: query, x-ringback-event: x, post: {} } }`);

  it('returns the chosen variant', () => {
    const reading = read(made, { body: { url: 'x' } });
    assert.ok(reading.kind === 'valid');
    assert.equal(reading.variant?.name, 'body');
  });

  it('is chosen after the parameters and before the body is checked', () => {
    assert.deepEqual(bodyFaults(made, { query: 'event=*', body: { url: 'x' } }), [
      'query.event must match the pattern "^[a-z]+$"',
    ]);
    const none = read(made, { body: {} });
    assert.ok(none.kind === 'no_variant');
    assert.match(none.detail, /^POST \/x\/\{p\} matches no variant: found nothing/);
    assert.deepEqual(bodyFaults(made, { body: { url: 5 } }), [
      'body#/url must be a string, is a number',
    ]);
    assert.deepEqual(bodyFaults(made, { body: { url: null } }), [
      'body#/url must be a string, is null',
    ]);
    const several = read(made, { query: 'url=x&event=e', body: { url: 'x' } });
    assert.ok(several.kind === 'no_variant');
    assert.equal(several.faults.length, 3);
  });

  it('checks the body in every variant', () => {
    const reading = read(made, { query: 'url=x&event=e', body: 'text' });
    assert.ok(reading.kind === 'invalid', reading.kind);
  });
});

describe('readRequest', () => {
  it('never throws, and faults always name a place', () => {
    const made = operation(`
parameters:
  - { name: a, in: query, schema: { type: array, items: { type: integer } } }
  - { name: b, in: query, style: deepObject, schema: { type: object, properties: { x: { type: boolean } } } }
  - { name: c, in: query, style: pipeDelimited, schema: { type: array, items: { type: number } } }
  - { name: d, in: query, content: { application/json: { schema: { type: object } } } }
  - { name: e, in: query, schema: { type: object, properties: { f: { type: integer } } } }
  - { name: p, in: path, style: matrix, explode: true, schema: { type: object } }
  - { name: h, in: header, schema: { type: array, items: { type: integer } } }
  - { name: k, in: cookie, schema: { type: integer } }
requestBody:
  required: true
  content:
    application/json: { schema: { oneOf: [{ type: object, required: [a] }, { type: array }] } }
    application/x-www-form-urlencoded: { schema: { properties: { a: { type: integer } } } }`);
    const text = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.constantFrom('', ',', ';', '|', '[', ']', '{}', '5', 'true', '__proto__', '%', '{"a":1}'),
    );
    const name = fc.oneof(
      text,
      fc.constantFrom('a', 'b[x]', 'b[x][y]', 'b[__proto__]', 'c', 'd', 'f'),
    );
    const map = fc
      .array(fc.tuple(fc.constantFrom('p', 'h', 'k', 'accept', 'x'), text))
      .map((pairs) => new Map(pairs));
    const mediaType = fc.constantFrom(
      'application/json',
      'application/x-www-form-urlencoded',
      'x',
      '',
    );
    const body = fc.option(fc.record({ mediaType, value: fc.jsonValue() }), { nil: undefined });
    const request = fc.record({
      path: map,
      query: fc.array(fc.tuple(name, text)),
      header: map,
      cookie: map,
      body,
    });
    fc.assert(
      fc.property(request, (given) => {
        const reading = readRequest(made, given);
        if (reading.kind !== 'invalid') return;
        assert.ok(reading.faults.length > 0);
        for (const { field, message } of reading.faults) {
          assert.match(field, /^(query|path|header|cookie)\.|^body/);
          assert.ok(message.length > 0);
        }
      }),
      { numRuns: 500 },
    );
    assert.equal(Object.hasOwn(Object.prototype, 'x'), false);
  });
});
