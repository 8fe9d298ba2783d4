// Operations and keys that share an event with different payload schemas: an event goes to the callbacks that its payload
// fits.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { receive, type Receiver } from '../receiver.ts';
import { quiet } from '../stage.ts';
import { documentOf, serve, type Serving } from './stage.ts';

/** Two operations with one label, and two keys of one label without names of their own. */
export const shared = documentOf(`
/orders:
  post:
    operationId: watchOrders
    parameters: [{ name: url, in: query, required: true, schema: { type: string } }]
    responses: { '201': { description: made } }
    callbacks:
      changed:
        '{$request.query.url}/order':
          post:
            requestBody:
              content: { application/json: { schema: { type: object, required: [order] } } }
            responses: { '200': { description: ok } }
/users:
  post:
    operationId: watchUsers
    parameters: [{ name: url, in: query, required: true, schema: { type: string } }]
    responses: { '201': { description: made } }
    callbacks:
      changed:
        '{$request.query.url}/user':
          post:
            requestBody:
              content: { application/json: { schema: { type: object, required: [user] } } }
            responses: { '200': { description: ok } }
/jobs:
  post:
    operationId: watchJobs
    parameters: [{ name: url, in: query, required: true, schema: { type: string } }]
    responses: { '201': { description: made } }
    callbacks:
      job:
        '{$request.query.url}/done':
          post:
            requestBody:
              content: { application/json: { schema: { type: object, required: [result] } } }
            responses: { '200': { description: ok } }
        '{$request.query.url}/failed':
          post:
            requestBody:
              content: { application/json: { schema: { type: object, required: [error] } } }
            responses: { '200': { description: ok } }
`);

async function subscribeAll(service: Serving, receiver: Receiver): Promise<void> {
  for (const path of ['/orders', '/users', '/jobs']) {
    await service.subscribe({ path: `${path}?url=${receiver.url}` });
  }
}

function paths(receiver: Receiver): string[] {
  return receiver.requests.map(({ url }) => url.replace('/hook', '')).toSorted();
}

describe('an event of several schemas', () => {
  it('goes to the callbacks of the operation, or of the key, whose schema it fits', async () => {
    await using service = await serve(shared);
    await using receiver = await receive();
    await subscribeAll(service, receiver);
    assert.equal(await service.deliveries('changed', { payload: { user: 1 } }), 1);
    assert.equal(await service.deliveries('changed', { payload: { user: 1, order: 1 } }), 2);
    assert.equal(await service.deliveries('job', { payload: { error: 'x' } }), 1);
    await quiet(service);
    assert.deepEqual(paths(receiver), ['/failed', '/order', '/user', '/user']);
  });

  it('is 422 if it fits none, with the reasons of each', async () => {
    await using service = await serve(shared);
    const { status, json } = await service.publish('changed');
    assert.deepEqual([status, json['code']], [422, 'payload_refused']);
    assert.deepEqual(
      (json['errors'] as { field: string; message: string }[]).map(
        ({ field, message }) => `${field} ${message}`,
      ),
      [
        'body#/payload/order is required (callback "changed" of watchOrders)',
        'body#/payload/user is required (callback "changed" of watchUsers)',
      ],
    );
  });

  it('skips callbacks in lenient mode, too, but none if it fits none', async () => {
    await using service = await serve(shared, { env: { RINGBACK_LENIENT: 'on' } });
    await using receiver = await receive();
    await subscribeAll(service, receiver);
    assert.equal(await service.deliveries('changed', { payload: { user: 1 } }), 1);
    assert.equal(await service.deliveries('changed'), 2);
    const broken = Array.from({ length: 40 }, () => ({ event: 'changed', payload: {} }));
    const events = [...broken, { event: 'changed', payload: { user: 1 } }];
    const { json } = await service.call({
      method: 'POST',
      path: '/events/batch',
      body: { events },
    });
    const items = json['items'] as { deliveries: number }[];
    assert.deepEqual([items[0]?.deliveries, items.at(-1)?.deliveries], [2, 1]);
  });
});
