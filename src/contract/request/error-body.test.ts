import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compileContract } from '../compile/compile.ts';
import { errorBody } from './error-body.ts';

const facts = {
  type: '/docs#invalid_request',
  title: 'Wrong',
  status: 400,
  code: 'invalid_request',
  detail: 'url is required',
  requestId: 'req_1',
};

/** The body for a 400 of an operation that declares these responses. */
function bodyFor(responses: object): ReturnType<typeof errorBody> {
  const post = { callbacks: { a: { 'https://x.example/': { post: {} } } }, responses };
  const root = { openapi: '3.1.0', info: { title: 'T' }, paths: { '/s': { post } } };
  const [operation] = compileContract({ path: 'api.yaml', root }).operations;
  assert.ok(operation);
  return errorBody(operation, facts);
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
    assert.deepEqual(of({ message: { type: 'integer' } }), {});
  });

  it('leaves out what the schema does not allow', () => {
    const properties = { code: { enum: ['A', 'B'] }, message: { type: 'string' } };
    const body = { message: 'url is required' };
    assert.deepEqual(bodyFor({ 400: content({ properties }) })?.body, body);
  });

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
});
