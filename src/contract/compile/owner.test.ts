// Documents whose operations an API answers.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { load } from 'js-yaml';
import { printTemplate } from '../expression/template.ts';
import type { Contract, Owner, Subscribe, Unsubscribe } from '../model/contract.ts';
import { cannotRun } from '../report/check-contracts.ts';
import { compileContract } from './compile.ts';

/** Compiles `POST /jobs` with these responses, and these other paths. */
function compile(responses: string, paths = '', owner: Owner = 'api'): Contract {
  const root = load(`
openapi: 3.1.0
info: { title: T }
paths:
  /jobs:
    post:
      operationId: startJob
      requestBody: { content: { application/json: { schema: { properties: { url: {} } } } } }
      callbacks: { done: { '{$request.body#/url}': { post: {} } } }
      responses: ${responses}
  ${paths.trim().replaceAll('\n', '\n  ')}
`);
  return compileContract({ path: 'api.yaml', root }, { owner });
}

function subscribeIn({ operations }: Contract): Subscribe {
  const role = operations[0]?.role;
  assert(role?.kind === 'subscribe');
  return role;
}

function subjectOf(responses: string, paths = '', owner: Owner = 'api'): string | undefined {
  const { subject } = subscribeIn(compile(responses, paths, owner));
  return subject && printTemplate(subject);
}

function endsIn({ operations }: Contract): Record<string, Unsubscribe['of']> {
  return Object.fromEntries(
    operations.flatMap(({ operationId, role }) =>
      role.kind === 'unsubscribe' ? [[operationId, role.of]] : [],
    ),
  );
}

function bodyWith(...names: string[]): string {
  const properties = names.map((name) => `${name}: {}`).join(', ');
  return `{ content: { application/json: { schema: { properties: { ${properties} } } } } }`;
}

const show = `/jobs/{jobId}: { get: { operationId: showJob, parameters: [{ name: jobId, in: path }] } }`;
const linkTo = (operation: string, parameter: string, pointer: string): string =>
  `{ operationId: ${operation}, parameters: { ${parameter}: '$response.body#/${pointer}' } }`;

describe('a contract whose operations an API answers', () => {
  it('has no responses to compose, and no warnings about them', () => {
    const required =
      '{ 201: { content: { application/json: { schema: { required: [price], properties: { price: {} } } } } } }';
    const ended = '/jobs/{id}: { delete: { parameters: [{ name: id, in: path }] } }';
    const contract = compile(required, ended);
    assert.deepEqual(contract.warnings, []);
    assert.equal(subscribeIn(contract).variants[0]?.answer, undefined);
    assert.notDeepEqual(compile(required, ended, 'ringback').warnings, []);
  });

  it('accepts expressions that read the response', () => {
    const contract = compile("{ 201: { description: '' } }");
    const [callback] = subscribeIn(contract).variants[0]?.callbacks ?? [];
    assert(callback);
    for (const owner of ['api', 'ringback'] as const) {
      const root = structuredClone(contract.document);
      const text = JSON.stringify(root).replace('$request.body#/url', '$response.body#/hook');
      const other = compileContract({ path: 'a.yaml', root: JSON.parse(text) }, { owner });
      assert.equal(cannotRun(other).length, owner === 'api' ? 0 : 1);
    }
  });

  it('never sends cookies of the response to receivers', () => {
    const text = JSON.stringify(compile("{ 201: { description: '' } }").document);
    const cookie = text.replace('$request.body#/url', '$response.header.Set-Cookie');
    assert.throws(
      () => compileContract({ path: 'a.yaml', root: JSON.parse(cookie) }, { owner: 'api' }),
      /"\$response\.header\.set-cookie".*: it carries a credential/,
    );
  });

  it('knows the statuses by which the API accepts a request', () => {
    const accepts = (responses: string): readonly string[] =>
      subscribeIn(compile(responses)).accepts;
    assert.deepEqual(accepts("{ 404: {}, 202: {}, '2xx': {}, default: {}, x-a: {} }"), [
      '202',
      '2XX',
    ]);
    assert.deepEqual(accepts('{ default: {} }'), []);
  });

  it('can run whatever security it requires, because the API decides', () => {
    const closed = compile('{}');
    const root = { ...closed.document, security: [{ unknown: [] }] };
    assert.deepEqual(cannotRun(compileContract({ path: 'a.yaml', root }, { owner: 'api' })), []);
    assert.equal(cannotRun(compileContract({ path: 'a.yaml', root })).length, 1);
  });
});

