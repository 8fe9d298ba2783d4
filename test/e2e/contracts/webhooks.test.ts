// A document with webhooks: its events are checked by their schemas, and subscribed to with Ringback's own operation.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Environment } from '../../../src/config.ts';
import { start, type Running } from '../../api/harness.ts';
import { newFolder } from '../../cli/ringback-process.ts';
import { header, receive } from '../receiver.ts';
import { get, subscribe } from '../stage.ts';

const webhooks = {
  'parcel.sent': {
    post: {
      summary: 'A parcel was handed over.',
      requestBody: {
        content: {
          'application/json': {
            schema: { type: 'object', required: ['parcel'] },
            example: { parcel: 'p_1' },
          },
        },
      },
    },
  },
  'parcel.lost': { post: { deprecated: true } },
};

const callbacks = { done: { '{$request.query.url}': { post: { responses: {} } } } };
const shop = { openapi: '3.1.0', info: { title: 'Parcels' }, webhooks };
const post = {
  parameters: [{ name: 'url', in: 'query', schema: { type: 'string' } }],
  responses: { 201: { description: 'made' } },
  callbacks,
};
const jobs = { ...shop, paths: { '/jobs': { post } } };
const subscribers = { ...shop, paths: { '/subscribe': { post } } };

async function startWith(document: object, more: Environment = {}): Promise<Running> {
  await using folder = await newFolder();
  const file = join(folder.path, 'api.json');
  await writeFile(file, JSON.stringify(document));
  return start({ env: { ...more, RINGBACK_CONTRACT: file } });
}

interface TypeView {
  event: string;
  source: string;
}

async function typesOf(service: Running, source: string): Promise<TypeView[]> {
  const { items } = await get<{ items: TypeView[] }>(service, '/event-types');
  return items.filter((one) => one.source === source);
}

