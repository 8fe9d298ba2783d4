// Events that callbacks of foreign documents match, and payloads that the documents allow.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { header, receive, type Receiver } from '../receiver.ts';
import { quiet } from '../stage.ts';
import { documentOf, serve } from './stage.ts';

function eventsOf(receiver: Receiver): string[] {
  return receiver.requests.map((one) => `${header(one, 'ringback-event')} ${one.url}`).toSorted();
}

describe('x-ringback-event', () => {
  const patterns = documentOf(`
/watch/{kind}:
  post:
    parameters:
      - { name: kind, in: path, required: true, schema: { type: string } }
      - { name: what, in: query, schema: { type: string } }
    requestBody:
      required: true
      content: { application/json: { schema: { type: object, properties: { url: { type: string } } } } }
    responses: { '201': { description: made } }
    callbacks:
      'Plain label':
        '{$request.body#/url}/plain': { post: { responses: { '200': { description: ok } } } }
      exact:
        '{$request.body#/url}/exact':
          x-ringback-event: order.created
          post: { responses: { '200': { description: ok } } }
      prefix:
        '{$request.body#/url}/prefix':
          x-ringback-event: order.*
          post: { responses: { '200': { description: ok } } }
      all:
        '{$request.body#/url}/all':
          x-ringback-event: '*'
          post: { responses: { '200': { description: ok } } }
      made:
        '{$request.body#/url}/made':
          x-ringback-event: '{$request.path.kind}.{$request.query.what}'
          post: { responses: { '200': { description: ok } } }
`);

  it('is a name, a prefix, * or built from the request; the default is the label', async () => {
    await using service = await serve(patterns);
    await using receiver = await receive();
    const body = { url: receiver.url };
    const { id } = await service.subscribe({ path: '/watch/user?what=gone', body });
    const callbacks = await service.callbacksOf(id);
    assert.deepEqual(
      callbacks.map(({ event }) => event),
      ['Plain label', 'order.created', 'order.*', '*', 'user.gone'],
    );
    const heard: Record<string, number> = {
      'Plain label': 2,
      'order.created': 3,
      'order.item.added': 2,
      order: 1,
      'user.gone': 2,
      'user.new': 1,
    };
    for (const [event, count] of Object.entries(heard)) {
      assert.equal(await service.deliveries(event), count, event);
    }
    await quiet(service);
    assert.deepEqual(
      eventsOf(receiver).filter((one) => !one.endsWith('/all')),
      [
        'Plain%20label /hook/plain',
        'order.created /hook/exact',
        'order.created /hook/prefix',
        'order.item.added /hook/prefix',
        'user.gone /hook/made',
      ],
    );
  });

  it('is 400 if the request yields no valid event, and the error names the field', async () => {
    await using service = await serve(patterns);
    const body = { url: 'http://127.0.0.1:9000/' };
    const ask = async (path: string): Promise<unknown[]> => {
      const { status, json } = await service.call({ method: 'POST', path, body });
      const [fault] = json['errors'] as { field: string }[];
      return [status, json['code'], fault?.field];
    };
    const wanted = [400, 'invalid_request'];
    assert.deepEqual(await ask('/watch/user'), [...wanted, 'query.what']);
    assert.deepEqual(await ask(`/watch/user?what=${'x'.repeat(252)}`), [...wanted, 'path.kind']);
  });

  it('does not become a wildcard through a value of the request', async () => {
    await using service = await serve(patterns);
    const body = { url: 'http://127.0.0.1:9000/' };
    const { id } = await service.subscribe({ path: '/watch/user?what=*', body });
    const made = (await service.callbacksOf(id)).at(-1);
    assert.equal(made?.event, String.raw`user.\*`);
    assert.equal(await service.deliveries('user.gone'), 1);
    assert.equal(await service.deliveries('user.*'), 2);
  });
});

