// Tests callbacks, path items and links in unusual places: behind references, in other files, in
// circles.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { Contract } from './model/contract.ts';
import { loadContract } from './compile/load.ts';

const folder = mkdtempSync(join(tmpdir(), 'ringback-places-'));
after(() => rmSync(folder, { recursive: true }));

/** The first file is the contract. */
async function load(files: Readonly<Record<string, string>>): Promise<Contract> {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return loadContract(join(folder, Object.keys(files)[0] ?? ''), { contractRoot: folder });
}

function print({ operations }: Contract): string[] {
  return operations.flatMap(({ method, path, role }) => {
    if (role.kind !== 'subscribe') return [`${method} ${path} ${role.kind}`];
    const callbacks = role.variants.flatMap((variant) => variant.callbacks);
    return callbacks.map(({ id, target }) => `${method} ${path} ${id}${target ? '' : ' inactive'}`);
  });
}

const head = 'openapi: 3.1.0\ninfo: { title: T, version: "1" }\n';
const post = 'post: { responses: { 200: { description: ok } } }';
const url = 'parameters: [{ name: url, in: query, schema: { type: string } }]';

describe('loadContract', () => {
  it('finds callbacks, path items and links under components', async () => {
    const contract = await load({
      'components.yaml': `${head}
paths:
  /a: { $ref: '#/components/pathItems/A' }
  /a/{id}: { $ref: '#/components/pathItems/One' }
  /b: { post: { ${url}, callbacks: { $ref: '#/components/x-all' } } }
components:
  x-all: { direct: { $ref: '#/components/callbacks/Done' } }
  pathItems:
    A:
      post:
        ${url}
        callbacks:
          done: { $ref: '#/components/callbacks/Done' }
          more: { '{$request.query.url}/more': { $ref: '#/components/pathItems/Call' } }
        responses: { 201: { $ref: '#/components/responses/Made' } }
    One:
      parameters: [{ $ref: '#/components/parameters/Id' }]
      delete: { operationId: end }
    Call: { ${post} }
  parameters: { Id: { name: id, in: path, schema: { type: string } } }
  responses: { Made: { description: made, links: { end: { $ref: '#/components/links/End' } } } }
  links: { End: { operationId: end, parameters: { id: $response.body#/id } } }
  callbacks: { Done: { '{$request.query.url}': { ${post} } } }
`,
    });
    assert.deepEqual(contract.warnings, []);
    assert.deepEqual(print(contract), [
      'POST /a done {$request.query.url} POST',
      'POST /a more {$request.query.url}/more POST',
      'DELETE /a/{id} unsubscribe',
      'POST /b direct {$request.query.url} POST',
    ]);
  });

  it('finds them in other files, under odd names', async () => {
    const contract = await load({
      'files/api.yaml': `${head}
paths:
  /a: { $ref: "../common/path%20items%23ä'.yaml" }
  /b: { post: { ${url}, callbacks: { done: { $ref: 'call/back.json' } } } }
`,
      "common/path items#ä'.yaml": `post: { ${url}, callbacks: { done: { $ref: '../files/call/back.json' } } }`,
      'files/call/back.json': '{"{$request.query.url}": {"$ref": "item.yml#/x/0"}}',
      'files/call/item.yml': `x: [{ ${post} }]`,
    });
    assert.deepEqual(contract.warnings, []);
    assert.deepEqual(print(contract), [
      'POST /a done {$request.query.url} POST',
      'POST /b done {$request.query.url} POST',
    ]);
  });

  it('recognises circular refs, wherever they are', async () => {
    const contract = await load({
      'circles.yaml': `${head}
paths:
  /self: { $ref: '#/paths/~1self' }
  /pair: { $ref: '#/components/pathItems/A' }
  /file: { $ref: 'circle.yaml#/b' }
  /a:
    parameters: [{ $ref: '#/components/parameters/P' }]
    post:
      ${url}
      requestBody: { $ref: '#/components/requestBodies/B' }
      callbacks:
        round: { $ref: '#/components/callbacks/C' }
        nested: { '{$request.query.url}': { post: { callbacks: { $ref: '#/paths/~1a/post/callbacks' } } } }
      responses: { 200: { $ref: '#/components/responses/R' } }
components:
  pathItems: { A: { $ref: '#/components/pathItems/B' }, B: { $ref: '#/components/pathItems/A' } }
  parameters: { P: { $ref: '#/components/parameters/P' } }
  requestBodies: { B: { $ref: '#/components/requestBodies/B' } }
  responses: { R: { $ref: '#/components/responses/R/content' } }
  callbacks: { C: { $ref: '#/components/callbacks/C' } }
`,
      'circle.yaml': `b: { $ref: 'circles.yaml#/paths/~1file' }`,
    });
    assert.deepEqual(print(contract), ['POST /a nested {$request.query.url} POST']);
    const circles = contract.warnings.filter(({ message }) =>
      /refers back to itself/.test(message),
    );
    assert.ok(circles.length >= 6, JSON.stringify(contract.warnings, undefined, 1));
  });

  it('reads a schema that contains itself', async () => {
    const contract = await load({
      'tree.yaml': `${head}
paths:
  /a:
    post:
      ${url}
      callbacks:
        e: { '{$request.query.url}': { post: { requestBody: { content: { application/json: {
          schema: { $ref: 'node.yaml' } } } } } } }
`,
      'node.yaml':
        '{ type: object, properties: { next: { $ref: "tree-2.yaml#/x" }, n: { type: integer } } }',
      'tree-2.yaml': 'x: { $ref: node.yaml }',
    });
    const [operation] = contract.operations;
    assert.equal(operation?.role.kind, 'subscribe');
    const payload = operation.role.variants[0]?.callbacks[0]?.payload;
    assert.deepEqual(payload?.check({ next: { next: { n: 1 } } }), []);
    assert.equal(payload?.check({ next: { next: { n: 'x' } } })[0]?.field, '/next/next/n');
  });
});
