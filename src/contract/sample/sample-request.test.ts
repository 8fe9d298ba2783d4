import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { load } from 'js-yaml';
import { compileContract } from '../compile/compile.ts';
import type { Operation } from '../model/contract.ts';
import { loadContract } from '../compile/load.ts';
import { readRequest } from '../request/request.ts';
import { sampleRequest } from './sample-request.ts';
import type { RequestSample, SampleOptions } from './sample-request.ts';

const callbackUrl = 'http://127.0.0.1:9/hook';

function operation(yaml: string): Operation {
  const paths = Object.assign({ openapi: '3.0.4', info: { title: 'T' } }, load(yaml));
  const { operations } = compileContract({ path: 'api.yaml', root: paths });
  assert.ok(operations[0]);
  return operations[0];
}

type Sampled = Extract<RequestSample, { kind: 'sample' }>;

function sampled(subject: Operation, options: Partial<SampleOptions> = {}): Sampled {
  const made = sampleRequest(subject, { callbackUrl, ...options });
  assert.ok(made.kind === 'sample', JSON.stringify(made));
  assert.equal(readRequest(subject, made.raw).kind, 'valid');
  return made;
}

function subscribe(inner: string, keys: readonly string[], path = '/s'): Operation {
  const items = keys.map((key, at) => `      e${at}: { ${JSON.stringify(key)}: { post: {} } }`);
  return operation(`
paths:
  ${path}:
    post:
${inner.replace(/^(?=.)/gm, '      ')}
      callbacks:
${items.map((item) => `  ${item}`).join('\n')}`);
}

function urls({ callbacks }: Sampled): string[] {
  return callbacks.flatMap((one) => (one.inactive === undefined ? one.urls : [one.inactive]));
}

