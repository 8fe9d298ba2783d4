// A document in several files: every kind of reference leads to another file.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { receive } from '../receiver.ts';
import { quiet } from '../stage.ts';
import { serve } from './stage.ts';

const files = {
  'api/root.yaml': `openapi: 3.1.0
info: { title: Spread, version: '1' }
servers: [{ url: /spread }]
security: [{ key: [] }]
paths:
  /hooks: { $ref: 'paths/hooks.yaml' }
  /hooks/{hook}:
    delete:
      operationId: endHook
      parameters: [{ $ref: '../shared/parts.json#/components/parameters/Hook' }]
      responses: { '204': { description: gone } }
components:
  securitySchemes:
    key: { $ref: '../shared/parts.json#/components/securitySchemes/Key' }
  callbacks:
    Local:
      '{$request.body#/urls/local}':
        $ref: '#/components/pathItems/Called'
  pathItems:
    Called:
      x-ringback-event: local.called
      put:
        requestBody: { $ref: 'bodies.yml#/Tree' }
        responses: { '2XX': { description: ok } }
  links:
    End:
      operationId: endHook
      parameters: { hook: '$response.body#/hook' }
`,
  'api/paths/hooks.yaml': `post:
  parameters:
    - $ref: '../../shared/parts.json#/components/parameters/Trace'
  requestBody: { $ref: '../bodies.yml#/Urls' }
  responses:
    '201':
      description: made
      content:
        application/json:
          schema: { type: object, properties: { hook: { type: string } } }
      links:
        end: { $ref: '../root.yaml#/components/links/End' }
  callbacks:
    local: { $ref: '../root.yaml#/components/callbacks/Local' }
    remote: { $ref: '../../shared/parts.json#/components/callbacks/Remote' }
`,
  'api/bodies.yml': `Urls:
  required: true
  content:
    application/json:
      schema: { $ref: '#/UrlsSchema' }
UrlsSchema:
  type: object
  required: [urls]
  properties:
    urls:
      type: object
      properties: { local: { type: string }, remote: { type: string } }
Tree:
  required: true
  content:
    application/json:
      schema: { $ref: '../shared/parts.json#/components/schemas/Tree' }
`,
  'shared/parts.json': JSON.stringify({
    components: {
      securitySchemes: { Key: { type: 'apiKey', in: 'header', name: 'X-API-Key' } },
      parameters: {
        Hook: { name: 'hook', in: 'path', required: true, schema: { type: 'string' } },
        Trace: { name: 'X-Trace', in: 'header', schema: { type: 'string', default: 'none' } },
      },
      schemas: {
        Tree: {
          type: 'object',
          required: ['name'],
          properties: {
            name: { type: 'string' },
            children: { type: 'array', items: { $ref: '#/components/schemas/Tree' } },
          },
        },
      },
      callbacks: {
        Remote: {
          '{$request.body#/urls/remote}?trace={$request.header.x-trace}': {
            post: {
              requestBody: {
                content: {
                  'application/json': { schema: { $ref: '#/components/schemas/Tree' } },
                },
              },
              responses: { 200: { description: 'ok' } },
            },
          },
        },
      },
    },
  }),
};
const contracts = ['api/root.yaml'];

describe('a document in several files', () => {
  it('works as one document for subscribe, publish, callbacks and unsubscribe', async () => {
    await using service = await serve(files, { contracts });
    await using receiver = await receive();
    assert.doesNotMatch(service.logged(), /"msg":"contract"/, 'no warnings');
    const urls = { local: `${receiver.url}/local`, remote: `${receiver.url}/remote` };
    const { answer } = await service.subscribe({ path: '/spread/hooks', body: { urls } });
    const { hook } = answer.json as { hook: string };
    assert.deepEqual(answer.json, { hook });
    assert.equal(answer.headers.get('location'), `/spread/hooks/${hook}`);
    const payload = { name: 'a', children: [{ name: 'b', children: [] }] };
    assert.equal(await service.deliveries('local.called', { payload }), 1);
    assert.equal(await service.deliveries('remote', { payload }), 1);
    await quiet(service);
    assert.deepEqual(receiver.requests.map((one) => `${one.method} ${one.url}`).toSorted(), [
      'POST /hook/remote?trace=none',
      'PUT /hook/local',
    ]);
    const broken = { name: 'a', children: [{ name: 'b', children: [{ name: 5 }] }] };
    for (const event of ['local.called', 'remote']) {
      const refused = await service.publish(event, { payload: broken });
      assert.equal(refused.status, 422);
      assert.match(refused.text, /body#\/payload\/children\/0\/children\/0\/name must be a string/);
    }
    const path = `/spread/hooks/${hook}`;
    assert.equal((await service.call({ method: 'DELETE', path, key: null })).status, 401);
    assert.equal((await service.call({ method: 'DELETE', path })).status, 204);
    assert.equal(await service.deliveries('remote', { payload }), 0);
  });

  it('shows all files on its page and in its event types', async () => {
    await using service = await serve(files, { contracts });
    const { json } = await service.call({ path: '/event-types' });
    const items = json['items'] as { event: string; example: unknown }[];
    assert.deepEqual(
      items.map(({ event }) => event),
      ['local.called', 'remote'],
    );
    for (const { event, example } of items) {
      assert.equal((await service.publish(event, { payload: example })).status, 202);
    }
    const page = await service.call({ path: '/docs', key: null });
    for (const text of ['/spread/hooks', 'children', 'local.called']) {
      assert.ok(page.text.includes(text), text);
    }
  });

  it('runs despite a broken reference, and warns with its location', async () => {
    const { 'shared/parts.json': _gone, ...rest } = files;
    const root = rest['api/root.yaml'].replace('security: [{ key: [] }]\n', '');
    await using service = await serve({ ...rest, 'api/root.yaml': root }, { contracts });
    await using receiver = await receive();
    assert.match(
      service.logged(),
      /paths\/hooks\.yaml#\/post\/callbacks\/remote.*Cannot follow \$ref/,
    );
    const body = { urls: { local: receiver.url } };
    await service.subscribe({ path: '/spread/hooks', body });
    assert.equal(await service.deliveries('local.called', { payload: { any: 'thing' } }), 1);
    await receiver.waitFor(1);
  });
});
