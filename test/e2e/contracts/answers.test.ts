// Responses of subscribe operations in foreign documents, and every way to end the subscription.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Answer } from '../../api/harness.ts';
import { receive } from '../receiver.ts';
import { quiet } from '../stage.ts';
import { documentOf, serve } from './stage.ts';

const hook = 'http://127.0.0.1:9000/hook';
const body = `requestBody:
      required: true
      content:
        application/json:
          schema:
            type: object
            required: [url]
            properties: { url: { type: string }, name: { type: string }, token: { type: string } }`;
const callbacks = `callbacks:
      happened:
        '{$request.body#/url}': { post: { responses: { '200': { description: ok } } } }`;

describe('the response of a subscribe operation', () => {
  it('has the 2xx status for created, the declared fields and an id', async () => {
    await using service = await serve(
      documentOf(`
/hooks:
  post:
    ${body}
    responses:
      default: { description: wrong }
      '200': { description: known }
      '202': { description: later }
      '201':
        description: made
        content:
          application/json:
            schema:
              type: object
              properties:
                name: { type: string }
                token: { type: string, writeOnly: true }
                hook_id: { type: string }
                created: { type: string }
    ${callbacks}
`),
    );
    const given = { url: hook, name: 'mine', token: 't', other: 1 };
    const { answer } = await service.subscribe({ path: '/hooks', body: given });
    const { subscriberId } = answer.json;
    assert.match(String(subscriberId), /^sub_[0-9a-z]{26}$/);
    assert.deepEqual(answer.json, { name: 'mine', subscriberId });
    assert.equal(answer.headers.get('location'), null);
  });

  it('has the id only where the link reads it', async () => {
    await using service = await serve(
      documentOf(`
/hooks:
  post:
    ${body}
    responses:
      '200':
        description: made
        content:
          application/json:
            schema: { type: object, properties: { data: { type: object }, url: { type: string } } }
        links:
          end:
            operationId: endHook
            parameters: { hook: '$response.body#/data/hook/key' }
    ${callbacks}
/hooks/end:
  post:
    operationId: endHook
    parameters: [{ name: hook, in: query, required: true, schema: { type: string } }]
    responses: { '202': { description: over } }
`),
    );
    const { answer } = await service.subscribe({
      path: '/hooks',
      body: { url: hook },
      status: 200,
    });
    const { data } = answer.json as { data: { hook: { key: string } } };
    const id = data.hook.key;
    assert.deepEqual(answer.json, { url: hook, data: { hook: { key: id } } });
    const end = await service.call({ method: 'POST', path: `/hooks/end?hook=${id}` });
    assert.deepEqual([end.status, end.json], [202, { subscriberId: id }]);
    assert.equal(await service.stateOf(id), 'ended');
  });

  it('is 204 without a body, and Location names the subscription', async () => {
    await using service = await serve(
      documentOf(
        `
/teams/{team}/hooks:
  parameters: [{ name: team, in: path, required: true, schema: { type: string } }]
  post:
    ${body}
    responses: { '204': { description: made } }
    ${callbacks}
/teams/{team}/hooks/{hook}:
  parameters:
    - { name: team, in: path, required: true, schema: { type: string } }
    - { name: hook, in: path, required: true, schema: { type: string, format: uuid } }
  delete: { responses: { '204': { description: gone } } }
`,
        'servers: [{ url: "https://{host}/{base}", variables: { host: { default: a.example }, base: { default: v3 } } }]',
      ),
    );
    const answer = await service.call({
      method: 'POST',
      path: '/v3/teams/r%26d/hooks',
      body: { url: hook },
    });
    assert.deepEqual([answer.status, answer.text], [204, '']);
    const location = answer.headers.get('location') ?? '';
    assert.match(location, /^\/v3\/teams\/r%26d\/hooks\/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/);
    const id = location.split('/').at(-1) ?? '';
    assert.equal(await service.stateOf(id), 'active');
    assert.equal((await service.call({ method: 'DELETE', path: location })).status, 204);
    assert.equal(await service.stateOf(id), 'ended');
  });

  it('has what its schema requires and determines, and nothing that it forbids', async () => {
    await using service = await serve(
      documentOf(`
/hooks:
  post:
    parameters: [{ name: X-Trace, in: header, schema: { type: string } }]
    ${body}
    responses:
      '201':
        description: made
        headers:
          Location: { required: true, schema: { type: string, format: uri } }
          X-Trace: { schema: { type: string } }
        content:
          application/json:
            schema:
              type: object
              additionalProperties: false
              required: [data, url, note]
              properties:
                url: { type: string }
                note: { type: string, nullable: true }
                data:
                  type: object
                  required: [type, id, state, url]
                  properties:
                    type: { type: string, enum: [hook] }
                    id: { type: string }
                    state: { type: string, enum: [on, off], default: on }
                    url: { type: string }
    ${callbacks}
/hooks/{id}:
  parameters: [{ name: id, in: path, required: true, schema: { type: string } }]
  delete: { responses: { '204': { description: gone } } }
`),
    );
    const { answer } = await service.subscribe({
      path: '/hooks',
      body: { url: hook },
      headers: { 'x-trace': 't-1' },
    });
    const { data } = answer.json as { data: { id: string } };
    assert.match(data.id, /^sub_/);
    const state = { type: 'hook', id: data.id, state: 'on', url: hook };
    assert.deepEqual(answer.json, { url: hook, note: null, data: state });
    assert.equal(answer.headers.get('x-trace'), 't-1');
    const location = new URL(answer.headers.get('location') ?? '');
    assert.equal(location.pathname, `/hooks/${data.id}`);
  });

  it('follows the branch of the schema that the request matches', async () => {
    const branch = (kind: string, more: string): string => `
                - type: object
                  additionalProperties: false
                  required: [id, kind, url]
                  properties: { id: {}, kind: { enum: [${kind}] }, url: { ${more} } }`;
    await using service = await serve(
      documentOf(`
/hooks:
  post:
    ${body}
    responses:
      '201':
        description: made
        content:
          application/json:
            schema:
              oneOf:${branch('short', 'maxLength: 5')}${branch('long', 'minLength: 6')}
    ${callbacks}
`),
    );
    const { answer } = await service.subscribe({ path: '/hooks', body: { url: hook } });
    const { id } = answer.json;
    assert.deepEqual(answer.json, { id, kind: 'long', url: hook });
  });

  it('leaves out a field of the request that the response declares as something else', async () => {
    await using service = await serve(
      documentOf(`
/hooks:
  post:
    ${body}
    responses:
      '201':
        description: made
        content:
          application/json:
            schema:
              type: object
              required: [url]
              properties: { url: { type: string }, name: { type: object }, token: { type: string } }
    ${callbacks}
`),
    );
    const given = { url: hook, name: 'mine', token: 't' };
    const { answer, id } = await service.subscribe({ path: '/hooks', body: given });
    assert.deepEqual(answer.json, { url: hook, token: 't', subscriberId: id });
  });

  it('is that of the default response where no 2xx is declared', async () => {
    await using service = await serve(
      documentOf(`
/hooks:
  post:
    ${body}
    responses:
      default:
        description: made
        content:
          application/json:
            schema:
              type: object
              additionalProperties: false
              required: [mark, kind]
              properties: { mark: { type: string }, kind: { enum: [hook] }, name: { type: string } }
        links:
          end: { operationId: end, parameters: { mark: '$response.body#/mark' } }
    ${callbacks}
/hooks/{mark}:
  delete:
    operationId: end
    parameters: [{ name: mark, in: path, required: true, schema: { type: string } }]
    responses:
      default:
        description: gone
        content:
          application/json:
            schema:
              type: object
              additionalProperties: false
              properties: { mark: { type: string } }
`),
    );
    const given = { url: hook, name: 'mine' };
    const { answer } = await service.subscribe({ path: '/hooks', body: given });
    const { mark } = answer.json;
    assert.deepEqual(answer.json, { mark, kind: 'hook', name: 'mine' });
    const path = `/hooks/${String(mark)}`;
    const end = await service.call({ method: 'DELETE', path });
    assert.deepEqual([end.status, end.json], [200, { mark }]);
  });

  for (const [format, schema, pattern] of [
    ['a UUID', '{ type: string, format: uuid }', /^"[0-9a-f-]{36}"$/],
    ['an integer', '{ type: integer, format: int64 }', /^[1-9]\d{0,15}$/],
    ['a short integer', '{ type: integer, format: int32 }', /^[1-9]\d{0,9}$/],
  ] as const) {
    it(`has the id as ${format}, which links, callback URLs and unsubscribe accept`, async () => {
      await using service = await serve(
        documentOf(`
/hooks:
  post:
    ${body}
    responses:
      '201':
        description: made
        content: { application/json: { schema: { type: object, properties: { id: ${schema} } } } }
    callbacks:
      happened:
        '{$request.body#/url}?id={$response.body#/id}': { post: {} }
/hooks/{id}:
  parameters: [{ name: id, in: path, required: true, schema: ${schema} }]
  delete: { responses: { '204': { description: gone } } }
`),
      );
      const answer = await service.call({ method: 'POST', path: '/hooks', body: { url: hook } });
      const { id } = answer.json;
      assert.match(JSON.stringify(id), pattern);
      assert.equal(answer.headers.get('location'), `/hooks/${String(id)}`);
      assert.equal(await service.stateOf(String(id)), 'active');
      const [callback] = await service.callbacksOf(String(answer.json['subscriberId']));
      assert.equal(callback?.url, `${hook}?id=${String(id)}`);
      const end = await service.call({ method: 'DELETE', path: `/hooks/${String(id)}` });
      assert.equal(end.status, 204);
      assert.equal(await service.stateOf(String(id)), 'ended');
    });
  }

  for (const ending of ['DELETE /teams/a/hook', 'POST /teams/a/hook/release']) {
    it(`is 200 when a PUT replaces the earlier subscription, which ${ending} ends`, async () => {
      await using service = await serve(
        documentOf(`
/teams/{team}/hook:
  parameters: [{ name: team, in: path, required: true, schema: { type: string } }]
  put:
    ${body}
    responses: { '200': { description: replaced }, '201': { description: made } }
    ${callbacks}
  delete: { responses: { '204': { description: gone } } }
/teams/{team}/hook/release:
  parameters: [{ name: team, in: path, required: true, schema: { type: string } }]
  post: { responses: { '204': { description: gone } } }
`),
      );
      await using old = await receive();
      await using young = await receive();
      const put = async (team: string, url: string, status: number): Promise<string> =>
        (
          await service.subscribe({
            method: 'PUT',
            path: `/teams/${team}/hook`,
            body: { url },
            status,
          })
        ).id;
      const first = await put('a', old.url, 201);
      const other = await put('b', old.url, 201);
      assert.equal(await service.deliveries('happened'), 2);
      await quiet(service);
      const second = await put('a', young.url, 200);
      const states = [first, other, second].map(service.stateOf);
      assert.deepEqual(await Promise.all(states), ['ended', 'active', 'active']);
      assert.equal(await service.deliveries('happened', { subscriberId: second }), 1);
      await quiet(service);
      assert.equal(young.requests.length, 1);
      assert.equal(old.requests.length, 2);
      const [method = '', path = ''] = ending.split(' ');
      assert.equal((await service.call({ method, path })).status, 204);
      assert.equal(await service.stateOf(second), 'ended');
      assert.equal(await service.stateOf(other), 'active');
      assert.equal((await service.call({ method, path })).status, 404);
      await put('a', young.url, 201);
    });
  }

  it('is 200 when a PUT without its optional callback URL ends the earlier subscription', async () => {
    const json = `
        content: { application/json: { schema: { properties: { id: {}, name: {}, old: { const: true } } } } }`;
    await using service = await serve(
      documentOf(`
/job/{x}:
  parameters: [{ name: x, in: path, required: true, schema: { type: string } }]
  put:
    requestBody:
      content:
        application/json:
          schema: { required: [name], properties: { name: { type: string }, url: { type: string } } }
    responses:
      '201':
        description: made${json}
      '200':
        description: replaced${json.replace('properties', 'required: [old], properties')}
    ${callbacks}
  delete: { responses: { '204': { description: gone } } }
`),
    );
    await using receiver = await receive();
    const put = async (path: string, url?: string): Promise<[number, Record<string, unknown>]> => {
      const { status, json: answer } = await service.call({
        method: 'PUT',
        path,
        body: { name: 'n', ...(url !== undefined && { url }) },
      });
      return [status, answer];
    };
    const [, { id: first }] = await put('/job/a', receiver.url);
    const [, { id: other }] = await put('/job/b', receiver.url);
    assert.deepEqual(await put('/job/a'), [200, { name: 'n', old: true }]);
    assert.equal(await service.stateOf(String(first)), 'ended');
    assert.equal(await service.stateOf(String(other)), 'active');
    assert.equal(await service.deliveries('happened'), 1);
    assert.deepEqual(await put('/job/a'), [201, { name: 'n' }]);
    assert.equal((await service.call({ method: 'DELETE', path: '/job/a' })).status, 404);
    assert.equal((await put('/job/a', receiver.url))[0], 201);
    assert.equal(await service.deliveries('happened'), 2);
  });

  it('has the declared schema for errors', async () => {
    const failed = `
        content:
          application/json:
            schema:
              type: object
              required: [code, message]
              additionalProperties: false
              properties: { code: { type: string }, message: { type: string } }`;
    await using service = await serve(
      documentOf(`
/hooks:
  post:
    ${body}
    responses:
      '201': { description: made }
      '400':
        description: wrong${failed}
      '415':
        description: unknown${failed.replace('{ type: string }', '{ enum: [MEDIA_TYPE, UNSUPPORTED_MEDIA_TYPE] }')}
    ${callbacks}
`),
    );
    const headers = { 'content-type': 'text/plain' };
    const unknown = await service.call({ method: 'POST', path: '/hooks', headers, body: 'x' });
    assert.equal(unknown.status, 415);
    assert.match(unknown.headers.get('content-type') ?? '', /^application\/json/);
    assert.equal(unknown.json['code'], 'UNSUPPORTED_MEDIA_TYPE');
    const wrong = await service.call({ method: 'POST', path: '/hooks', body: {} });
    assert.equal(wrong.status, 400);
    assert.match(wrong.headers.get('content-type') ?? '', /^application\/json/);
    const message = 'body#/url is required';
    assert.deepEqual(wrong.json, { code: 'invalid_request', message });
    const refused = { method: 'POST', path: '/hooks', body: { url: 'mailto:me' } };
    const other = await service.call(refused);
    assert.equal(other.status, 422);
    assert.match(other.headers.get('content-type') ?? '', /^application\/problem\+json/);
  });

  it('has the problem document for errors whose declared schema has no place for the reason', async () => {
    const schema = `{ type: object, properties: { detail: { type: array, items: { type: object } } } }`;
    await using service = await serve(
      documentOf(`
/hooks:
  post:
    ${body}
    responses:
      '201': { description: made }
      '422': { description: wrong, content: { application/json: { schema: ${schema} } } }
    ${callbacks}
`),
    );
    const wrong = await service.call({ method: 'POST', path: '/hooks', body: { url: 'x:y' } });
    assert.equal(wrong.status, 422);
    assert.match(wrong.headers.get('content-type') ?? '', /^application\/problem\+json/);
    assert.match(String(wrong.json['detail']), /x:y|http/);
  });

  for (const verb of ['delete', 'cancel', 'release']) {
    it(`ends by POST …/{id}/${verb}`, async () => {
      await using service = await serve(
        documentOf(`
/teams/{team}/hooks:
  parameters: [{ name: team, in: path, required: true, schema: { type: string } }]
  post:
    ${body}
    responses: { '201': { description: made } }
    ${callbacks}
/teams/{team}/hooks/{hook}/${verb}:
  parameters:
    - { name: team, in: path, required: true, schema: { type: string } }
    - { name: hook, in: path, required: true, schema: { type: string } }
  post: { responses: { '200': { description: gone } } }
`),
      );
      const { id } = await service.subscribe({ path: '/teams/a/hooks', body: { url: hook } });
      const path = `/teams/a/hooks/${id}/${verb}`;
      assert.equal((await service.call({ method: 'POST', path })).status, 200);
      assert.equal(await service.stateOf(id), 'ended');
    });
  }

  it('has the signing secret in a property marked for it', async () => {
    await using service = await serve(
      documentOf(`
/hooks:
  post:
    ${body}
    responses:
      '201':
        description: made
        content:
          application/json:
            schema:
              type: object
              properties:
                security:
                  type: object
                  properties: { key: { type: string, x-ringback: secret } }
    ${callbacks}
`),
    );
    const { answer, id } = await service.subscribe({ path: '/hooks', body: { url: hook } });
    const { security } = answer.json as { security: { key: string } };
    const { json } = await service.call({ path: `/subscriptions/${id}/secret` });
    assert.deepEqual(security, { key: json['secret'] });
    assert.match(security.key, /^whsec_/);
  });
});