describe('the subject of what an API creates', () => {
  it('is what a link hands on to the path below', () => {
    const customer =
      '/customers/{id}: { get: { operationId: customer, parameters: [{ name: id, in: path }] } }';
    const links = `{ who: ${linkTo('customer', 'id', 'owner')}, job: ${linkTo('showJob', 'jobId', 'data/no')} }`;
    const responses = `{ 201: { links: ${links} } }`;
    assert.equal(subjectOf(responses, `${show}\n${customer}`), '{$response.body#/data/no}');
    assert.equal(subjectOf(responses, `${show}\n${customer}`, 'ringback'), undefined);
  });

  it('is what a link hands on to the last parameter of a path, or to the only one', () => {
    const nested =
      '/c/{c}/jobs/{id}/log: { get: { operationId: log, parameters: [{ name: c, in: path }, { name: id, in: path }] } }';
    const both =
      "{ operationId: log, parameters: { c: '$response.body#/c', id: '$response.body#/n' } }";
    assert.equal(subjectOf(`{ 201: { links: { log: ${both} } } }`, nested), '{$response.body#/n}');
    const query = '/job: { get: { operationId: job, parameters: [{ name: no, in: query }] } }';
    const only = `{ 202: { links: { job: ${linkTo('job', 'no', 'n')} } } }`;
    assert.equal(subjectOf(only, query), '{$response.body#/n}');
  });

  it('is none, with a warning, if links read different ids', () => {
    const paths = ['a', 'b'].map(
      (name) =>
        `/${name}/{id}: { get: { operationId: ${name}, parameters: [{ name: id, in: path }] } }`,
    );
    const links = `{ a: ${linkTo('a', 'id', 'x')}, b: ${linkTo('b', 'id', 'y')} }`;
    const contract = compile(`{ 201: { links: ${links} } }`, paths.join('\n'));
    assert.equal(subscribeIn(contract).subject, undefined);
    assert.match(
      contract.warnings.map(({ message }) => message).join(),
      /read \$response\.body#\/x and \$response\.body#\/y of the response/,
    );
  });

  it('is the property that is named like the parameter of the path below, or id', () => {
    assert.equal(
      subjectOf(`{ 201: ${bodyWith('id', 'job_id')} }`, show),
      '{$response.body#/job_id}',
    );
    assert.equal(subjectOf(`{ 202: ${bodyWith('state', 'id')} }`, show), '{$response.body#/id}');
    assert.equal(subjectOf(`{ 201: ${bodyWith('state', 'orderId')} }`, show), undefined);
    assert.equal(subjectOf(`{ 201: ${bodyWith('id')} }`), undefined);
    assert.equal(subjectOf(`{ 404: ${bodyWith('id')} }`, show), undefined);
    const inside =
      '{ 201: { content: { application/json: { schema: { required: [data], properties: { data: { properties: { jobId: {} } } } } } } } }';
    assert.equal(subjectOf(inside, show), '{$response.body#/data/jobId}');
    assert.equal(subjectOf(inside.replace('[data]', '[]'), show), undefined);
  });

  it('is the declared one, if there is one', () => {
    const root = structuredClone(compile(`{ 201: ${bodyWith('id')} }`, show).document);
    const text = JSON.stringify(root).replace(
      '"operationId":"startJob"',
      '"operationId":"startJob","x-ringback-subject":"$request.body#/url"',
    );
    const contract = compileContract({ path: 'a', root: JSON.parse(text) }, { owner: 'api' });
    assert.equal(printTemplate(subscribeIn(contract).subject ?? []), '{$request.body#/url}');
  });
});

describe('the operations that end what an API created', () => {
  const id = 'parameters: [{ name: jobId, in: path, schema: { type: integer, maximum: 9 } }]';

  it('know the operations whose subscriptions they end, and keep the schema of the id', () => {
    const paths = `
/jobs/{jobId}: { ${id}, delete: { operationId: deleteJob } }
/jobs/{jobId}/cancel: { ${id}, post: { operationId: cancelJob } }
/hooks:
  put: { operationId: hook, callbacks: { a: { '{$request.query.u}': { post: {} } } } }
  delete: { operationId: unhook }`;
    const contract = compile('{ 201: {} }', paths);
    assert.deepEqual(endsIn(contract), {
      deleteJob: ['startJob'],
      cancelJob: ['startJob'],
      unhook: ['hook'],
    });
    const deletes = contract.operations.find((one) => one.operationId === 'deleteJob');
    assert(deletes?.role.kind === 'unsubscribe');
    assert.notEqual(deletes.role.id?.schema, undefined);
    assert.equal(deletes.role.answer, undefined);
  });

  it('are never a POST whose name does not say so', () => {
    const print = `/jobs/{jobId}/print: { ${id}, post: { operationId: print } }`;
    const responses = `{ 201: { links: { a: ${linkTo('print', 'jobId', 'id')} } } }`;
    assert.deepEqual(endsIn(compile(responses, print)), {});
    assert.deepEqual(endsIn(compile(responses, print, 'ringback')), { print: ['startJob'] });
  });
});