describe('sampleRequest', () => {
  it('puts the URL where callback keys read it, and plain texts elsewhere', () => {
    const made = sampled(
      subscribe(
        `
parameters:
  - { name: callbackUrl, in: query, schema: { type: string, format: uri } }
  - { name: X-Hook, in: header, schema: { type: string } }
  - { name: unused, in: query, schema: { type: string } }
  - { name: needed, in: cookie, required: true, schema: { type: integer, minimum: 7 } }
requestBody:
  content:
    application/json:
      schema:
        type: object
        required: [name]
        properties:
          name: { type: string }
          token: { type: object }
          hooks: { type: array, items: { type: object, properties: { url: { type: string } } } }`,
        [
          '{$request.query.callbackUrl}/data',
          '{$request.header.X-Hook}',
          '{$request.body#/hooks/0/url}?t={$request.body#/name}',
        ],
      ),
    );
    assert.equal(made.target, `/s?callbackUrl=${encodeURIComponent(callbackUrl)}`);
    assert.deepEqual(made.headers, {
      'x-hook': callbackUrl,
      'content-type': 'application/json',
      cookie: 'needed=7',
    });
    assert.deepEqual(urls(made), [`${callbackUrl}/data`, callbackUrl, `${callbackUrl}?t=string`]);
  });

  it('has what the subject and the customer are read from, without which it would be refused', () => {
    const made = sampled(
      subscribe(
        `
x-ringback-subject: 'order:{$request.query.order}'
x-ringback-customer: '$request.header.X-Account'
parameters:
  - { name: order, in: query, schema: { type: integer, example: 17 } }
  - { name: X-Account, in: header, schema: { type: string } }
requestBody: { content: { application/json: { schema: { type: object } } } }`,
        ['{$request.body#/url}'],
      ),
    );
    assert.equal(made.target, '/s?order=17');
    assert.equal(made.headers['x-account'], 'string');
    assert.deepEqual(urls(made), [callbackUrl]);
  });

  it('adds members that callback keys read and no schema declares', () => {
    const body = 'requestBody: { content: { application/json: { schema: { type: object } } } }';
    const made = sampled(subscribe(body, ['{$request.body#/a/url}/{$request.body#/a/b}']));
    assert.deepEqual(urls(made), [`${callbackUrl}/string`]);
    assert.equal(made.body, JSON.stringify({ a: { url: callbackUrl, b: 'string' } }));
  });

  it('fills lists of URLs', () => {
    const schema =
      '{ type: object, properties: { urls: { type: array, items: { type: string } } } }';
    const body = `requestBody: { content: { application/json: { schema: ${schema} } } }`;
    assert.deepEqual(urls(sampled(subscribe(body, ['{$request.body#/urls}']))), [callbackUrl]);
  });

  it('takes the branch that declares the place', () => {
    const schema =
      '{ oneOf: [{ required: [a], properties: { a: {} }, additionalProperties: false }, ' +
      '{ required: [url], properties: { url: { type: string } }, additionalProperties: false }] }';
    const body = `requestBody: { required: true, content: { application/json: { schema: ${schema} } } }`;
    assert.deepEqual(urls(sampled(subscribe(body, ['{$request.body#/url}']))), [callbackUrl]);
  });

  it('uses another URL where the document does not allow the given one', () => {
    const schema = '{ type: object, properties: { url: { type: string, pattern: "^https://" } } }';
    const body = `requestBody: { content: { application/json: { schema: ${schema} } } }`;
    const made = sampled(subscribe(body, ['{$request.body#/url}']));
    assert.deepEqual(urls(made), ['https://example.com/callback']);
  });

  it('leaves out values that cannot be made, and says why the callback is inactive', () => {
    const schema =
      '{ type: object, additionalProperties: false, properties: { url: { type: string } } }';
    const body = `requestBody: { content: { application/json: { schema: ${schema} } } }`;
    const made = sampled(subscribe(body, ['{$request.body#/other}', '{$request.body#/url}', 'x']));
    assert.match(urls(made)[0] ?? '', /the request body has nothing at "\/other"/);
    assert.equal(urls(made)[1], callbackUrl);
    assert.match(urls(made)[2] ?? '', /has no scheme/);
  });

  it('sends a form if JSON is not accepted', () => {
    const schema =
      '{ type: object, required: [n, l], properties: { n: { type: integer }, url: { type: string }, ' +
      'l: { type: array, minItems: 2, items: { type: string } } } }';
    const body = `requestBody: { content: { application/x-www-form-urlencoded: { schema: ${schema} } } }`;
    const made = sampled(subscribe(body, ['{$request.body#/url}']));
    const fields = new URLSearchParams(made.body);
    assert.deepEqual(fields.getAll('l'), ['string', 'string']);
    assert.deepEqual([fields.get('n'), fields.get('url')], ['1', callbackUrl]);
    assert.deepEqual(urls(made), [callbackUrl]);
  });

  const fields =
    '{ type: object, required: [n, l, o, files, empty, objects, only, file], properties: { n: { type: integer }, ' +
    'url: { type: string }, l: { type: array, minItems: 2, items: { type: string } }, ' +
    'o: { type: object, required: [a], properties: { a: { type: boolean } } }, ' +
    'empty: { type: array, maxItems: 0, items: { type: string } }, ' +
    'objects: { type: array, minItems: 2, items: { type: object, required: [k], properties: { k: { type: string } } } }, ' +
    'only: { type: array, maxItems: 1, items: { type: object, required: [k], properties: { k: { type: string } } } }, ' +
    'files: { type: array, minItems: 2, items: { type: string, format: binary } }, ' +
    'file: { type: string, minLength: 30, example: "a \\"file\\", with a name of many characters" } } }';
  const encoding = '{ file: { contentType: image/png } }';

  it('sends multipart/form-data, with files and JSON parts', async () => {
    const media = `{ schema: ${fields}, encoding: ${encoding} }`;
    const body = `requestBody: { required: true, content: { multipart/form-data: ${media} } }`;
    const made = sampled(subscribe(body, ['{$request.body#/url}']));
    assert.deepEqual(urls(made), [callbackUrl]);
    const { headers } = made;
    const form = await new Response(made.body ?? '', { headers }).formData();
    assert.deepEqual(form.getAll('l'), ['string', 'string']);
    assert.deepEqual([form.get('n'), form.get('url'), form.get('empty')], ['1', callbackUrl, '']);
    const parsed = (name: string): unknown[] =>
      form.getAll(name).map((one): unknown => (typeof one === 'string' ? JSON.parse(one) : one));
    const objects = parsed('objects');
    assert.deepEqual(objects, [{ k: 'string' }, { k: 'string' }]);
    assert.deepEqual(parsed('o'), [{ a: true }]);
    assert.deepEqual(parsed('only'), [[{ k: 'string' }]]);
    assert.equal(form.getAll('files').filter((one) => one instanceof File).length, 2);
    const file = form.get('file');
    assert(file instanceof File);
    assert.equal(file.name, 'a "file", with a name of many characters');
  });

  it('sends the same fields as a form', () => {
    const media = `{ schema: ${fields} }`;
    const type = 'application/x-www-form-urlencoded';
    const body = `requestBody: { required: true, content: { ${type}: ${media} } }`;
    const made = sampled(subscribe(body, ['{$request.body#/url}']));
    const form = new URLSearchParams(made.body);
    assert.deepEqual(form.getAll('l'), ['string', 'string']);
    assert.deepEqual(JSON.parse(form.get('o') ?? ''), { a: true });
    assert.deepEqual(urls(made), [callbackUrl]);
  });

  it('writes fields in the style that the document declares', () => {
    const lists = '{ type: array, minItems: 2, items: { type: integer } }';
    const properties = `{ a: ${lists}, b: ${lists}, o: { type: object, required: [x], properties: { x: { type: integer } } }, j: ${lists} }`;
    const schema = `{ type: object, required: [a, b, o, j], properties: ${properties} }`;
    const styles =
      '{ a: { style: pipeDelimited, explode: false }, b: { style: form, explode: false }, ' +
      'o: { style: deepObject }, j: { contentType: application/json } }';
    const media = `{ schema: ${schema}, encoding: ${styles} }`;
    const body = `requestBody: { required: true, content: { application/x-www-form-urlencoded: ${media} } }`;
    const made = sampled(subscribe(body, ['http://x/']));
    assert.deepEqual(
      [...new URLSearchParams(made.body)],
      [
        ['a', '1|1'],
        ['b', '1,1'],
        ['o[x]', '1'],
        ['j', '[1,1]'],
      ],
    );
  });

  it('sends the JSON part of multipart/related', () => {
    const root =
      '{ type: object, required: [url], properties: { url: { type: string, format: uri } } }';
    const schema = `{ type: object, properties: { meta: ${root}, file: { type: string, format: binary } } }`;
    const body = `requestBody: { required: true, content: { multipart/related: { schema: ${schema} } } }`;
    const made = sampled(subscribe(body, ['{$request.body#/url}']));
    assert.deepEqual(urls(made), [callbackUrl]);
    const json = JSON.stringify({ url: callbackUrl });
    assert.equal(
      made.body,
      `--example\r\nContent-Type: application/json\r\n\r\n${json}\r\n--example--\r\n`,
    );
    assert.match(
      made.headers['content-type'] ?? '',
      /^multipart\/related; type="application\/json"/,
    );
  });

  it('takes a boundary that no part contains', async () => {
    const schema =
      '{ type: object, required: [a], properties: { a: { type: string, example: "--example--" } } }';
    const body = `requestBody: { required: true, content: { multipart/*: { schema: ${schema} } } }`;
    const made = sampled(subscribe(body, ['http://x/']));
    const form = await new Response(made.body ?? '', { headers: made.headers }).formData();
    assert.equal(form.get('a'), '--example--');
  });

  it('fills values that the answer echoes, and event names of callbacks', () => {
    const made = sampled(
      operation(`
paths:
  /s:
    post:
      parameters: [{ name: kind, in: query, schema: { type: string, example: '' } }]
      requestBody: { content: { application/json: { schema: { type: object, properties: { url: {} } } } } }
      responses: { 201: { content: { application/json: { schema: { properties: { url: {}, id: {} } } } } } }
      callbacks:
        e:
          '{$response.body#/url}/{$response.body#/id}':
            x-ringback-event: '{$request.query.kind}'
            post: {}`),
    );
    assert.deepEqual(urls(made), [`${callbackUrl}/sub_00000000000000000000000001`]);
    assert.equal(made.callbacks[0]?.event, 'example');
  });

  it('says why there is none', () => {
    const cases: [Operation, RegExp][] = [
      [
        subscribe('requestBody: { required: true, content: { text/plain: {} } }', ['http://x/']),
        /the body is text\/plain, expected JSON or a form/,
      ],
      [
        subscribe('parameters: [{ name: a, in: query, required: true, schema: { not: {} } }]', [
          'http://x/',
        ]),
        /query a: no example could be generated/,
      ],
    ];
    for (const [subject, pattern] of cases) {
      const made = sampleRequest(subject, { callbackUrl });
      assert.match(made.kind === 'none' ? made.why : 'made', pattern);
    }
  });

  const styles = [
    'path simple',
    'path label',
    'path matrix',
    'query form',
    'query spaceDelimited',
    'query pipeDelimited',
    'query deepObject',
    'header simple',
    'cookie form',
    'query json',
  ].map((words) => words.split(' '));
  const schemas = [
    '{ type: string, minLength: 3 }',
    '{ type: integer, minimum: 12 }',
    '{ type: boolean }',
    '{ type: array, minItems: 3, uniqueItems: true, items: { type: integer } }',
    '{ type: object, required: [a, b], properties: { a: { type: string }, b: { type: integer } } }',
  ];
  for (const [kind = '', style = ''] of styles) {
    for (const explode of [true, false]) {
      it(`writes a ${kind} parameter as ${style}, explode ${explode}, so that it is read again`, () => {
        for (const schema of schemas) {
          if (style === 'deepObject' && !schema.includes('object')) continue;
          // There is no way to write it: one cookie has one value.
          if (kind === 'cookie' && explode && schema.includes('array')) continue;
          const how =
            style === 'json'
              ? `content: { application/json: { schema: ${schema} } }`
              : `style: ${style}, explode: ${explode}, schema: ${schema}`;
          const made = sampled(
            subscribe(
              `parameters: [{ name: p, in: ${kind}, required: true, ${how} }]`,
              ['http://x/'],
              kind === 'path' ? '/s/{p}' : '/s',
            ),
          );
          assert.equal(made.callbacks[0]?.urls[0], 'http://x/');
        }
      });
    }
  }

  it('shows no credential that has expired', () => {
    const made = sampled(
      operation(`
components: { securitySchemes: { B: { type: http, scheme: bearer } } }
paths:
  /s:
    post:
      requestBody:
        required: true
        content:
          application/json:
            schema:
              required: [sink, sinkCredential]
              properties:
                sink: { type: string }
                sinkCredential:
                  required: [accessToken, accessTokenExpiresUtc]
                  properties:
                    accessToken: { type: string }
                    accessTokenExpiresUtc: { type: string, format: date-time, example: '2024-12-06T14:37:56Z' }
      callbacks:
        e: { '{$request.body#/sink}': { post: { security: [{ B: [] }] } } }`),
    );
    assert.deepEqual(made.raw.body?.value, {
      sink: callbackUrl,
      sinkCredential: { accessToken: 'string', accessTokenExpiresUtc: '9999-12-31T23:59:59Z' },
    });
  });

  it('calls each variant of our own document', async () => {
    const { operations } = await loadContract(
      join(import.meta.dirname, '..', '..', '..', 'openapi.yaml'),
    );
    const ours = operations.find(({ role }) => role.kind === 'subscribe');
    assert.ok(ours?.role.kind === 'subscribe');
    for (const { name, callbacks } of ours.role.variants) {
      const made = sampled(ours, { variant: name });
      assert.equal(made.variant, name);
      assert.equal(made.callbacks.length, callbacks.length);
      for (const one of made.callbacks) assert.ok(one.urls[0]?.startsWith(callbackUrl), name);
    }
  });
});
