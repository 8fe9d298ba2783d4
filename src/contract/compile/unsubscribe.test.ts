import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { load } from 'js-yaml';
import { compileContract } from './compile.ts';

/** The operations below `/s/{id}`, and links to them in the subscribe response. */
function compile(paths: string, links: string): { roles: string[]; warnings: string[] } {
  const root = load(`
openapi: 3.0.4
info: { title: T }
paths:
  /s:
    post:
      operationId: subscribe
      callbacks: { a: { 'https://x.example/': { post: {} } } }
      responses: { 201: { links: ${links} } }
  ${paths.trim().replaceAll('\n', '\n  ')}
`);
  const { operations, warnings } = compileContract({ path: 'api.yaml', root });
  return {
    roles: operations.map(({ operationId, role }) =>
      role.kind === 'unsubscribe'
        ? `${operationId}: ${role.kind} by ${role.id?.in ?? ''} ${role.id?.name ?? role.resource ?? ''}, ${role.answer?.status}`
        : `${operationId}: ${role.kind}`,
    ),
    warnings: warnings.map(({ message }) => message),
  };
}

const path = 'parameters: [{ name: id, in: path }]';
const takesId = "parameters: { id: '$response.body#/id' }";

describe('findUnsubscribes', () => {
  it('finds operations that a link passes the id to, but never those that read or change', () => {
    const { roles } = compile(
      `/s/{id}: { ${path}, get: { operationId: show }, patch: { operationId: edit }, put: { operationId: replace }, delete: { operationId: end, responses: { 204: {} } } }
/s/{id}/ping: { ${path}, post: { operationId: ping } }`,
      `{ a: { operationId: show, ${takesId} }, b: { operationId: edit, ${takesId} }, c: { operationId: ping, ${takesId} },
         d: { operationId: end, ${takesId} }, e: { operationId: replace, ${takesId} } }`,
    );
    assert.deepEqual(roles, [
      'subscribe: subscribe',
      'show: managed',
      'replace: managed',
      'end: unsubscribe by path id, 204',
      'edit: managed',
      'ping: managed',
    ]);
  });

  it('accepts a POST by its name, or if no other operation can be meant', () => {
    const paths = `/u: { post: { operationId: op, parameters: [{ name: a, in: query }, { name: id, in: query }] } }`;
    assert.deepEqual(
      compile(paths, `{ a: { operationId: op, ${takesId} } }`).roles[1],
      'op: unsubscribe by query id, 200',
    );
    const two = `${paths}\n/v: { post: { operationId: cancelIt, parameters: [{ name: id, in: query }] } }`;
    assert.deepEqual(
      compile(
        two,
        `{ a: { operationId: op, ${takesId} }, b: { operationId: cancelIt, ${takesId} } }`,
      ).roles.slice(1),
      ['op: managed', 'cancelIt: unsubscribe by query id, 200'],
    );
  });

  it('never accepts a GET, whatever its name', () => {
    const paths = `/s/{id}: { ${path}, get: { operationId: cancelled } }`;
    assert.equal(
      compile(paths, `{ a: { operationId: cancelled, ${takesId} } }`).roles[1],
      'cancelled: managed',
    );
    const show = `/s/{id}: { ${path}, get: { operationId: show } }`;
    assert.equal(
      compile(show, `{ a: { operationId: show, ${takesId} } }`).roles[1],
      'show: managed',
    );
  });

  it('needs a link that passes on a part of the response', () => {
    const paths = `/t/{id}: { ${path}, delete: { operationId: end } }`;
    for (const parameters of [
      '{}',
      '{ id: fixed }',
      '{ id: $request.query.id }',
      '{ id: $response.body }',
    ]) {
      const { roles } = compile(paths, `{ a: { operationId: end, parameters: ${parameters} } }`);
      assert.equal(roles[1], 'end: managed', parameters);
    }
  });

  it('accepts the DELETE of the path in Location, without a link', () => {
    const below = `/s/{id}: { ${path}, get: { operationId: show }, put: { operationId: edit }, delete: { operationId: end } }
/s/{id}/x: { ${path}, delete: { operationId: x } }
/t/{id}: { ${path}, delete: { operationId: t } }`;
    assert.deepEqual(compile(below, '{}').roles, [
      'subscribe: subscribe',
      'show: managed',
      'edit: managed',
      'end: unsubscribe by path id, 200',
      'x: managed',
      't: managed',
    ]);
  });

  it('does not check the id against a schema that no id of ours matches, with a warning', () => {
    const typed = (schema: string): { roles: string[]; warnings: string[] } =>
      compile(
        `/s/{id}: { delete: { operationId: end, parameters: [{ name: id, in: path, schema: ${schema} }] } }`,
        '{}',
      );
    const fitting = [
      '{ type: string }',
      '{}',
      '{ type: integer }',
      '{ type: string, format: uuid }',
    ];
    for (const schema of [...fitting, '{ type: string, maxLength: 64 }']) {
      assert.deepEqual(typed(schema).warnings, [], schema);
    }
    for (const schema of ['{ type: integer, maximum: 99 }', '{ type: string, maxLength: 8 }']) {
      assert.match(typed(schema).warnings.join(), /"id" is the subscriber id.*not validated/);
    }
  });

  it('responds with the lowest 2xx that means completed', () => {
    const status = (...declared: number[]): string | undefined => {
      const responses = declared.map((one) => `${one}: {}`).join(', ');
      const end = `delete: { operationId: end, responses: { ${responses} } }`;
      return compile(`/s/{id}: { ${path}, ${end} }`, '{}').roles[1];
    };
    assert.match(status(202, 204) ?? '', / 204$/);
    assert.match(status(204, 200, 202) ?? '', / 200$/);
    assert.match(status(202) ?? '', / 202$/);
    assert.match(status(404) ?? '', / 200$/);
  });

  it('finds marked operations, with their only path or query parameter', () => {
    const marked = (parameters: string): string | undefined =>
      compile(
        `/e/{id}: { post: { operationId: e, x-ringback: unsubscribe, parameters: [${parameters}] } }`,
        '{}',
      ).roles[1];
    assert.equal(
      marked('{ name: id, in: path }, { name: a, in: query }'),
      'e: unsubscribe by path id, 200',
    );
    assert.equal(
      marked('{ name: b, in: path }, { name: id, in: path }'),
      'e: unsubscribe by path id, 200',
      'the one at the end of the path',
    );
    assert.equal(marked('{ name: a, in: query }'), 'e: unsubscribe by query a, 200');
    assert.throws(() => marked('{ name: a, in: query }, { name: b, in: query }'), {
      name: 'ContractError',
      pointer: '#/paths/~1e~1{id}/post',
      message: /expected one path parameter.* or one query parameter/,
    });
  });

  it('warns when a link names a parameter that the operation does not have', () => {
    const { roles, warnings } = compile(
      '/u: { delete: { operationId: end } }',
      `{ a: { operationId: end, ${takesId} } }`,
    );
    assert.equal(roles[1], 'end: managed');
    assert.deepEqual(warnings, [
      'a link passes the subscriber id to it, but it declares no such parameter',
    ]);
  });
});
