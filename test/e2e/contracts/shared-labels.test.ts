// Operations and keys that share an event with different payload schemas: an event goes to the callbacks that its payload
// fits.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { receive, type Receiver } from '../receiver.ts';
import { quiet } from '../stage.ts';
import { documentOf, serve, sharedLabel, type Serving } from './stage.ts';

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

interface Skipped {
  count: number;
  first: { operationId: string; callback: string; reason: string }[];
}

function skippedOf(shown: object): Skipped | undefined {
  return (shown as { skippedCallbacks?: Skipped }).skippedCallbacks;
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

  it('names the skipped callbacks of two operations in the response, in a repeat and in the event', async () => {
    await using service = await serve(shared);
    await using receiver = await receive();
    await subscribeAll(service, receiver);
    const expected = {
      count: 1,
      first: [
        {
          operationId: 'watchOrders',
          callback: 'changed {$request.query.url}/order POST',
          reason: '/order is required',
        },
      ],
    };
    const body = { event: 'changed', payload: { user: 1 } };
    const headers = { 'idempotency-key': 'user-1' };
    const call = { method: 'POST', path: '/events', body, headers };
    const { eventId, ...rest } = (await service.call(call)).json;
    assert.deepEqual(rest, { deliveries: 1, skippedCallbacks: expected });
    assert.deepEqual((await service.call(call)).json, { eventId, ...rest });
    const shown = await service.call({ path: `/events/${String(eventId)}` });
    assert.deepEqual(shown.json['skippedCallbacks'], expected);
    const list = await service.call({ path: '/events' });
    assert.deepEqual((list.json['items'] as object[]).map(skippedOf), [expected]);
  });

  it('names the skipped key of a label, also if nobody has subscribed', async () => {
    await using service = await serve(shared);
    const { json } = await service.publish('job', { payload: { error: 'x' } });
    assert.equal(json['deliveries'], 0);
    assert.deepEqual(json['skippedCallbacks'], {
      count: 1,
      first: [
        {
          operationId: 'watchJobs',
          callback: 'job {$request.query.url}/done POST',
          reason: '/result is required',
        },
      ],
    });
  });

  it('names none if it fits all, and those of each event of a batch', async () => {
    await using service = await serve(shared);
    const events = [{ order: 1 }, { order: 1, user: 1 }, { user: 1 }].map((payload) => ({
      event: 'changed',
      payload,
    }));
    const { json } = await service.call({
      method: 'POST',
      path: '/events/batch',
      body: { events },
    });
    const reasons = (json['items'] as object[]).map((item) =>
      skippedOf(item)?.first.map(({ reason }) => reason),
    );
    assert.deepEqual(reasons, [['/user is required'], undefined, ['/order is required']]);
  });

  it('counts all skipped callbacks, and shows the first ones', async () => {
    const fields = Array.from({ length: 8 }, (_, at) => `field${at}`);
    await using service = await serve(sharedLabel(fields));
    const { json } = await service.publish('changed', { payload: { field7: 1 } });
    const { count, first } = skippedOf(json) ?? {};
    assert.deepEqual(
      [count, first?.map(({ operationId }) => operationId)],
      [7, fields.slice(0, 5).map((field) => `watch-${field}`)],
    );
  });

  it('is 422 if it fits none, with the reasons of each', async () => {
    await using service = await serve(shared);
    const { status, json } = await service.publish('changed');
    assert.deepEqual((await service.call({ path: '/events' })).json['items'], []);
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

  it('is 422 for an addressed subscription whose callbacks it does not fit, and names them', async () => {
    await using service = await serve(shared);
    await using receiver = await receive();
    const to = async (path: string): Promise<string> => {
      const { id } = await service.subscribe({ path: `${path}?url=${receiver.url}` });
      return id;
    };
    const [orders, jobs] = [await to('/orders'), await to('/jobs')];
    const publish = async (event: string, payload: object, subscriberId: string) =>
      service.call({ method: 'POST', path: '/events', body: { event, payload, subscriberId } });
    const { status, json } = await publish('changed', { user: 1 }, orders);
    const fault = 'body#/payload/order is required (callback "changed" of watchOrders)';
    assert.deepEqual([status, json['code']], [422, 'payload_refused']);
    assert.equal(
      json['detail'],
      `The payload fits other callbacks of event "changed", but none of ${orders}: ${fault}`,
    );
    assert.deepEqual(
      (json['errors'] as { field: string; message: string }[]).map(
        ({ field, message }) => `${field} ${message}`,
      ),
      [fault],
    );
    assert.deepEqual((await service.call({ path: '/events' })).json['items'], []);
    const events = [{ order: 1 }, { user: 1 }].map((payload) => ({ event: 'changed', payload }));
    const batch = await service.call({
      method: 'POST',
      path: '/events/batch',
      body: { events, subscriberId: orders },
    });
    const fields = (batch.json['errors'] as { field: string }[]).map(({ field }) => field);
    assert.deepEqual([batch.status, fields], [422, ['body#/events/1/payload/order']]);
    const others = [
      await publish('changed', { order: 1 }, orders),
      await publish('job', { error: 'x' }, jobs),
      await publish('changed', { user: 1 }, jobs),
    ];
    assert.deepEqual(
      others.map((one) => [one.status, one.json['deliveries']]),
      [
        [202, 1],
        [202, 1],
        [202, 0],
      ],
    );
  });

  it('warns of such a payload in lenient mode, and delivers it', async () => {
    await using service = await serve(shared, { env: { RINGBACK_LENIENT: 'on' } });
    await using receiver = await receive();
    const { id } = await service.subscribe({ path: `/orders?url=${receiver.url}` });
    const body = { event: 'changed', payload: { user: 1 }, subscriberId: id };
    const { status, json } = await service.call({ method: 'POST', path: '/events', body });
    assert.deepEqual([status, json['deliveries'], json['skippedCallbacks']], [202, 1, undefined]);
    assert.match(JSON.stringify(json['warnings']), /payload\/order".*is required.*of watchOrders/);
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
