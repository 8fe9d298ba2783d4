import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { load } from 'js-yaml';
import type { ExpressionInput } from '../expression/evaluate.ts';
import { printExpression } from '../expression/expression.ts';
import type { Link } from '../model/contract.ts';
import { compileContract } from './compile.ts';
import { evaluateLink } from './links.ts';

function compile(links: string): { links: readonly Link[]; warnings: string[] } {
  const root = load(`
openapi: 3.0.4
info: { title: T }
paths:
  /s:
    post:
      operationId: subscribe
      parameters: [{ name: q, in: query }]
      callbacks: { a: { 'https://x.example/': { post: {} } } }
      responses: { 201: { links: ${links} } }
  /s/{id}: { delete: { operationId: end, parameters: [{ name: id, in: path }] } }
components: { links: { L: { operationId: end, parameters: { id: $response.body#/id } } } }
`);
  const { operations, warnings } = compileContract({ path: 'api.yaml', root });
  const [first] = operations;
  assert.ok(first?.role.kind === 'subscribe');
  return {
    links: first.role.variants[0]?.answer?.links ?? [],
    warnings: warnings.map(({ pointer, message }) => `${pointer} ${message}`),
  };
}

function print({ name, operationId, parameters }: Link): string {
  const sources = [...parameters].map(
    ([key, source]) =>
      `${key}=${source.kind === 'constant' ? JSON.stringify(source.value) : printExpression(source)}`,
  );
  return `${name} → ${operationId} ${sources.join(' ')}`;
}

describe('compileLinks', () => {
  it('reads operationId, operationRef and references to links', () => {
    const { links, warnings } = compile(`{
      a: { $ref: '#/components/links/L' },
      b: { operationRef: '#/paths/~1s~1{id}/delete', parameters: { path.id: '{$response.body#/id}' } },
      c: { operationId: end, parameters: { id: fixed, n: 5, q: $request.query.q } } }`);
    assert.deepEqual(links.map(print), [
      'a → end id=$response.body#/id',
      'b → end id=$response.body#/id',
      'c → end id="fixed" n=5 q=$request.query.q',
    ]);
    assert.deepEqual(warnings, []);
  });

  it('drops links that lead nowhere, with a warning', () => {
    const { links, warnings } = compile(`{
      a: { operationId: gone },
      b: { operationRef: '#/paths/~1gone/get' },
      c: { operationRef: 'https://x.example/api.yaml#/paths/~1s/get' },
      d: { operationRef: '#/components/links/L' },
      e: {} }`);
    assert.deepEqual(links, []);
    assert.deepEqual(
      warnings.map((one) => one.replace(/^\S+ /, '')),
      [
        'Cannot follow the link: no operation has the operationId "gone"',
        'Cannot follow $ref "#/paths/~1gone/get": nothing exists at that location',
        'Cannot follow $ref "https://x.example/api.yaml#/paths/~1s/get": it is a network URL, and only local files are read',
        'Cannot follow the link: "#/components/links/L" is not an operation of this contract',
        'Cannot follow the link: expected operationId or operationRef',
      ],
    );
  });

  it('treats a malformed expression as literal text, with a warning', () => {
    const { links, warnings } = compile(
      "{ a: { operationId: end, parameters: { id: '$response.oops' } } }",
    );
    assert.deepEqual(links.map(print), ['a → end id="$response.oops"']);
    assert.match(
      warnings[0] ?? '',
      /Cannot read expression "\$response\.oops": character 11 is no /,
    );
  });

  it('refuses to pass on a credential', () => {
    assert.throws(
      () =>
        compile("{ a: { operationId: end, parameters: { id: '$request.header.authorization' } } }"),
      /carries a credential/,
    );
  });
});

describe('evaluateLink', () => {
  it('returns the values that resolve', () => {
    const [link] = compile(`{ a: { operationId: end, parameters: {
      id: $response.body#/id, gone: $response.body#/gone, q: $request.query.q, n: 5 } } }`).links;
    assert.ok(link);
    const nothing = { header: new Map<string, string>(), path: new Map<string, unknown>() };
    const exchange: ExpressionInput = {
      url: 'https://x.example/s',
      method: 'POST',
      request: { ...nothing, query: new Map([['q', [1]]]), body: undefined },
      response: { ...nothing, query: new Map(), body: { id: 'sub_1' } },
    };
    assert.deepEqual(
      [...evaluateLink(link, exchange)],
      [
        ['id', 'sub_1'],
        ['q', [1]],
        ['n', 5],
      ],
    );
  });
});
