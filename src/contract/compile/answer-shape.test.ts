import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { load } from 'js-yaml';
import { composeAnswer } from '../request/answer.ts';
import { compileContract } from './compile.ts';
import type { AnswerShape, Contract } from '../model/contract.ts';

function contract(operation: string, rest = ''): Contract {
  const root = load(`
openapi: 3.0.4
info: { title: T }
servers: [{ url: https://x.example/v1 }]
paths:
  /hooks:
    post:
      operationId: subscribe
      callbacks: { a: { 'https://x.example/': { post: {} } } }
      ${operation.trim().replaceAll('\n', '\n      ')}
  ${rest.trim().replaceAll('\n', '\n  ')}
`);
  return compileContract({ path: 'api.yaml', root });
}

function shape(operation: string, rest = ''): AnswerShape {
  const [first] = contract(operation, rest).operations;
  assert.ok(first?.role.kind === 'subscribe');
  const answer = first.role.variants[0]?.answer;
  assert.ok(answer);
  return answer;
}

function json(schema: string): string {
  return `{ content: { application/json: { schema: ${schema} } } }`;
}

describe('compileAnswer', () => {
  it('responds with the declared 2xx that means created, then accepted, then no content', () => {
    assert.equal(shape('responses: { 200: {}, 202: {}, 201: {}, 400: {} }').status, 201);
    assert.equal(shape('responses: { 200: {}, 204: {}, 202: {} }').status, 202);
    assert.equal(shape('responses: { 200: {}, 204: {} }').status, 204);
    assert.equal(shape('responses: { 203: {}, 200: {} }').status, 200);
    assert.equal(shape('responses: { 2XX: {} }').status, 200);
    assert.equal(shape('responses: { 2xx: {}, 201: {} }').status, 201);
    assert.equal(shape('responses: { default: {} }').status, 201);
    assert.equal(shape('').status, 201);
  });

  it('prefers the response with the id in its body, in Location or, best of all, in a link', () => {
    const body = json('{ properties: { id: {} } }');
    assert.equal(shape(`responses: { 200: ${body}, 201: {} }`).status, 200);
    assert.equal(shape(`responses: { 200: ${body}, 201: ${body} }`).status, 201);
    assert.equal(shape('responses: { 201: {}, 202: { headers: { location: {} } } }').status, 202);
    const link =
      "{ links: { l: { operationId: end, parameters: { id: '$response.body#/key' } } } }";
    const end = '/h/{id}: { delete: { operationId: end, parameters: [{ name: id, in: path }] } }';
    assert.equal(shape(`responses: { 200: ${link}, 201: ${body} }`, end).status, 200);
  });

  it('prefers a plain 200 to 2XX', () => {
    const responses = `responses: { 2XX: ${json('{ properties: { a: {} } }')}, 200: ${json('{ properties: { b: {} } }')} }`;
    assert.deepEqual(shape(responses).echoes, ['b']);
  });

  it('warns about a variant whose status is not declared', () => {
    const { warnings } = contract(`
x-ringback-variants: { v: { needs: [$request.body], status: 200 } }
requestBody: {}
responses: { 201: {} }`);
    assert.deepEqual(warnings, [
      {
        pointer: '#/paths/~1hooks/post',
        message: 'answers 200, which its responses do not declare',
      },
    ]);
  });

  it('echoes what the schema declares, through references and combinations', () => {
    const schema = `{ allOf: [{ properties: { a: {}, w: { writeOnly: true } } }, { oneOf: [{ properties: { b: {} } }, { anyOf: [{ properties: { c: {}, a: {} } }] }] }] }`;
    assert.deepEqual(shape(`responses: { 201: ${json(schema)} }`).echoes, ['a', 'b', 'c']);
    const circular = `responses: { 201: ${json("{ $ref: '#/paths/~1hooks/post/x-s' }")} }
x-s: { properties: { a: {} }, allOf: [{ $ref: '#/paths/~1hooks/post/x-s' }] }`;
    assert.deepEqual(shape(circular).echoes, ['a']);
    assert.deepEqual(shape('responses: { 201: { content: { text/plain: {} } } }').echoes, []);
  });

  describe('with writeOnly properties', () => {
    const request = { header: new Map(), query: new Map(), path: new Map() };
    const echoed = (answer: AnswerShape, body: unknown): unknown =>
      composeAnswer(
        { ...answer, idPointers: [] },
        { request: { ...request, body }, url: 'https://x.example/', id: '', secret: '' },
      ).body;
    const secret = '{ p: { writeOnly: true }, q: {} }';
    const value = { p: 'secret', q: 1 };
    const places: Record<string, [schema: string, body: object, wanted: object]> = {
      'in an object': [`{ a: { properties: ${secret} } }`, { a: value }, { a: { q: 1 } }],
      'in a list of lists': [
        `{ a: { items: { items: { properties: ${secret} } } } }`,
        { a: [[value, { q: 2 }]] },
        { a: [[{ q: 1 }, { q: 2 }]] },
      ],
      'through allOf, oneOf and anyOf': [
        `{ a: { allOf: [{ oneOf: [{ required: [x] }, { anyOf: [{ properties: ${secret} }] }] }, { properties: { p: {} } }] } }`,
        { a: value },
        { a: { q: 1 } },
      ],
      'as a part of the property itself': [
        '{ a: { properties: { p: { allOf: [{ type: string }, { writeOnly: true }] } } } }',
        { a: value },
        { a: { q: 1 } },
      ],
      'under any name': [
        `{ a: { additionalProperties: { properties: ${secret} } } }`,
        { a: { x: value, y: value } },
        { a: { x: { q: 1 }, y: { q: 1 } } },
      ],
      'by a reference, of a schema that refers to itself': [
        "{ a: { $ref: '#/paths/~1hooks/post/x-s' } }",
        { a: { ...value, next: { next: value } } },
        { a: { q: 1, next: { next: { q: 1 } } } },
      ],
      'at the top, by one of two declarations': [
        '{ a: {}, q: { writeOnly: true } }',
        { a: 1, q: 2 },
        { a: 1 },
      ],
    };
    const more = `x-s: { properties: { p: { writeOnly: true }, q: {}, next: { $ref: '#/paths/~1hooks/post/x-s' } } }`;
    for (const [name, [properties, body, wanted]] of Object.entries(places)) {
      it(`echoes none ${name}, whether the response or the request declares it`, () => {
        const marked = json(`{ properties: ${properties} }`);
        const plain = json('{ properties: { a: {}, q: {} } }');
        const answers = `responses: { 201: ${marked} }\n${more}`;
        assert.deepEqual(echoed(shape(answers), body), wanted);
        const requests = `requestBody: ${marked}\nresponses: { 201: ${plain} }\n${more}`;
        assert.deepEqual(echoed(shape(requests), body), wanted);
      });
    }
  });

  it('puts the id where a link reads it, preferring the link to the unsubscribe operation', () => {
    const links = `responses:
  201:
    links:
      show: { operationId: show, parameters: { id: '$response.body#/data/self' } }
      end: { operationId: end, parameters: { path.id: '$response.body#/data/id' } }`;
    const rest = `/h/{id}:
  parameters: [{ name: id, in: path }]
  get: { operationId: show }
  delete: { operationId: end }`;
    assert.deepEqual(shape(links, rest).idPointers, [['data', 'id']]);
    const only = links.replace(/\n +end: .*/, '');
    assert.deepEqual(shape(only, rest).idPointers, [['data', 'self']]);
  });

  it('puts the id into subscriberId if no link reads it, and into the id property of the schema', () => {
    assert.deepEqual(shape('').idPointers, [['subscriberId']]);
    const of = (names: string): unknown =>
      shape(`responses: { 201: ${json(`{ properties: { ${names} } }`)} }`).idPointers;
    assert.deepEqual(of('subscriberId: {}, id: {}'), [['subscriberId']]);
    assert.deepEqual(of('id: {}, subscription_id: {}'), [['subscriberId'], ['subscription_id']]);
    assert.deepEqual(of('name: {}'), [['subscriberId']]);
    const resource = '/hooks/{hookId}: { parameters: [{ name: hookId, in: path }], get: {} }';
    assert.deepEqual(
      shape(`responses: { 201: ${json('{ properties: { id: {}, hookId: {} } }')} }`, resource)
        .idPointers,
      [['subscriberId'], ['hookId']],
    );
  });

  it('reports what the schema requires but nothing determines', () => {
    const schema = `{ type: object, required: [a, b, c, id, d], properties: { a: { const: 1 }, b: { type: string }, d: { type: object, required: [e], properties: { e: {} } } } }`;
    const request = json('{ properties: { b: {} } }');
    const { warnings } = contract(
      `requestBody: ${request}\nresponses: { 201: { headers: { X-A: { required: true } }, ${json(schema).slice(1)} }`,
    );
    const place = '#/paths/~1hooks/post/responses/201';
    const body = `${place}/content/application~1json/schema`;
    assert.deepEqual(
      warnings.map(({ pointer }) => pointer),
      [body, `${body}/properties/d/properties/e`, `${place}/headers/X-A`],
    );
    assert.match(warnings[0]?.message ?? '', /requires it, but neither the request nor the schema/);
  });

  it('finds the property for the secret', () => {
    const secret = '{ x-ringback: secret }';
    const of = (schema: string): unknown =>
      shape(`responses: { 201: ${json(schema)} }`).secretPointer;
    assert.deepEqual(of(`{ properties: { a: {}, s: ${secret} } }`), ['s']);
    assert.deepEqual(of(`{ properties: { a: { properties: { s: ${secret} } } } }`), ['a', 's']);
    assert.equal(of('{ properties: { secret: {} } }'), undefined);
    const circular = `responses: { 201: ${json("{ $ref: '#/paths/~1hooks/post/x-s' }")} }
x-s: { properties: { a: { $ref: '#/paths/~1hooks/post/x-s' } } }`;
    assert.equal(shape(circular).secretPointer, undefined);
  });

  it('knows the path of the created resource, below the path of the server', () => {
    assert.equal(shape('').location, undefined);
    assert.deepEqual(shape('', '/hooks/{id}: { get: {} }').location, {
      path: '/v1/hooks/{id}',
      id: 'id',
    });
    assert.equal(shape('', '/hooks/{id}/secret: { get: {} }').location, undefined);
    assert.equal(shape('', '/hooks/all: { get: {} }').location, undefined);
    const link = `responses: { 201: { links: { l: { operationId: end, parameters: { id: '$response.body#/id' } } } } }`;
    assert.deepEqual(shape(link, '/other/{id}: { delete: { operationId: end } }').location, {
      path: '/v1/other/{id}',
      id: 'id',
    });
    assert.equal(shape(link, '/other/{no}: { delete: { operationId: end } }').location, undefined);
  });
});
