// Settings of a subscription, as seen by real receivers.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { start, type Running } from '../api/harness.ts';
import { serve, documentOf } from './contracts/stage.ts';
import { header, receive } from './receiver.ts';
import { get, inState, onlyDelivery, patch, publish, quiet, subscribe, until } from './stage.ts';

let service: Running;
before(async () => {
  service = await start();
});
after(async () => service[Symbol.asyncDispose]());

async function change(id: string, body: object): Promise<void> {
  const answer = await patch(service, id, body);
  assert.equal(answer.status, 200, answer.text);
}

async function end(...ids: string[]): Promise<void> {
  for (const id of ids) await service.call({ method: 'DELETE', path: `/subscriptions/${id}` });
}

describe('a callback', () => {
  it('comes once for each event that matches its patterns, and for no other', async () => {
    await using receiver = await receive();
    const { id } = await subscribe(service, receiver.url);
    const before_ = await publish(service, 'invoice.paid');
    await receiver.waitFor(1);
    await change(id, { callbacks: [{ position: 0, events: ['order.*', 'order.item.*', 'a'] }] });
    const counts = [];
    for (const event of ['order.item.new', 'order.new', 'a', 'invoice.paid', 'order']) {
      counts.push((await publish(service, event)).deliveries);
    }
    assert.equal(before_.deliveries, 1);
    assert.deepEqual(counts, [1, 1, 1, 0, 0]);
    await quiet(service);
    const came = receiver.requests.map((one) => header(one, 'ringback-event')).toSorted();
    assert.deepEqual(came, ['a', 'invoice.paid', 'order.item.new', 'order.new']);
    await end(id);
  });

  it("carries the subscription's headers, which cannot replace Ringback's own", async () => {
    await using receiver = await receive();
    const headers = { Authorization: 'Bearer CANARY-e2e', 'X-Tenant': "7 !#$%&'()", accept: 'a/b' };
    const { id } = await subscribe(service, {
      body: { callbackUrl: receiver.url, 'x-ringback': { headers } },
    });
    await publish(service, 'a');
    const [first] = await receiver.waitFor(1);
    assert(first);
    assert.equal(header(first, 'authorization'), 'Bearer CANARY-e2e');
    assert.equal(header(first, 'x-tenant'), "7 !#$%&'()");
    assert.equal(header(first, 'accept'), 'a/b');
    assert.match(header(first, 'webhook-signature'), /^v1,/);
    await change(id, { headers: { 'X-Tenant': '8' } });
    await publish(service, 'a');
    const [, second] = await receiver.waitFor(2);
    assert(second);
    assert.equal(header(second, 'x-tenant'), '8');
    assert.equal(second.headers['authorization'], undefined);
    assert.equal(header(second, 'accept'), '*/*');
    await change(id, { headers: null });
    await publish(service, 'a');
    const [, , third] = await receiver.waitFor(3);
    assert.equal(third?.headers['x-tenant'], undefined);
    const deliveries = await service.call({ path: '/deliveries?limit=500' });
    assert.ok(!(service.logged() + deliveries.text).includes('CANARY'));
    await end(id);
  });

  it('is retried as often as its subscription says', async () => {
    await using receiver = await receive(() => 500);
    const { id } = await subscribe(service, {
      body: { callbackUrl: receiver.url, 'x-ringback': { retry: ['1ms', '2ms'] } },
    });
    const { eventId } = await publish(service, 'a');
    const dead = await inState(service, await onlyDelivery(service, { eventId }), 'dead');
    assert.deepEqual([dead.attemptCount, receiver.requests.length], [3, 3]);
    await change(id, { retry: [] });
    const { eventId: next } = await publish(service, 'a');
    const once = await inState(service, await onlyDelivery(service, { eventId: next }), 'dead');
    assert.equal(once.attemptCount, 1);
    await end(id);
  });

  it('times out after the time that its subscription says', async () => {
    const open = Promise.withResolvers<number>();
    await using receiver = await receive(async () => open.promise);
    const { id } = await subscribe(service, {
      body: { callbackUrl: receiver.url, 'x-ringback': { timeout: '100ms', retry: [] } },
    });
    const { eventId } = await publish(service, 'a');
    const dead = await inState(service, await onlyDelivery(service, { eventId }), 'dead');
    assert.equal(dead.attempts[0]?.error, 'timeout');
    open.resolve(200);
    await end(id);
  });

  it('stops when its subscription expires', async () => {
    await using receiver = await receive(() => 500);
    let id = '';
    let waiting = '';
    // Doubled if this machine is too slow to publish before the expiry.
    for (let ms = 1_500; waiting === ''; ms *= 2) {
      const expiresAt = new Date(Date.now() + ms).toISOString();
      const body = { callbackUrl: receiver.url, 'x-ringback': { expiresAt, retry: ['1h'] } };
      const answer = await service.call({ method: 'POST', path: '/subscribe', body });
      if (answer.status === 400) continue;
      id = String(answer.json['subscriberId']);
      const { eventId, deliveries } = await publish(service, 'a');
      if (deliveries === 1) waiting = await onlyDelivery(service, { eventId });
    }
    const ended = await until(
      async () => get<Record<string, unknown>>(service, `/subscriptions/${id}`),
      ({ state }) => state === 'ended',
    );
    assert.ok(String(ended['endedAt']) >= String(ended['expiresAt']));
    assert.equal((await publish(service, 'a')).deliveries, 0);
    await inState(service, waiting, 'cancelled');
    const answer = await patch(service, id, { expiresAt: '2999-01-01T00:00:00Z' });
    assert.equal(answer.status, 409, answer.text);
  });
});

