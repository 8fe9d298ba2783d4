import assert from 'node:assert/strict';
import { existsSync, globSync } from 'node:fs';
import { join, sep } from 'node:path';
import { describe, it } from 'node:test';
import { load } from 'js-yaml';
import { compileContract } from '../compile/compile.ts';
import type { Contract } from '../model/contract.ts';
import { ContractError } from '../document/document.ts';
import { loadContract } from '../compile/load.ts';
import { checkPayload } from '../request/payload.ts';
import { makeReport } from './report.ts';
import type { CallbackReport, Report } from './report.ts';

function report(yaml: string): Report {
  const head = { openapi: '3.0.4', info: { title: 'Shop', version: '1.2' } };
  const root = Object.assign(head, load(yaml));
  return makeReport(compileContract({ path: 'api/shop.yaml', root }), 'api/shop.yaml');
}

function callbacksOf({ subscribes }: Report): CallbackReport[] {
  return subscribes.flatMap(({ variants }) => variants.flatMap(({ callbacks }) => callbacks));
}

const shop = `
servers: [{ url: https://api.shop.example/v1 }]
paths:
  /orders:
    get: {}
  /hooks:
    post:
      operationId: addHook
      parameters: [{ name: kind, in: query, schema: { type: string } }]
      requestBody:
        required: true
        content:
          application/json:
            schema: { type: object, required: [url], properties: { url: { type: string } } }
      responses:
        201:
          content: { application/json: { schema: { properties: { id: { type: string } } } } }
          links:
            end: { operationId: endHook, parameters: { hook: $response.body#/id } }
      callbacks:
        orderPaid:
          '{$request.body#/url}/paid':
            x-ringback-unsubscribe-status: 404
            post:
              requestBody:
                content:
                  application/json:
                    schema: { type: object, required: [n], properties: { n: { type: integer } } }
        anything:
          '{request.body#/url }':
            x-ringback-event: '{$request.query.kind}'
            put: {}
        broken:
          '{unknown}': { post: {} }
  /hooks/{hook}:
    delete:
      operationId: endHook
      parameters: [{ name: hook, in: path, required: true }]
      responses: { 204: {} }
`;