describe('the response of an unsubscribe operation', () => {
  const ending = (response: string, more = ''): string =>
    documentOf(`
/hooks:
  post:
    ${body}
    responses: { '201': { description: made } }
    ${callbacks}
/hooks/{hook}:
  delete:
    parameters: [{ name: hook, in: path, required: true, schema: { type: string${more} } }]
    responses:
      '200':
        description: gone
        content:
          ${response}
`);

  async function endOf(document: string): Promise<{ id: string; answer: Answer }> {
    await using service = await serve(document);
    const { answer: made } = await service.subscribe({ path: '/hooks', body: { url: hook } });
    const path = made.headers.get('location') ?? '';
    const answer = await service.call({ method: 'DELETE', path });
    assert.equal(answer.status, 200, answer.text);
    return { id: path.slice('/hooks/'.length), answer };
  }

  it('has what its schema requires and determines, and nothing that it forbids', async () => {
    const { id, answer } = await endOf(
      ending(`application/json:
            schema:
              type: object
              additionalProperties: false
              required: [data]
              properties:
                data:
                  type: object
                  required: [hook, state, deleted, reason]
                  properties:
                    hook: { type: string }
                    state: { type: string, enum: [ended] }
                    deleted: { type: boolean, default: true }
                    reason: { type: string, nullable: true }`),
    );
    assert.deepEqual(answer.json, {
      data: { hook: id, state: 'ended', deleted: true, reason: null },
    });
  });

  it('has the id in the form that the parameter declares', async () => {
    const { id, answer } = await endOf(
      ending(
        'application/json: { schema: { type: object, properties: { id: { type: string } } } }',
        ', format: uuid',
      ),
    );
    assert.match(id, /^[0-9a-f]{8}-/);
    assert.deepEqual(answer.json, { subscriberId: id, id });
  });

  it('has the declared JSON media type, like that of a subscribe operation', async () => {
    const vendor = 'application/vnd.hooks.v2+json';
    const { answer } = await endOf(ending(`${vendor}: { schema: { type: object } }`));
    assert.equal(answer.headers.get('content-type'), `${vendor}; charset=utf-8`);
    await using service = await serve(
      documentOf(`
/hooks:
  post:
    ${body}
    responses:
      '201': { description: made, content: { ${vendor}: { schema: { type: object } } } }
    ${callbacks}
`),
    );
    const { answer: made } = await service.subscribe({ path: '/hooks', body: { url: hook } });
    assert.equal(made.headers.get('content-type'), `${vendor}; charset=utf-8`);
  });
});

