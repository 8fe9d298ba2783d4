import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fc } from '../../../test/fast-check.ts';
import { load } from 'js-yaml';
import { compileContract } from './compile.ts';
import type { Contract } from '../model/contract.ts';
import { ContractError, readDocument } from '../document/document.ts';

function compile(yaml: string): Contract {
  return compileContract({ path: '/folder/api.yaml', root: load(yaml) });
}

function paths(servers: string): string[] {
  const contract = compile(
    `{ openapi: 3.0.4, info: { title: T }, servers: ${servers}, paths: { /a: { get: {} } } }`,
  );
  return contract.operations.map(({ path }) => path);
}

describe('compileContract', () => {
  it('accepts 3.0, 3.1 and 3.2, quoted or not', () => {
    for (const version of ['3.0.4', '3.1.1', '3.2.0', "'3.0'", '3.0', '3.1', '3.0.0-rc1']) {
      assert.equal(compile(`{ openapi: ${version}, info: { title: T } }`).title, 'T');
    }
  });

  it('refuses any other version, and names it', () => {
    const cases: [string, RegExp][] = [
      ['text', /^Cannot load contract "\/folder\/api\.yaml": expected an OpenAPI document/],
      ['{}', /field "openapi" is missing, expected 3\.0, 3\.1 or 3\.2$/],
      ["{ swagger: '2.0' }", /OpenAPI version is "2\.0", expected/],
      ['{ openapi: 4.0.0 }', /version is "4\.0\.0"/],
      ['{ openapi: 3.3.0 }', /version is "3\.3\.0"/],
      ['{ openapi: { a: 3 } }', /version is \{"a":3\}/],
      ['{ openapi: 30 }', /version is 30/],
    ];
    for (const [yaml, message] of cases) {
      assert.throws(() => compile(yaml), {
        name: 'ContractError',
        message,
        file: '/folder/api.yaml',
      });
    }
  });

  it('is named after the file if the document has no title', () => {
    const { title, warnings } = compile('{ openapi: 3.0.4 }');
    assert.equal(title, 'api.yaml');
    assert.equal(warnings.length, 1);
  });

  it('takes the servers of the operation, else of its path, else of the document', () => {
    const { operations, warnings } = compile(`
openapi: 3.1.0
info: { title: T }
servers: [{ url: /root }]
paths:
  /a:
    servers: [{ url: 'https://x.example/path/' }]
    get: {}
    put: { servers: [{ url: operation/v1 }] }
    post: { servers: [] }
  /b: { get: {} }`);
    const found = operations.map(({ method, path }) => `${method} ${path}`);
    assert.deepEqual(found, ['GET /path/a', 'PUT /operation/v1/a', 'POST /path/a', 'GET /root/b']);
    assert.deepEqual(warnings, []);
  });

  it('puts the id of Location behind the server of the operation that it names', () => {
    const { operations } = compile(`
openapi: 3.1.0
info: { title: T }
paths:
  /a:
    post: { responses: { '201': {} }, callbacks: { e: { '{$request.query.u}': { post: {} } } } }
  /a/{id}:
    servers: [{ url: /other }]
    delete: { parameters: [{ name: id, in: path, required: true }] }`);
    const [{ role } = {}] = operations;
    assert(role?.kind === 'subscribe');
    assert.equal(role.variants[0]?.answer?.location?.path, '/other/a/{id}');
  });

  for (const url of ['urn:example:api', 'mailto:a@b.example', 'file:///a/b', 'http://[', '//']) {
    it(`warns of the server "${url}", and serves its paths under "/"`, () => {
      const { operations, warnings } = compile(
        `{ openapi: 3.1.0, info: { title: T }, servers: [{ url: '${url}' }], paths: { /a: { get: {} } } }`,
      );
      assert.deepEqual(
        operations.map(({ path }) => path),
        ['/a'],
      );
      assert.deepEqual(
        warnings.map(({ pointer, message }) => [
          pointer,
          /expected an http or https/.test(message),
        ]),
        [['#/servers/0', true]],
      );
    });
  }

  it('warns of a parameter in the querystring', () => {
    const { warnings } = compile(`
openapi: 3.2.0
info: { title: T }
paths:
  /a:
    get:
      parameters:
        - { name: q, in: querystring, content: { application/json: { schema: { type: object } } } }`);
    assert.equal(warnings.length, 1);
    assert.match(warnings[0]?.message ?? '', /^"in: querystring" is not executed/);
  });

  it('puts paths below the path of the first server', () => {
    assert.deepEqual(paths('[{ url: / }, { url: /b }]'), ['/a']);
    assert.deepEqual(paths('[{ url: https://x.example/v1/ }]'), ['/v1/a']);
    assert.deepEqual(paths('[{ url: v2 }]'), ['/v2/a']);
    assert.deepEqual(
      paths(
        "[{ url: '{root}/v{n}{x}', variables: { root: { default: 'https://x.example/r' }, n: { default: 3 } } }]",
      ),
      ['/r/v3/a'],
    );
    assert.deepEqual(paths("[{ url: 'http://[' }]"), ['/a']);
    assert.deepEqual(paths('[]'), ['/a']);
  });

  it('names operations that have no name, by method and path', () => {
    const { operations } = compile(
      '{ openapi: 3.0.4, servers: [{ url: /v1 }], paths: { /a: { get: {}, post: { operationId: p } } } }',
    );
    assert.deepEqual(
      operations.map(({ operationId, method, path }) => [operationId, method, path]),
      [
        ['GET /a', 'GET', '/v1/a'],
        ['p', 'POST', '/v1/a'],
      ],
    );
  });

  it('names an operation by method and path if its operationId is taken', () => {
    const { operations, warnings } = compile(
      `{ openapi: 3.0.4, info: { title: T }, servers: [{ url: /v1 }], paths: {
        /a: { get: { operationId: x } }, /b: { get: { operationId: x }, put: { operationId: x } } } }`,
    );
    assert.deepEqual(
      operations.map(({ operationId }) => operationId),
      ['x', 'GET /b', 'PUT /b'],
    );
    assert.deepEqual(warnings[0], {
      pointer: '#/paths/~1b/get',
      message:
        '#/paths/~1a/get already has the operationId "x"; this operation is named "GET /b" instead',
    });
    const taken = `{ openapi: 3.0.4, info: { title: T }, paths: {
      /a: { get: { operationId: x }, put: { operationId: GET /b } }, /b: { get: { operationId: x } } } }`;
    assert.throws(() => compile(taken), { name: 'ContractError', pointer: '#/paths/~1b/get' });
  });

  it('resolves links by a duplicate operationId to the first operation', () => {
    const { operations } = compile(`
openapi: 3.0.4
info: { title: T }
paths:
  /hooks:
    post:
      responses:
        201:
          description: made
          links: { end: { operationId: end, parameters: { id: $response.body#/id } } }
      callbacks: { e: { '{$request.query.url}': { post: { responses: {} } } } }
      parameters: [{ name: url, in: query, schema: { type: string } }]
  /hooks/{id}:
    parameters: [{ name: id, in: path, schema: { type: string } }]
    delete: { operationId: end }
  /others/{id}:
    parameters: [{ name: id, in: path, schema: { type: string } }]
    delete: { operationId: end }
`);
    assert.deepEqual(
      operations.map(({ path, role }) => `${path} ${role.kind}`),
      ['/hooks subscribe', '/hooks/{id} unsubscribe', '/others/{id} managed'],
    );
  });

  it('loads a part of other documents, with a warning', () => {
    for (const yaml of ['{ components: { schemas: {} } }', '{ info: { title: T }, shared: {} }']) {
      const { operations, warnings } = compile(yaml);
      assert.deepEqual(operations, []);
      assert.match(warnings[0]?.message ?? '', /has no field "openapi": it is part of other/);
    }
    assert.throws(() => compile('{ paths: {} }'), /field "openapi" is missing/);
    assert.throws(() => compile('{ a: 1 }'), /field "openapi" is missing/);
  });

  it('treats an operation with callbacks as subscribe, even if none of them can run', () => {
    const { operations, warnings } = compile(`
openapi: 3.0.4
info: { title: T }
paths:
  /a: { post: { callbacks: { x: { '{$url}': { postx: {} } } } } }
  /b: { post: { callbacks: {} } }
  /c: { post: { callbacks: { x-note: hi } } }
  x-note: hi
  d: { get: {} }`);
    assert.deepEqual(
      operations.map(({ role }) => role.kind),
      ['subscribe', 'managed', 'managed'],
    );
    assert.deepEqual(
      warnings.map(({ pointer, message }) => `${pointer} ${message}`),
      [
        '#/paths/d is not a path: expected "/" at its start; it is ignored',
        '#/paths/~1a/post/callbacks/x/{$url} has no operation (an object); the callback is ignored',
        '#/paths/~1a/post has no callback that can be executed',
      ],
    );
  });

  it('follows references to path items, and prefers their siblings', () => {
    const { operations } = compile(`
openapi: 3.1.0
info: { title: T }
paths: { /a: { $ref: '#/components/pathItems/A', get: { operationId: mine } } }
components: { pathItems: { A: { get: { operationId: theirs }, put: { operationId: other } } } }`);
    assert.deepEqual(
      operations.map(({ operationId }) => operationId),
      ['mine', 'other'],
    );
  });

  it('keeps the document as it was given', () => {
    const root = { openapi: '3.0.4', info: { title: 'T' } };
    assert.equal(compileContract({ path: 'a', root }).document, root);
  });
});