describe('makeReport', () => {
  it('describes the document and its operations', () => {
    const { title, version, openapi, otherOperations, subscribes, unsubscribes, cannotRun } =
      report(shop);
    assert.deepEqual([title, version, openapi, otherOperations], ['Shop', '1.2', '3.0.4', 1]);
    const [hook] = subscribes;
    assert.deepEqual(
      [hook?.operationId, hook?.method, hook?.path, hook?.security],
      ['addHook', 'POST', '/v1/hooks', 'no key'],
    );
    assert.deepEqual(unsubscribes, [
      {
        operationId: 'endHook',
        method: 'DELETE',
        path: '/v1/hooks/{hook}',
        security: 'no key',
        scope: undefined,
        takes: 'path parameter hook',
        status: 204,
        undeclared: [400, 404, 503],
      },
    ]);
    assert.deepEqual(cannotRun, []);
  });

  it('reports for each callback what it needs, what it does, and why it is inactive', () => {
    const [paid, anything, broken] = callbacksOf(report(shop));
    assert.deepEqual(paid, {
      label: 'orderPaid',
      key: '{$request.body#/url}/paid',
      method: 'POST',
      event: 'orderPaid',
      does: 'POST to the URL in the request body at /url + /paid',
      matches: 'orderPaid',
      reads: [{ expression: '$request.body#/url', place: 'the request body at /url' }],
      sends: [],
      repairs: [],
      unsubscribeStatus: 404,
      isFinal: false,
      inactive: undefined,
    });
    assert.equal(anything?.does, 'PUT to the URL in the request body at /url');
    assert.equal(anything?.matches, 'the event in query parameter kind');
    assert.equal(anything?.repairs.length, 2);
    assert.equal(broken?.key, undefined);
    assert.match(broken?.inactive ?? '', /Cannot read callback key "\{unknown\}"/);
  });

  it('gives a request that registers them', () => {
    const [variant] = report(shop).subscribes.flatMap(({ variants }) => variants);
    assert.deepEqual(variant?.example, {
      kind: 'sample',
      method: 'POST',
      target: '/v1/hooks?kind=string',
      headers: { 'content-type': 'application/json' },
      body: '{"url":"https://example.com/callback"}',
    });
  });

  it('gives a payload for each event that a callback can match', () => {
    const events = report(shop).events.map(({ event, name, callbacks, payload }) => [
      event,
      name,
      callbacks,
      payload,
    ]);
    const any = { kind: 'sample', value: { message: 'Any value is accepted' } };
    assert.deepEqual(events, [
      ['orderPaid', 'orderPaid', ['orderPaid'], { kind: 'sample', value: { n: 1 } }],
      ['{$request.query.kind}', 'example', ['anything'], any],
    ]);
  });

  it('finds a payload that is valid for several callbacks, and reports if there is none', () => {
    const two = (first: string, second: string): Report =>
      report(`
paths:
  /a:
    post:
      callbacks:
        x: { 'http://one/': { post: { requestBody: { content: { application/json: { schema: ${first} } } } } } }
        y:
          'http://two/':
            x-ringback-event: x
            post: { requestBody: { content: { application/json: { schema: ${second} } } } }`);
    const fits = two('{ type: object }', '{ type: object, required: [a] }').events[0]?.payload;
    assert.deepEqual(fits, { kind: 'sample', value: { a: 'string' } });
    const clash = two('{ type: string }', '{ type: integer }').events[0]?.payload;
    assert.ok(clash?.kind === 'none');
    assert.match(clash.why, /callback x requires a different payload: .*must be a string/);
  });

  it('distinguishes repairs from warnings, with their locations', () => {
    const { warnings } = report(shop);
    assert.deepEqual(
      warnings.map(({ kind, file }) => [kind, file]),
      [
        ['repair', 'api/shop.yaml'],
        ['repair', 'api/shop.yaml'],
        ['warning', 'api/shop.yaml'],
      ],
    );
    assert.equal(
      warnings[0]?.pointer,
      '#/paths/~1hooks/post/callbacks/anything/{request.body#~1url }',
    );
  });

  it('says what cannot run', () => {
    const { cannotRun } = report(`
paths:
  /shut:
    post: { security: [{ tls: [] }], callbacks: { e: { 'http://one/': { post: {} } } } }
  /deaf:
    post: { callbacks: { e: { '{$request.query.url}': { post: {} } } } }
  /bytes:
    post:
      requestBody: { required: true, content: { text/plain: {} } }
      callbacks: { e: { '{$request.body#/url}': { post: {} } } }
  /parts:
    post:
      requestBody: { required: true, content: { multipart/related: {}, multipart/form-data: {} } }
      callbacks: { e: { '{$request.body#/url}': { post: {} } } }
  /empty:
    post: { callbacks: { e: { 'http://one/': {} } } }
components: { securitySchemes: { tls: { type: mutualTLS } } }`);
    assert.deepEqual(cannotRun, [
      'POST /shut cannot be called: none of its security alternatives is supported',
      'POST /deaf registers no callback: the request has no query parameter "url"',
      'POST /bytes registers no callback: the request body is text/plain, ' +
        'and only JSON and forms are read',
      'POST /empty registers no callback: it declares no callback that can be executed',
    ]);
  });

  /** Warnings about the responses of `POST` or `PUT /hooks` and `DELETE /hooks/{id}`. */
  function answerWarnings(
    responses: string,
    { method = 'post', url = '[url]', end = '{}' } = {},
  ): string[] {
    const { warnings } = report(`
paths:
  /hooks:
    ${method}:
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              required: ${url}
              properties: { url: { type: string }, kind: { type: string }, hint: { type: string } }
      responses: ${responses}
      callbacks: { e: { '{$request.body#/url}': { post: {} } } }
  /hooks/{id}:
    delete:
      parameters: [{ name: id, in: path, required: true, schema: { type: string } }]
      responses: ${end}`);
    return warnings.map(({ pointer, message }) => `${pointer} ${message}`);
  }

  const json = (schema: string): string => `content: { application/json: { schema: ${schema} } }`;

  it('names what the response to an unsubscribe request lacks or violates', () => {
    const made = '{ 201: {} }';
    const place = '#/paths/~1hooks~1{id}/delete/responses/200/content';
    const schemaPlace = `${place}/application~1json/schema`;
    const fitting = json('{ type: object, required: [id], properties: { id: { type: string } } }');
    assert.deepEqual(answerWarnings(made, { end: `{ 200: { ${fitting} } }` }), []);
    const lacking = json('{ required: [endedAt], properties: { endedAt: { type: string } } }');
    const [lack = '', ...others] = answerWarnings(made, { end: `{ 200: { ${lacking} } }` });
    assert.ok(lack.startsWith(`${schemaPlace}/properties/endedAt the response requires it`), lack);
    assert.deepEqual(others, []);
    const violated = json('{ properties: { id: { type: string, maxLength: 9 } } }');
    const [broken = ''] = answerWarnings(made, { end: `{ 200: { ${violated} } }` });
    const which = 'the response of DELETE /hooks/{id} does not match the schema';
    assert.ok(broken.startsWith(`${schemaPlace} ${which}: /id must have at most 9`), broken);
    const text = '{ 200: { content: { text/plain: {} } } }';
    const expected = [`${place} declares no JSON; the response is application/json`];
    assert.deepEqual(answerWarnings(made, { end: text }), expected);
  });

  it('names what the response lacks if the request has no optional fields', () => {
    const properties = 'id: {}, kind: { type: string }, hint: { type: string }';
    const required = (names: string): string =>
      `{ 201: { ${json(`{ required: ${names}, properties: { ${properties} } }`)} } }`;
    assert.deepEqual(answerWarnings(required('[id]')), []);
    const place = '#/paths/~1hooks/post/responses/201/content/application~1json/schema';
    const which = 'the response of POST /hooks to a request without optional fields';
    const expected = [`${place} ${which} does not match the schema: /kind is required`];
    assert.deepEqual(answerWarnings(required('[id, kind]')), expected);
    assert.deepEqual(answerWarnings(required('[id, kind]'), { url: '[url, kind]' }), []);
    const [hint = '', ...others] = answerWarnings(required('[id, kind, hint]'), {
      url: '[url, kind]',
    });
    assert.equal(hint, `${place} ${which} does not match the schema: /hint is required`);
    assert.deepEqual(others, []);
  });

  it('names what the response lacks because credentials are left out', () => {
    const credential = `
      type: object
      required: [accessToken]
      properties: { accessToken: { type: string } }`;
    const withCredential = (required: string): string[] => {
      const { warnings } = report(`
paths:
  /hooks:
    post:
      requestBody:
        required: true
        content: { application/json: { schema: { $ref: '#/components/schemas/Hook' } } }
      responses:
        201: { ${json("{ $ref: '#/components/schemas/Hook' }")} }
      callbacks:
        e: { '{$request.body#/sink}': { post: { security: [{ bearer: [] }] } } }
components:
  securitySchemes: { bearer: { type: http, scheme: bearer } }
  schemas:
    Hook:
      required: ${required}
      properties:
        sink: { type: string }
        sinkCredential: { $ref: '#/components/schemas/Credential' }
    Credential: ${credential}`);
      return warnings.map(({ pointer, message }) => `${pointer} ${message}`);
    };
    assert.deepEqual(withCredential('[sink]'), []);
    assert.deepEqual(withCredential('[sink, sinkCredential]'), [
      '#/components/schemas/Hook the response of POST /hooks does not match the schema: ' +
        '/sinkCredential/accessToken is required',
    ]);
  });

  it('names the statuses of errors whose declared schema cannot be filled', () => {
    const validation = json('{ type: object, properties: { detail: { type: array } } }');
    const other = json('{ required: [message, path], properties: { message: { type: string } } }');
    const responses = `{ 201: {}, 422: { ${validation} }, 4XX: { ${other} }, 503: { ${json('{}')} } }`;
    const place = (status: string): string =>
      `#/paths/~1hooks/post/responses/${status}/content/application~1json/schema`;
    const sent =
      'are sent as application/problem+json, because the declared schema cannot be filled';
    assert.deepEqual(answerWarnings(responses), [
      `${place('4XX')} errors of POST /hooks with status 400, 413, 415, 429 ${sent}: /path is required`,
      `${place('422')} errors of POST /hooks with status 422 ${sent}: /detail cannot hold the reason`,
    ]);
  });

  it('names errors whose declared enum of codes has none, and those of a status that do not fit alone', () => {
    const codes = (...values: string[]): string =>
      json(`{ required: [code], properties: { code: { enum: [${values.join(', ')}] } } }`);
    const of = (responses: string): string[] =>
      answerWarnings(`{ 201: {}, ${responses}, default: {} }`).map((text) =>
        text.replace(/^.*?(?=status)/u, '').replace(/ are sent.*filled:/u, ':'),
      );
    assert.deepEqual(of(`400: { ${codes('INVALID_ARGUMENT', 'OTHER')} }`), []);
    assert.deepEqual(of(`422: { ${codes('MISSING_IDENTIFIER', 'OTHER')} }`), [
      'status 422: /code must be one of "MISSING_IDENTIFIER", "OTHER", is "target_refused"',
    ]);
    assert.deepEqual(of(`503: { ${codes('OVERLOADED', 'OTHER')} }`), [
      'status 503 (store_unavailable): /code must be one of "OVERLOADED", "OTHER", is "store_unavailable"',
    ]);
  });

  it('names what a PUT that replaces a subscription violates', () => {
    const replaced = json(
      '{ required: [url], properties: { url: { type: string, maxLength: 9 } } }',
    );
    const responses = `{ 201: { description: made }, 200: { ${replaced} } }`;
    const [warning = '', ...others] = answerWarnings(responses, { method: 'put' });
    const place = '#/paths/~1hooks/put/responses/200/content/application~1json/schema';
    const which = 'the response of PUT /hooks does not match the schema: /url';
    assert.ok(warning.startsWith(`${place} ${which}`), warning);
    assert.deepEqual(others, []);
  });

  it('names what the response lacks if the request has no callback URL', () => {
    const responses = `{ 201: { ${json('{ required: [id], properties: { id: {} } }')} } }`;
    assert.deepEqual(answerWarnings(responses), []);
    const place = '#/paths/~1hooks/post/responses/201/content/application~1json/schema';
    const which = 'the response of POST /hooks to a request without a callback URL';
    const expected = [`${place} ${which} does not match the schema: /id is required`];
    assert.deepEqual(answerWarnings(responses, { url: '[]' }), expected);
  });

  const schemes = `
components:
  securitySchemes:
    header: { type: apiKey, in: header, name: X-API-Key }
    query: { type: apiKey, in: query, name: api_key }
    app: { type: apiKey, in: header, name: X-APP-ID }
    bearer: { type: http, scheme: bearer }
    basic: { type: http, scheme: basic }
    tls: { type: mutualTLS }`;
  const securities: [string, string][] = [
    ['[]', 'no key'],
    ['[{}]', 'no key'],
    ['[{ header: [] }]', 'a key in header X-API-Key'],
    [
      '[{ header: [] }, { query: [], app: [] }]',
      'a key in header X-API-Key, or a key in query api_key and the app id in header X-APP-ID',
    ],
    ['[{ bearer: [] }, {}]', 'a key as bearer token, or no key'],
    ['[{ basic: [] }, { tls: [] }]', 'a key as password of basic authentication'],
    ['[{ tls: [] }]', 'cannot be called: none of its security alternatives is supported'],
  ];
  for (const [security, words] of securities) {
    it(`puts security ${security} into words`, () => {
      const { subscribes } = report(
        `paths: { /a: { post: { security: ${security}, callbacks: { e: { 'http://x/': { post: {} } } } } } }${schemes}`,
      );
      assert.equal(subscribes[0]?.security, words);
    });
  }

  const keys: [string, string][] = [
    ['http://fixed/a', 'POST to http://fixed/a'],
    ['http://fixed/{$request.path.id}', 'POST to http://fixed/ + path parameter id'],
    ['{$url}', 'POST to the URL of the request'],
    ['{$request.body}', 'POST to the URL in the request body'],
    ['{$request.header.X-Url}', 'POST to the URL in header x-url'],
    ['{$response.body#/href}', 'POST to the URL in the response at /href'],
    ['{$response.header.Location}', "POST to the URL in the answer's header location"],
    [
      '{$request.query.u}?m={$method}&s={$statusCode}&e={$request.path.eventType}',
      'POST to the URL in query parameter u + ?m= + the method of the callback + &s= + ' +
        'the response status + &e= + the name of the event',
    ],
  ];
  for (const [key, words] of keys) {
    it(`puts the key ${key} into words`, () => {
      const [callback] = callbacksOf(
        report(`paths: { /a: { post: { callbacks: { e: { '${key}': { post: {} } } } } } }`),
      );
      assert.equal(callback?.does, words);
    });
  }

  it('knows the variants of our own document', async () => {
    const file = join(import.meta.dirname, '..', '..', '..', 'openapi.yaml');
    const made = makeReport(await loadContract(file), file);
    assert.deepEqual(made.cannotRun, []);
    assert.deepEqual(made.warnings, []);
    assert.deepEqual(
      made.subscribes[0]?.variants.map(({ name, needs, needsAny, status }) => [
        name,
        needs.length,
        needsAny.length,
        status,
      ]),
      [
        ['body', 1, 0, 201],
        ['query', 2, 0, 201],
        ['multi', 0, 3, 200],
      ],
    );
    assert.equal(made.subscribes[0]?.scope, 'subscribe');
  });
});