describe('a request that violates the document', () => {
  const strict = documentOf(`
/hooks/{kind}:
  post:
    parameters:
      - { name: kind, in: path, required: true, schema: { type: string, enum: [a, b] } }
      - { name: X-Level, in: header, required: true, schema: { type: integer } }
    ${body}
    responses: { '201': { description: made } }
    ${callbacks}
`);

  it('is 400 and names each field', async () => {
    await using service = await serve(strict);
    const bad = await service.call({ method: 'POST', path: '/hooks/c', body: { name: 5 } });
    assert.deepEqual([bad.status, bad.json['code']], [400, 'invalid_request']);
    const faults = bad.json['errors'] as { field: string }[];
    assert.deepEqual(faults.map(({ field }) => field).toSorted(), [
      'body#/name',
      'body#/url',
      'header.X-Level',
      'path.kind',
    ]);
    assert.deepEqual((await service.call({ path: '/subscriptions' })).json['items'], []);
  });

  it('is 405 with Allow for another method, 404 for another path', async () => {
    await using service = await serve(strict);
    const wrong = await service.call({ method: 'PUT', path: '/hooks/a' });
    assert.deepEqual([wrong.status, wrong.headers.get('allow')], [405, 'POST']);
    assert.equal((await service.call({ method: 'POST', path: '/hooks' })).status, 404);
    assert.equal((await service.call({ method: 'POST', path: '/subscribe' })).status, 404);
    assert.equal((await service.call({ method: 'POST', path: '/unsubscribe?Id=x' })).status, 404);
  });
});