describe('compileContract over broken documents', () => {
  const ours = readDocument(join(import.meta.dirname, '..', '..', '..', 'openapi.yaml')).root;

  /** Every place in a document, as keys from the root. */
  function placesIn(value: unknown): string[][] {
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).flatMap(([key, inner]) => [
      [key],
      ...placesIn(inner).map((rest) => [key, ...rest]),
    ]);
  }

  function replace(value: unknown, [key, ...rest]: readonly string[], by: unknown): unknown {
    if (key === undefined) return by;
    if (typeof value !== 'object' || value === null) return value;
    const copy: Record<string, unknown> = Object.fromEntries(Object.entries(value));
    copy[key] = replace(copy[key], rest, by);
    return Array.isArray(value) ? Object.values(copy) : copy;
  }

  it('either throws a ContractError or compiles them, and never fails in another way', () => {
    const places = placesIn(ours);
    const junk = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.constantFrom(...places.slice(0, 500)).map((keys) => ({ $ref: `#/${keys.join('/')}` })),
      fc.constantFrom({ toString: 1 }, [{ toString: null }], '', [], {}, [null], '$request.body'),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...places),
        junk,
        fc.constantFrom(...places),
        junk,
        (a, x, b, y) => {
          const root = replace(replace(ours, a, x), b, y);
          try {
            for (const { parameters, body } of compileContract({ path: 'a.yaml', root })
              .operations) {
              for (const { schema } of parameters) schema?.check('x');
              for (const schema of body?.content.values() ?? []) schema?.check({});
            }
          } catch (error) {
            if (!(error instanceof ContractError)) throw error;
            assert.match(error.message, /^Cannot .*: /s);
          }
        },
      ),
      { numRuns: 50 },
    );
  });
});