describe('a payload', () => {
  const typed = documentOf(`
/hooks:
  post:
    parameters: [{ name: url, in: query, required: true, schema: { type: string } }]
    responses: { '201': { description: made } }
    callbacks:
      paid:
        '{$request.query.url}':
          post:
            requestBody:
              content:
                application/json:
                  schema:
                    type: object
                    required: [amount]
                    properties:
                      amount: { type: number, minimum: 0, exclusiveMinimum: true }
                      note: { type: string, nullable: true }
            responses: { '200': { description: ok } }
      audit:
        '{$request.query.url}/audit':
          x-ringback-event: paid
          post:
            requestBody:
              content: { application/json: { schema: { type: object, required: [by] } } }
            responses: { '200': { description: ok } }
      free:
        '{$request.query.url}/free': { post: { responses: { '200': { description: ok } } } }
`);
  const faultsOf = (json: Record<string, unknown>, key: string): string[] =>
    (json[key] as { field: string; message: string }[]).map((one) => `${one.field} ${one.message}`);

  it('is 422 if it violates the document, with callback, pointer and rule', async () => {
    await using service = await serve(typed);
    const { status, json } = await service.publish('paid', { payload: { amount: 0, note: 5 } });
    assert.deepEqual([status, json['code']], [422, 'payload_refused']);
    assert.deepEqual(faultsOf(json, 'errors'), [
      'body#/payload/amount must be more than 0, is 0 (callback "paid")',
      'body#/payload/note must be a string or null, is a number (callback "paid")',
      'body#/payload/by is required (callback "audit")',
    ]);
    assert.deepEqual((await service.call({ path: '/events' })).json['items'], []);
  });

  it('in a batch is named by its index, and nothing of the batch is accepted', async () => {
    await using service = await serve(typed);
    const events = [
      { event: 'free', payload: 'anything' },
      { event: 'paid', payload: { amount: 0 } },
    ];
    const path = '/events/batch';
    const { status, json } = await service.call({ method: 'POST', path, body: { events } });
    assert.equal(status, 422);
    assert.deepEqual(faultsOf(json, 'errors'), [
      'body#/events/1/payload/amount must be more than 0, is 0 (callback "paid")',
      'body#/events/1/payload/by is required (callback "audit")',
    ]);
    assert.deepEqual((await service.call({ path: '/events' })).json['items'], []);
  });

  it('may be any JSON without a schema, and need not match a subscription', async () => {
    await using service = await serve(typed);
    await using receiver = await receive();
    await service.subscribe({ path: `/hooks?url=${receiver.url}` });
    for (const payload of ['text', 7, null, [1], {}]) {
      assert.equal(await service.deliveries('free', { payload }), 1);
    }
    const requests = await receiver.waitFor(5);
    const bodies = requests.map(({ body }) => body.toString()).toSorted();
    assert.deepEqual(bodies, ['"text"', '7', '[1]', 'null', '{}']);
    assert.equal(await service.deliveries('unheard.of', { payload: 1 }), 0);
  });

  it('is accepted with warnings in lenient mode, and arrives unchanged', async () => {
    await using service = await serve(typed, { env: { RINGBACK_LENIENT: 'on' } });
    await using receiver = await receive();
    await service.subscribe({ path: `/hooks?url=${receiver.url}` });
    const { status, json } = await service.publish('paid', { payload: { amount: -1 } });
    assert.deepEqual([status, json['deliveries']], [202, 2]);
    assert.deepEqual(faultsOf(json, 'warnings'), [
      'body#/payload/amount must be more than 0, is -1 (callback "paid")',
      'body#/payload/by is required (callback "audit")',
    ]);
    const [request] = await receiver.waitFor(2);
    assert.equal(request?.body.toString(), '{"amount":-1}');
    const fine = await service.publish('paid', { payload: { amount: 1, by: 'me' } });
    assert.equal('warnings' in fine.json, false);
  });
});

describe("Ringback's own events", () => {
  it('cannot be published, and * does not match them', async () => {
    await using service = await serve(
      documentOf(`
/hooks:
  post:
    parameters: [{ name: url, in: query, required: true, schema: { type: string } }]
    responses: { '201': { description: made } }
    callbacks:
      all:
        '{$request.query.url}':
          x-ringback-event: '*'
          post: { responses: { '200': { description: ok } } }
`),
    );
    await using receiver = await receive();
    const { id } = await service.subscribe({ path: `/hooks?url=${receiver.url}` });
    assert.equal((await service.publish('ringback.ping')).status, 400);
    const ping = await service.call({ method: 'POST', path: `/subscriptions/${id}/ping` });
    assert.deepEqual([ping.status, ping.json['deliveries']], [202, 1]);
    const [request] = await receiver.waitFor(1);
    assert(request);
    assert.equal(header(request, 'ringback-event'), 'ringback.ping');
  });
});