/** Operations that end a subscription, with a request for each. */
const endings: Record<string, { link: string; operation: string; call: (id: string) => object }> = {
  'a DELETE that gets the id from a link': {
    link: "links: { end: { operationId: end, parameters: { id: '$response.body#/id' } } }",
    operation: `
/hooks/{id}:
  delete:
    operationId: end
    parameters: [{ name: id, in: path, required: true, schema: { type: string } }]
    responses: { '204': { description: gone } }`,
    call: (id) => ({ method: 'DELETE', path: `/hooks/${id}` }),
  },
  'a link by operationRef, with a qualified parameter name': {
    link: `links:
          end:
            operationRef: '#/paths/~1hooks~1{id}/delete'
            parameters: { path.id: '$response.body#/id' }`,
    operation: `
/hooks/{id}:
  delete:
    parameters: [{ name: id, in: path, required: true, schema: { type: string } }]
    responses: { '204': { description: gone } }`,
    call: (id) => ({ method: 'DELETE', path: `/hooks/${id}` }),
  },
  'a POST whose header takes the id': {
    link: "links: { end: { operationId: end, parameters: { X-Hook: '$response.body#/id' } } }",
    operation: `
/cancel:
  post:
    operationId: end
    parameters: [{ name: X-Hook, in: header, required: true, schema: { type: string } }]
    responses: { '204': { description: gone } }`,
    call: (id) => ({ method: 'POST', path: '/cancel', headers: { 'x-hook': id } }),
  },
  'an operation marked with x-ringback': {
    link: '',
    operation: `
/stop:
  put:
    x-ringback: unsubscribe
    parameters: [{ name: hook, in: query, required: true, schema: { type: string } }]
    responses: { '204': { description: gone } }`,
    call: (id) => ({ method: 'PUT', path: `/stop?hook=${id}` }),
  },
};

