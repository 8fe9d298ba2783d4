import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { load } from 'js-yaml';
import type { Parameter } from './contract.ts';
import { compileParameters } from './declared-operations.ts';
import { at, openSource } from '../document/ref-node.ts';

function compile(yaml: string, path = '/x'): { parameters: Parameter[]; warnings: string[] } {
  const root = openSource({ path: 'api.yaml', root: load(yaml) });
  const [item, operation] = [at(root, 'item'), at(root, 'item', 'post')];
  assert.ok(item && operation);
  const parameters = compileParameters({ item, operation }, path);
  return {
    parameters,
    warnings: root.source.warnings.map(({ pointer, message }) => `${pointer} ${message}`),
  };
}

describe('compileParameters', () => {
  it('lets the operation replace parameters of the path, by name and location', () => {
    const { parameters } = compile(`
item:
  parameters:
    - { name: a, in: query, required: true }
    - { name: a, in: header }
  post:
    parameters: [{ name: a, in: query }, { $ref: '#/p/b' }]
p: { b: { name: b, in: cookie } }`);
    assert.deepEqual(
      parameters.map((one) => [one.in, one.name, one.required, one.style, one.explode]),
      [
        ['query', 'a', false, 'form', true],
        ['header', 'a', false, 'simple', false],
        ['cookie', 'b', false, 'form', true],
      ],
    );
  });

  it('ignores declarations of Accept, Content-Type and Authorization, as OpenAPI says', () => {
    const names = ['Accept', 'content-type', 'Authorization'];
    const list = names.map((name) => `{ name: ${name}, in: header, required: true }`).join();
    assert.deepEqual(compile(`item: { post: { parameters: [${list}] } }`), {
      parameters: [],
      warnings: [],
    });
  });

  it('leaves credentials to the security schemes', () => {
    const { parameters, warnings } = compile(`
item: { post: { parameters: [{ name: x-api-key, in: header, required: true }, { name: key, in: query }] } }
components:
  securitySchemes:
    A: { type: apiKey, in: header, name: X-API-Key }
    B: { type: apiKey, in: query, name: key }`);
    assert.deepEqual(parameters, []);
    assert.match(warnings[0] ?? '', /^#\/item\/post\/parameters\/0 is a credential/);
    assert.equal(warnings.length, 2);
  });

  it('drops parameters that cannot be read, with a warning', () => {
    const { parameters, warnings } = compile(`
item:
  parameters: { name: a, in: query }
  post: { parameters: [{ in: query }, { name: a, in: wrong }, { $ref: '#/gone' }, { name: q, in: path }] }`);
    assert.deepEqual(parameters, []);
    assert.deepEqual(
      warnings.map((one) => one.split(' ', 1)[0]),
      [
        '#/item/parameters',
        '#/item/post/parameters/0',
        '#/item/post/parameters/1',
        '#/item/post/parameters/2',
        '#/item/post/parameters/2',
        '#/item/post/parameters/3',
      ],
    );
    assert.match(warnings.at(-1) ?? '', /Cannot use path parameter "q": "\/x" does not contain it/);
  });

  it('reads `content` as JSON if it is JSON, else as text', () => {
    const { parameters } = compile(`
item: { post: { parameters: [
  { name: a, in: query, content: { application/json: { schema: { type: object } } } },
  { name: b, in: query, content: { text/plain: { schema: { type: string } } } }] } }`);
    assert.deepEqual(
      parameters.map(({ style, schema }) => [style, schema?.check(5).length]),
      [
        ['json', 1],
        ['form', 1],
      ],
    );
  });

  it('uses the default style if the declared one is not valid, with a warning', () => {
    const { parameters, warnings } = compile(
      `item: { post: { parameters: [
        { name: id, in: path, style: matrix, explode: true },
        { name: a, in: query, style: label },
        { name: b, in: query, style: odd }] } }`,
      '/x/{id}',
    );
    assert.deepEqual(
      parameters.map(({ style, explode, required }) => [style, explode, required]),
      [
        ['matrix', true, true],
        ['form', true, false],
        ['form', true, false],
      ],
    );
    assert.deepEqual(warnings, [
      '#/item/post/parameters/1 style "label" is not a style for a query; "form" is used',
      '#/item/post/parameters/2 style "odd" is unknown; "form" is used',
    ]);
  });
});