describe('a document that has only webhooks', () => {
  let service: Running;
  before(async () => {
    service = await startWith(shop);
  });
  after(async () => service[Symbol.asyncDispose]());

  const publish = async (event: string, payload: unknown, contract?: string): Promise<string> => {
    const body = { event, payload, contract };
    const { status, json } = await service.call({ method: 'POST', path: '/events', body });
    const [fault] = (json['errors'] ?? []) as { field: string; message: string }[];
    return fault === undefined ? String(status) : `${status} ${fault.field} ${fault.message}`;
  };

  it('lists them', async () => {
    assert.deepEqual(await typesOf(service, 'webhook'), [
      {
        event: 'parcel.sent',
        source: 'webhook',
        description: 'A parcel was handed over.',
        state: 'active',
        callback: 'parcel.sent',
        contract: 'Parcels',
        mediaType: 'application/json',
        schema: { $ref: '#/$defs/s0', $defs: { s0: { type: 'object', required: ['parcel'] } } },
        example: { parcel: 'p_1' },
      },
      {
        event: 'parcel.lost',
        source: 'webhook',
        state: 'deprecated',
        callback: 'parcel.lost',
        contract: 'Parcels',
        mediaType: 'application/json',
      },
    ]);
  });

  it('checks their payloads, and delivers them to subscribers of POST /subscribe', async () => {
    await using receiver = await receive();
    await subscribe(service, { callbackUrl: receiver.url, event: 'parcel.sent' });
    const missing = '422 body#/payload/parcel is required (event type "parcel.sent")';
    assert.equal(await publish('parcel.sent', {}), missing);
    assert.equal(await publish('parcel.sent', {}, 'Parcels'), missing);
    assert.equal(await publish('parcel.sent', { parcel: 1 }), '202');
    assert.equal(await publish('parcel.sent', { parcel: 2 }, 'Parcels'), '202');
    assert.equal(await publish('parcel.sent', { parcel: 3 }, 'Ringback'), '202');
    const requests = await receiver.waitFor(3);
    const bodies = requests.map(({ body }) => body.toString()).toSorted();
    assert.deepEqual(bodies, ['{"parcel":1}', '{"parcel":2}', '{"parcel":3}']);
    assert.equal(header(requests[0] ?? assert.fail(), 'ringback-event'), 'parcel.sent');
    assert.equal(await publish('parcel.lost', 'any payload'), '202');
  });

  it('refuses a misspelled one, and checks the others like those of no document', async () => {
    const meant = '422 body#/event is not declared, did you mean "parcel.sent"?';
    assert.equal(await publish('parcel.snet', { parcel: 1 }), meant);
    assert.match(await publish('order.created', {}), /^422 body#\/payload\/message is required/);
    assert.equal(await publish('order.created', { message: 'm' }), '202');
  });

  it('lets apps declare other event types, but not the same', async () => {
    const put = async (name: string): Promise<number> => {
      const call = { method: 'PUT', path: `/event-types/${name}`, body: { schema: {} } };
      return (await service.call(call)).status;
    };
    assert.deepEqual([await put('parcel.sent'), await put('order.paid')], [409, 201]);
    assert.equal(await publish('order.paid', 7), '202');
    assert.match(await publish('order.piad', { message: 'm' }), /did you mean "order.paid"/);
    assert.match(await publish('parcel.sent', {}), /parcel is required/);
    assert.equal((await typesOf(service, 'declared')).length, 1);
  });
});

describe('a document of an API behind the gateway', () => {
  it('has subscribers of its webhooks below the prefix of Ringback', async () => {
    await using service = await startWith(subscribers, {
      RINGBACK_UPSTREAM: 'http://127.0.0.1:9',
    });
    await using receiver = await receive();
    const ask = async (path: string, body: object): Promise<Record<string, unknown>> =>
      (await service.call({ method: 'POST', path: `/ringback${path}`, body })).json;
    const { subscriberId } = await ask('/subscribe', { callbackUrl: receiver.url });
    assert.match(String(subscriberId), /^sub_/);
    const accepted = await ask('/events', { event: 'parcel.sent', payload: { parcel: 1 } });
    assert.equal(accepted['deliveries'], 1);
    const [request] = await receiver.waitFor(1);
    assert.equal(request?.body.toString(), '{"parcel":1}');
    const own = await service.call({ method: 'POST', path: '/subscribe' });
    assert.equal(own.status, 502, 'it is an operation of the API, which is not there');
  });
});

describe('a document with callbacks and webhooks', () => {
  it('has the events of both, and each reaches its own subscribers', async () => {
    await using service = await startWith(jobs);
    await using receiver = await receive();
    await subscribe(service, { callbackUrl: receiver.url, event: 'parcel.sent' });
    const path = `/jobs?url=${encodeURIComponent(`${receiver.url}/job`)}`;
    assert.equal((await service.call({ method: 'POST', path })).status, 201);
    const events = { done: 'any', 'parcel.sent': { parcel: 1 } };
    for (const [event, payload] of Object.entries(events)) {
      const call = { method: 'POST', path: '/events', body: { event, payload } };
      assert.equal((await service.call(call)).json['deliveries'], 1, event);
    }
    const requests = await receiver.waitFor(2);
    assert.deepEqual(requests.map(({ url }) => url).toSorted(), [
      '/hook/job',
      '/hook?event=parcel.sent',
    ]);
  });

  it('keeps its own POST /subscribe, and then warns that nobody can subscribe to webhooks', async () => {
    await using service = await startWith(subscribers);
    const { json } = await service.call({ path: '/contracts/Parcels/report' });
    assert.match(
      JSON.stringify(json['warnings']),
      /webhooks have no subscribers: POST \/subscribe/,
    );
    const put = { method: 'PUT', path: '/event-types/a', body: { schema: {} } };
    const { status, json: problem } = await service.call(put);
    assert.deepEqual([status, problem['code']], [409, 'conflict']);
  });
});
