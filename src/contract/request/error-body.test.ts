import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compileContract } from '../compile/compile.ts';
import type { Operation } from '../model/contract.ts';
import { composeError, errorBody } from './error-body.ts';

const facts = {
  type: '/docs#invalid_request',
  title: 'Wrong',
  status: 400,
  code: 'invalid_request',
  detail: 'url is required',
  requestId: 'req_1',
};

/** An operation that declares these responses. */
function operationWith(responses: object): Operation {
  const post = { callbacks: { a: { 'https://x.example/': { post: {} } } }, responses };
  const root = { openapi: '3.1.0', info: { title: 'T' }, paths: { '/s': { post } } };
  const [operation] = compileContract({ path: 'api.yaml', root }).operations;
  assert.ok(operation);
  return operation;
}

/** The body for a 400 of an operation that declares these responses. */
function bodyFor(responses: object): { mediaType: string; body: object } | undefined {
  const made = errorBody(operationWith(responses), facts);
  return made && { mediaType: made.mediaType, body: made.body };
}

function content(schema: object, type = 'application/json'): object {
  return { content: { [type]: { schema } } };
}

describe('errorBody', () => {
  it('leaves the problem document where it fits, or where no body is declared', () => {
    const problem = { type: 'object', required: ['title', 'status'] };
    assert.equal(bodyFor({}), undefined);
    assert.equal(bodyFor({ 400: {}, default: content({ required: ['x'] }) }), undefined);
    assert.equal(bodyFor({ 400: { content: { 'text/plain': {} } } }), undefined);
    assert.equal(bodyFor({ 400: content(problem, 'application/problem+json') }), undefined);
  });

  it('fills the declared fields, of the status, of its range or of default', () => {
    const schema = {
      type: 'object',
      additionalProperties: false,
      required: ['statusCode', 'error', 'api'],
      properties: {
        statusCode: { type: 'integer' },
        error: { type: 'object', properties: { code: { type: 'string' }, message: {} } },
        api: { const: 'hooks' },
        traceId: { type: 'string' },
        hint: { type: 'string' },
      },
    };
    const body = {
      statusCode: 400,
      error: { code: 'invalid_request', message: 'url is required' },
      traceId: 'req_1',
      api: 'hooks',
    };
    for (const status of ['400', '4XX', '4xx', 'default']) {
      assert.deepEqual(bodyFor({ [status]: content(schema) }), {
        mediaType: 'application/json',
        body,
      });
    }
    assert.equal(bodyFor({ 404: content(schema) }), undefined);
  });

  it('writes code and status as the types that are declared', () => {
    const of = (properties: object): unknown => bodyFor({ 400: content({ properties }) })?.body;
    assert.deepEqual(of({ code: { type: 'integer' }, status: { type: 'string' } }), {
      code: 400,
      status: '400',
    });
  });

  it('leaves out what the schema does not allow', () => {
    const properties = { code: { enum: ['A', 'B'] }, message: { type: 'string' } };
    const body = { message: 'url is required' };
    assert.deepEqual(bodyFor({ 400: content({ properties }) })?.body, body);
  });

  const quota = { ...facts, status: 429, code: 'quota_exceeded' };
  const enums: [string, string[], string | undefined, object][] = [
    [
      'is the code in another spelling',
      ['INVALID_REQUEST', 'BAD_REQUEST'],
      'INVALID_REQUEST',
      facts,
    ],
    ['is the name of the status', ['badRequest', 'LIMIT'], 'badRequest', facts],
    [
      'is the code of gRPC for the status',
      ['OUT_OF_RANGE', 'INVALID_ARGUMENT'],
      'INVALID_ARGUMENT',
      facts,
    ],
    ['is the number of the status', ['400', '401'], '400', facts],
    [
      'is the code rather than the status',
      ['TOO_MANY_REQUESTS', 'QUOTA_EXCEEDED'],
      'QUOTA_EXCEEDED',
      quota,
    ],
    [
      'is unknown if no member means the problem',
      ['INVALID_ARGUMENTS', 'INVALID_SINK'],
      undefined,
      facts,
    ],
    [
      'is unknown if two members name the status',
      ['BAD_REQUEST', 'INVALID_ARGUMENT'],
      undefined,
      facts,
    ],
    [
      'is unknown if two members name the code',
      ['invalid-request', 'INVALID_REQUEST'],
      undefined,
      facts,
    ],
  ];
  for (const [what, values, expected, problem] of enums) {
    it(`finds in the enum of a required code: it ${what}`, () => {
      const info = {
        type: 'object',
        required: ['code', 'message'],
        properties: { code: { type: 'string' }, message: {} },
      };
      const schema = { allOf: [info, { properties: { code: { enum: values } } }] };
      const made = errorBody(operationWith({ default: content(schema) }), { ...facts, ...problem });
      const body = { code: expected, message: 'url is required' };
      assert.deepEqual(made?.body, expected === undefined ? undefined : body);
    });
  }

  it('uses another problem document if the declared one requires more', () => {
    const schema = { required: ['code', 'kind'], properties: { code: {}, kind: { const: 'k' } } };
    const declared = content(
      { ...schema, additionalProperties: false },
      'application/problem+json',
    );
    assert.deepEqual(bodyFor({ 400: declared }), {
      mediaType: 'application/problem+json',
      body: { code: 'invalid_request', kind: 'k' },
    });
  });

  const validationErrors = { type: 'array', minItems: 1, items: { type: 'object' } };
  const misfits: [string, object, string[]][] = [
    ['says nothing', { properties: { detail: validationErrors } }, ['/detail']],
    [
      'says nothing but a constant',
      { required: ['ok'], properties: { ok: { const: 0 } } },
      ['/ok'],
    ],
    ['is a text', { type: 'string' }, ['']],
    [
      'requires a list',
      { required: ['errors'], properties: { errors: validationErrors } },
      ['/errors'],
    ],
    [
      'requires one of other codes',
      { required: ['code'], properties: { code: { enum: ['A', 'B'] }, message: {} } },
      ['/code'],
    ],
    [
      'requires what is not known',
      { required: ['message', 'path'], properties: { message: {}, path: { type: 'string' } } },
      ['/path'],
    ],
  ];
  for (const [what, schema, fields] of misfits) {
    it(`leaves the problem document if the declared body ${what}`, () => {
      const responses = { 400: content({ type: 'object', ...schema }) };
      assert.equal(bodyFor(responses), undefined);
      const made = composeError(operationWith(responses), facts);
      assert.ok(made?.kind === 'misfit');
      assert.deepEqual(
        made.faults.map(({ field }) => field),
        fields,
      );
    });
  }

  it('sends the problem as the declared type if the schema allows it, but declares no property for the reason', () => {
    const properties = { message: { type: 'integer' } };
    for (const schema of [{ type: 'object' }, { properties }]) {
      const mediaType = 'application/json';
      assert.deepEqual(bodyFor({ 400: content(schema) }), { mediaType, body: facts });
    }
  });
});
