import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { load } from 'js-yaml';
import { compileContract } from './compile.ts';
import type { Variant } from '../model/contract.ts';
import { fieldOf } from '../model/variants.ts';

function compile(variants: string, callbacks: string): readonly Variant[] {
  const root = load(`
openapi: 3.0.4
info: { title: T }
components: { securitySchemes: { K: { type: apiKey, in: query, name: api_key } } }
paths:
  /s:
    post:
      ${variants === '' ? '' : `x-ringback-variants: ${variants}`}
      parameters: [{ name: url, in: query }]
      requestBody: { content: {} }
      responses: { 202: {}, 200: {} }
      callbacks: ${callbacks}
`);
  const [operation] = compileContract({ path: 'api.yaml', root }).operations;
  assert.ok(operation?.role.kind === 'subscribe');
  return operation.role.variants;
}

const callbacks = `{
  one: { '{$request.query.url}': { x-ringback-variant: a, post: {} } },
  two: { '{$request.query.url}': { post: { x-ringback-variant: b } } },
  all: { '{$request.query.url}': { post: {} } } }`;
const plain = `{ all: { '{$request.query.url}': { post: {} } } }`;

describe('compileVariants', () => {
  it('assigns the callbacks to their variants', () => {
    const variants = compile(
      `{ a: { needs: [$request.query.url], status: 202 }, b: { needsAny: [$request.body#/x, $request.body] } }`,
      callbacks,
    );
    assert.deepEqual(
      variants.map(({ name, needs, needsAny, callbacks: list, answer }) => ({
        name,
        needs: needs.map(fieldOf),
        needsAny: needsAny.map(fieldOf),
        labels: list.map(({ label }) => label),
        status: answer?.status,
      })),
      [
        { name: 'a', needs: ['query.url'], needsAny: [], labels: ['one', 'all'], status: 202 },
        {
          name: 'b',
          needs: [],
          needsAny: ['body#/x', 'body'],
          labels: ['two', 'all'],
          status: 202,
        },
      ],
    );
  });

  it('creates one unnamed variant with all callbacks without the extension', () => {
    const [only, ...others] = compile('', plain);
    assert.deepEqual(others, []);
    assert.deepEqual([only?.name, only?.needs, only?.needsAny], ['', [], []]);
    assert.equal(only?.answer?.status, 202);
  });

  it('refuses a callback of a variant that is not declared', () => {
    assert.throws(() => compile('', callbacks), {
      name: 'ContractError',
      message: /Cannot use variant "a" at .*: it is not declared, the operation has none/,
    });
    assert.throws(
      () => compile('{ a: { needs: [$request.query.url] } }', callbacks),
      /Cannot use variant "b" at .*: it is not declared, expected a/,
    );
  });

  it('refuses variants that cannot be read', () => {
    const cases: [string, RegExp][] = [
      ['text', /Cannot read the variants at .*: found a string, expected an object/],
      ['{}', /Cannot read the variants/],
      ['{ a: text }', /Cannot read the variant at .*\/a: found a string, expected an object/],
      ['{ a: {} }', /it requires nothing, expected "needs" or "needsAny"/],
      ['{ a: { needs: $request.query.url } }', /Cannot read the needs at .*: found a string/],
      ['{ a: { needs: [url] } }', /Cannot use "url" at .*\/needs\/0: expected "\$request/],
      ['{ a: { needs: [5] } }', /Cannot use 5 at .*\/needs\/0: expected "\$request/],
      ['{ a: { needs: [$url] } }', /Cannot use "\$url"/],
      ['{ a: { needs: [$response.body] } }', /Cannot use "\$response.body"/],
      ['{ a: { needs: [$request.query.url], status: 404 } }', /it is 404, expected a 2xx/],
      ['{ a: { needs: [$request.query.api_key] } }', /carries a credential/],
    ];
    for (const [variants, message] of cases) {
      assert.throws(() => compile(variants, plain), { name: 'ContractError', message }, variants);
    }
  });
});