describe('unsubscribing', () => {
  for (const [way, { link, operation, call }] of Object.entries(endings)) {
    const document = documentOf(`
/hooks:
  post:
    ${body}
    responses:
      '201':
        description: made
        content:
          application/json: { schema: { type: object, properties: { id: { type: string } } } }
        ${link}
    ${callbacks}
${operation.trim()}
`);

    it(`by ${way} stops all callbacks, and can be repeated`, async () => {
      await using service = await serve(document);
      await using receiver = await receive();
      const gone = await service.subscribe({ path: '/hooks', body: { url: receiver.url } });
      const stays = await service.subscribe({ path: '/hooks', body: { url: receiver.url } });
      const id = String(gone.answer.json['id']);
      for (let times = 0; times < 2; times += 1) {
        const answer = await service.call({ path: '', ...call(id) });
        assert.deepEqual([answer.status, answer.text], [204, '']);
      }
      assert.equal(await service.stateOf(id), 'ended');
      assert.equal(await service.deliveries('happened'), 1);
      const [request] = await receiver.waitFor(1);
      assert.equal(request?.headers['ringback-subscription'], stays.answer.json['id']);
    });

    it(`by ${way} is 404 for a subscription of another app`, async () => {
      await using service = await serve(
        `${document}
security: [{ key: [] }]
components: { securitySchemes: { key: { type: apiKey, in: header, name: X-API-Key } } }
`,
      );
      const theirs = await service.newApp('them');
      const made = await theirs({ method: 'POST', path: '/hooks', body: { url: hook } });
      assert.equal(made.status, 201, made.text);
      const id = String(made.json['id']);
      for (const other of [id, 'sub_00000000000000000000000000', 'evt_x', 'nonsense']) {
        const answer = await service.call({ path: '', ...call(other) });
        assert.deepEqual([answer.status, answer.json['code']], [404, 'not_found'], other);
      }
      assert.equal((await theirs({ path: '', ...call(id) })).status, 204);
    });
  }
});
