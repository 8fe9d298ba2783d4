// How callbacks are sent and their responses interpreted, as declared in foreign documents.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { header, receive } from '../receiver.ts';
import { attempted, inState, onlyDelivery, quiet } from '../stage.ts';
import { documentOf, serve, type Serving } from './stage.ts';

const url = `parameters: [{ name: url, in: query, required: true, schema: { type: string } }]`;

/** The id of the event's only delivery. */
async function published(service: Serving, event: string, payload: unknown = {}): Promise<string> {
  const answer = await service.publish(event, { payload });
  assert.equal(answer.status, 202, answer.text);
  return onlyDelivery(service, { eventId: String(answer.json['eventId']) });
}

describe('the method of a callback', () => {
  const methods = documentOf(`
/hooks:
  post:
    ${url}
    responses: { '201': { description: made } }
    callbacks:
      state:
        '{$request.query.url}/state':
          put:
            requestBody: { content: { application/json: { schema: { type: object } } } }
            responses: { '200': { description: ok } }
          delete: { responses: { '200': { description: ok } } }
          patch: { responses: { '200': { description: ok } } }
      asked:
        '{$request.query.url}/asked':
          get: { responses: { '200': { description: ok } } }
      removed:
        '{$request.query.url}/removed':
          delete:
            requestBody: { content: { application/json: { schema: { type: object } } } }
            responses: { '200': { description: ok } }
`);

  it('is the key in the document; each of several methods is a callback of its own', async () => {
    await using service = await serve(methods);
    await using receiver = await receive();
    const { id } = await service.subscribe({ path: `/hooks?url=${receiver.url}` });
    const callbacks = await service.callbacksOf(id);
    assert.deepEqual(
      callbacks.map(({ label, method }) => `${label} ${method}`),
      ['state PUT', 'state DELETE', 'state PATCH', 'asked GET', 'removed DELETE'],
    );
    assert.equal(await service.deliveries('state', { payload: { on: true } }), 3);
    const requests = await receiver.waitFor(3);
    assert.deepEqual(
      requests.map((one) => `${one.method} ${one.url} ${one.body.toString()}`).toSorted(),
      ['DELETE /hook/state ', 'PATCH /hook/state {"on":true}', 'PUT /hook/state {"on":true}'],
    );
  });

  it('GET and DELETE carry the payload only if the document declares a body for them', async () => {
    await using service = await serve(methods);
    await using receiver = await receive();
    const { id } = await service.subscribe({ path: `/hooks?url=${receiver.url}` });
    await service.deliveries('asked', { payload: { a: 1 } });
    await service.deliveries('removed', { payload: { b: 2 } });
    const requests = await receiver.waitFor(2);
    const asked = requests.find(({ method }) => method === 'GET');
    const removed = requests.find(({ method }) => method === 'DELETE');
    assert(asked !== undefined && removed !== undefined);
    const {
      'content-type': type,
      'content-length': length,
      'transfer-encoding': way,
    } = asked.headers;
    assert.deepEqual([asked.body.length, type, length ?? '0', way], [0, undefined, '0', undefined]);
    assert.equal(removed.body.toString(), '{"b":2}');
    assert.equal(header(removed, 'content-type'), 'application/json');
    // The signature covers the bytes sent, even if there are none.
    const { json } = await service.call({ path: `/subscriptions/${id}/secret` });
    const webhook = new Webhook(String(json['secret']));
    for (const one of [asked, removed]) {
      const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
      const headers = Object.fromEntries(names.map((name) => [name, header(one, name)]));
      assert.doesNotThrow(() => webhook.verify(one.body.toString(), headers));
      assert.throws(() => webhook.verify('{"a":1}', headers), /signature/);
    }
  });
});

describe('the media type of a callback', () => {
  const events = documentOf(`
/subscriptions2:
  post:
    ${url}
    responses: { '201': { description: made } }
    callbacks:
      event:
        '{$request.query.url}':
          post:
            requestBody:
              required: true
              content:
                application/cloudevents+json:
                  schema:
                    type: object
                    required: [id, source, specversion, type]
                    properties:
                      specversion: { type: string, enum: ['1.0'] }
            responses: { '204': { description: taken } }
`);
  const payload = { specversion: '1.0', id: 'e1', source: '/things', type: 'thing.made', data: {} };

  it('is application/cloudevents+json if the document says so, and 204 is a success', async () => {
    await using service = await serve(events);
    await using receiver = await receive(() => 204);
    await service.subscribe({ path: `/subscriptions2?url=${receiver.url}` });
    const id = await published(service, 'event', payload);
    const [request] = await receiver.waitFor(1);
    assert(request);
    assert.equal(header(request, 'content-type'), 'application/cloudevents+json');
    assert.deepEqual(JSON.parse(request.body.toString()), payload);
    const { status, attempts } = await inState(service, id, 'delivered');
    assert.deepEqual([status, attempts.length, attempts[0]?.warning], [204, 1, undefined]);
  });

  it('is validated like any JSON', async () => {
    await using service = await serve(events);
    const answer = await service.publish('event', { payload: { ...payload, specversion: '2' } });
    assert.equal(answer.status, 422);
    assert.match(
      answer.text,
      /body#\/payload\/specversion must be .*1\.0.* \(callback \\"event\\"\)/,
    );
  });
});

describe("the receiver's status", () => {
  const statuses = (extension: string): string =>
    documentOf(`
/hooks:
  post:
    ${url}
    responses: { '201': { description: made } }
    callbacks:
      news:
        '{$request.query.url}':
          ${extension}
          post:
            responses:
              '200': { description: more of it }
              '204': { description: no more of it }
`);

  it('204 ends the subscription if x-ringback-unsubscribe-status says so', async () => {
    await using service = await serve(statuses('x-ringback-unsubscribe-status: 204'));
    await using receiver = await receive();
    const { id } = await service.subscribe({ path: `/hooks?url=${receiver.url}` });
    await inState(service, await published(service, 'news'), 'delivered');
    assert.equal(await service.stateOf(id), 'active');
    receiver.script = () => 204;
    await inState(service, await published(service, 'news'), 'cancelled');
    assert.equal(await service.stateOf(id), 'ended');
    assert.equal(await service.deliveries('news'), 0);
    await quiet(service);
    assert.equal(receiver.requests.length, 2);
  });

  it('410 is then an ordinary failure', async () => {
    const env = { RINGBACK_RETRY: '1h' };
    await using service = await serve(statuses('x-ringback-unsubscribe-status: 204'), { env });
    await using receiver = await receive(() => 410);
    const { id } = await service.subscribe({ path: `/hooks?url=${receiver.url}` });
    const { state, error } = await attempted(service, await published(service, 'news'));
    assert.deepEqual([state, error], ['due', 'status']);
    assert.equal(await service.stateOf(id), 'active');
  });

  it('410 ends it by default, and an undeclared 2xx is noted', async () => {
    await using service = await serve(statuses(''));
    await using receiver = await receive(() => 202);
    const { id } = await service.subscribe({ path: `/hooks?url=${receiver.url}` });
    const { attempts } = await inState(service, await published(service, 'news'), 'delivered');
    assert.match(attempts[0]?.warning ?? '', /declares 200, 204 .* sent 202/);
    receiver.script = () => 410;
    await inState(service, await published(service, 'news'), 'cancelled');
    assert.equal(await service.stateOf(id), 'ended');
  });
});