describe('a foreign contract', () => {
  const document = (property: string): string =>
    documentOf(`
/hooks:
  post:
    requestBody:
      content:
        application/json:
          schema:
            type: object
            required: [url]
            properties:
              url: { type: string, format: uri }
              ${property}
    responses: { '201': { description: Added. } }
    callbacks:
      thing:
        '{$request.body#/url}':
          x-ringback-event: '*'
          post:
            responses: { '200': { description: Fine. } }`);

  it('allows these settings if it declares x-ringback', async () => {
    await using own = await serve(document("'x-ringback': { type: object }"));
    await using receiver = await receive();
    const chosen = { headers: { 'X-A': 'b' }, events: ['order.*'], description: 'd' };
    const body = { url: receiver.url, 'x-ringback': chosen };
    const { id } = await own.subscribe({ path: '/hooks', body });
    assert.equal(await own.deliveries('order.new'), 1);
    assert.equal(await own.deliveries('other'), 0);
    const [first] = await receiver.waitFor(1);
    assert.equal(first?.headers['x-a'], 'b');
    const view = await own.call({ path: `/subscriptions/${id}` });
    assert.equal(view.json['description'], 'd');
    // The schema allows anything, but invalid settings are still reported.
    const odd = {
      url: receiver.url,
      'x-ringback': { timeout: 5, metadata: { a: 1 }, headers: { Host: 'x' }, events: 'a', x: 1 },
    };
    const answer = await own.call({ method: 'POST', path: '/hooks', body: odd });
    assert.equal(answer.status, 400, answer.text);
    const errors = answer.json['errors'] as { field: string; message: string }[];
    assert.deepEqual(
      errors.map(({ field, message }) => `${field} ${message}`),
      [
        'body#/x-ringback/timeout is 5, expected a duration from 100ms to 60s',
        'body#/x-ringback/metadata/a is a number, expected a text of at most 512 characters',
        'body#/x-ringback/x is not allowed here',
        'body#/x-ringback/headers/Host is a header that Ringback sets itself, expected another name',
        'body#/x-ringback/events is a text of 1, expected a list of 1 to 20 event patterns',
      ],
    );
  });

  it('ignores x-ringback if it does not declare it', async () => {
    await using own = await serve(document('kind: { type: string }'));
    await using receiver = await receive();
    const body = { url: receiver.url, 'x-ringback': { events: ['order.*'], odd: 1 } };
    const { id } = await own.subscribe({ path: '/hooks', body });
    assert.equal(await own.deliveries('other'), 1);
    assert.equal((await own.callbacksOf(id))[0]?.event, '*');
  });
});
