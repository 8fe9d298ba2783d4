import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { load } from 'js-yaml';
import type { Contract } from '../model/contract.ts';
import { chooseContract } from '../request/payload.ts';
import { compileContract } from './compile.ts';

function compile(yaml: string, title = 'T'): Contract {
  const root: unknown = load(`openapi: 3.1.0\ninfo: { title: ${title} }\n${yaml}`);
  return compileContract({ path: 't.yaml', root });
}

const pets = `
webhooks:
  pet.born:
    summary: Ignored, since the operation says more.
    post:
      description: A pet hatched.
      requestBody: { $ref: '#/components/requestBodies/Pet' }
  pet.sold:
    $ref: '#/components/pathItems/Sold'
  ping: { put: {} }
components:
  requestBodies:
    Pet:
      content:
        application/json:
          schema: { $ref: '#/components/schemas/Pet' }
          example: { id: 7 }
  pathItems:
    Sold:
      description: A pet was sold.
      post: { deprecated: true, x-ringback-event: pet.gone, requestBody: { content: {
        application/json: { schema: { type: integer } } } } }
  schemas:
    Pet: { type: object, required: [id], properties: { id: { type: integer } } }
`;

describe('compileWebhooks', () => {
  it('has name, description, schema and examples of each', () => {
    const { webhooks, warnings, operations } = compile(pets);
    assert.deepEqual([warnings, operations], [[], []]);
    assert.deepEqual(
      webhooks.map(({ payload, ...webhook }) => ({ ...webhook, place: payload?.place })),
      [
        {
          event: 'pet.born',
          key: 'pet.born',
          method: 'POST',
          description: 'A pet hatched.',
          isDeprecated: false,
          mediaType: 'application/json',
          place: '#/components/schemas/Pet',
        },
        {
          event: 'pet.gone',
          key: 'pet.sold',
          method: 'POST',
          description: 'A pet was sold.',
          isDeprecated: true,
          mediaType: 'application/json',
          place: '#/components/pathItems/Sold/post/requestBody/content/application~1json/schema',
        },
        {
          event: 'ping',
          key: 'ping',
          method: 'PUT',
          description: undefined,
          isDeprecated: false,
          mediaType: 'application/json',
          place: undefined,
        },
      ],
    );
    assert.deepEqual(webhooks[0]?.payload?.described().examples, [{ id: 7 }]);
    assert.deepEqual(webhooks[0]?.payload?.check({ id: 'x' }), [
      { field: '/id', message: 'must be an integer, is a string' },
    ]);
  });

  it('leaves out, with a warning, what names no event or is not an operation', () => {
    const { webhooks, warnings } = compile(`
webhooks:
  a.*: { post: {} }
  ringback.x: { post: {} }
  empty: { description: no operation }
  twice: { post: {}, put: {} }
  other: { post: { x-ringback-event: twice } }
  x-note: text
`);
    assert.deepEqual(
      webhooks.map(({ event }) => event),
      ['twice'],
    );
    assert.deepEqual(
      warnings.map(({ pointer, message }) => `${pointer} ${message.slice(0, 30)}`),
      [
        '#/webhooks/a.* "a.*" is a pattern, expected t',
        '#/webhooks/ringback.x "ringback.x" is reserved for R',
        '#/webhooks/empty has no operation (an object); ',
        '#/webhooks/twice has several operations; only P',
        '#/webhooks/other the event "twice" has a webhoo',
      ],
    );
  });

  it('refuses a schema that is too large, when the document is loaded', () => {
    const names = Array.from({ length: 1_001 }, (_, at) => `p${at}: {}`).join(', ');
    const body = `{ content: { application/json: { schema: { properties: { ${names} } } } } }`;
    assert.throws(
      () => compile(`webhooks: { a: { post: { requestBody: ${body} } } }`),
      /properties has 1001 members/,
    );
  });
});

describe('chooseContract', () => {
  const callback = `{ '{$request.query.u}': { post: { responses: {} } } }`;
  const jobs = compile(
    `paths: { /jobs: { post: { responses: {}, callbacks: { done: ${callback}, both: ${callback} } } } }
webhooks: { pet.born: { post: {} }, both: { post: {} } }`,
    'Jobs',
  );
  const any = `{ '{$request.query.u}': { x-ringback-event: '*', post: { responses: {} } } }`;
  const builtIn = compile(
    `paths: { /subscribe: { post: { responses: {}, callbacks: { all: ${any} } } } }`,
    'Own',
  );
  const titleOf = (event: string, title?: string): string => {
    const choice = chooseContract([jobs, builtIn], { event, title, builtIn });
    return choice.kind === 'chosen' ? choice.contract.title : choice.reason;
  };

  it('is that of a callback, and our own for webhooks and events of no document', () => {
    assert.deepEqual(
      ['done', 'pet.born', 'unknown'].map((one) => titleOf(one)),
      ['Jobs', 'Own', 'Own'],
    );
    assert.match(titleOf('both'), /^callbacks of several contracts match it/);
  });

  it('is the named one, and our own for a webhook of the named one', () => {
    const named = ['done', 'pet.born', 'both'].map((event) => titleOf(event, 'Jobs'));
    assert.deepEqual(named, ['Jobs', 'Own', 'Jobs']);
    assert.deepEqual([titleOf('done', 'Own'), titleOf('both', 'Own')], ['Own', 'Own']);
  });
});