const corpus = join(import.meta.dirname, '..', '..', '..', '..', 'shared', 'corpus', 'openapi');
const skip = existsSync(corpus) ? false : `there is no corpus at ${corpus}`;
const files = skip === false ? globSync('**/*.{yaml,yml,json}', { cwd: corpus }).toSorted() : [];

/** Operations with callbacks, callbacks, those of them that can resolve, repairs. */
type Counts = readonly [number, number, number, number];

/** By the end of the path. None needs a repair; other documents do (repair.test.ts). */
const expected: Readonly<Record<string, Counts>> = {
  '1.0.0/openapi.yaml': [1, 1, 0, 0],
  '1.0.1/openapi.yaml': [1, 1, 0, 0],
  'v1/openapi.yaml': [1, 1, 0, 0],
  'v2019-01-07/openapi.yaml': [1, 7, 7, 0],
  'example3_from_._New_callbacks.md.yaml': [1, 3, 0, 0],
  'example2_from_._New_callbacks.md.yaml': [1, 1, 1, 0],
  'dispatch.yml': [1, 2, 0, 0],
  'voice.v2.yml': [1, 1, 1, 0],
  'callback-example.yaml': [1, 1, 1, 0],
  'tictactoe.yaml': [1, 1, 1, 0],
  'callbacks.yaml': [1, 2, 2, 0],
  'openapi-v3.yaml': [2, 2, 2, 0],
  'all_security_schemes.yaml': [1, 1, 0, 0],
  'carrier-billing.yaml': [2, 2, 2, 0],
  'quality-on-demand.yaml': [1, 1, 1, 0],
  'webrtc-events.yaml': [1, 1, 1, 0],
  'UserRegistration-callbacks-openapi.yaml': [1, 3, 3, 0],
  'callbacks.json': [1, 1, 1, 0],
  'payment-service.oas3.yaml': [1, 1, 1, 0],
  'sample-api.yaml': [1, 1, 0, 0],
  'swagger.yaml': [1, 1, 1, 0],
  'all-components.yaml': [3, 3, 1, 0],
  'root.yaml': [1, 0, 0, 0],
  '4867.yaml': [1, 1, 0, 0],
  'callbacks.openapi.yaml': [1, 1, 0, 0],
};

describe('makeReport over the corpus', { skip }, () => {
  for (const file of files) {
    it(file, async (context) => {
      const contract = await contractOf(join(corpus, file));
      if (contract === undefined) return context.diagnostic('is refused');
      const made = makeReport(contract, file);
      const callbacks = callbacksOf(made);
      const path = file.split(sep).join('/');
      const row = Object.entries(expected).find(([end]) => `/${path}`.endsWith(`/${end}`))?.[1];
      assert.deepEqual(
        [
          made.subscribes.length,
          callbacks.length,
          callbacks.filter(({ inactive }) => inactive === undefined).length,
          callbacks.flatMap(({ repairs }) => repairs).length,
        ],
        row ?? [0, 0, 0, 0],
      );
      for (const { name, payload } of made.events) {
        assert.ok(payload.kind === 'sample', `${name}: ${JSON.stringify(payload)}`);
        assert.deepEqual(checkPayload(contract, name, payload.value).faults, []);
      }
    });
  }
});

/** Undefined if it does not load: corpus.test.ts lists the documents that may not. */
async function contractOf(file: string): Promise<Contract | undefined> {
  try {
    return await loadContract(file);
  } catch (error) {
    assert.ok(error instanceof ContractError);
    return undefined;
  }
}
