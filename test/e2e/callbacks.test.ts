// Callbacks over real sockets: which receivers are called, with what, how often, and with which outcome. For the responses
// of subscribe calls, see test/api/interface.test.ts.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { start, type Running } from '../api/harness.ts';
import { version } from '../../src/core/base/package.ts';
import { movableWorld } from './movable-world.ts';
import { header, receive, type Received, type Receiver } from './receiver.ts';
import {
  attempted,
  deliveryOf,
  get,
  inState,
  onlyDelivery,
  patch,
  publish,
  quiet,
  subscribe,
  tryPublish,
  until,
  type Accepted,
  type Page,
} from './stage.ts';

const brief = { RINGBACK_RETRY: '10ms' };
const patient = { RINGBACK_RETRY: '1h' };

function eventsOf(receiver: Receiver): string[] {
  return receiver.requests.map((request) => header(request, 'ringback-event')).toSorted();
}

function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

async function stateOf(service: Running, id: string): Promise<string> {
  return (await get<{ state: string }>(service, `/subscriptions/${id}`)).state;
}

async function retry(service: Running, id: string): Promise<string> {
  const answer = await service.call({ method: 'POST', path: `/deliveries/${id}/retry` });
  assert.equal(answer.status, 202, answer.text);
  return String(answer.json['id']);
}

describe('a callback', () => {
  it('is a POST of the payload as application/json', async () => {
    await using service = await start();
    await using receiver = await receive();
    await subscribe(service, receiver.url);
    await publish(service, 'order.created', { payload: '{"message":"Order 42"}' });
    const [request] = await receiver.waitFor(1);
    assert(request);
    assert.deepEqual([request.method, request.url], ['POST', '/hook']);
    assert.equal(header(request, 'content-type'), 'application/json');
    assert.equal(header(request, 'content-length'), '22');
    assert.equal(header(request, 'host'), `127.0.0.1:${receiver.port}`);
    assert.equal(request.body.toString(), '{"message":"Order 42"}');
  });

  it('describes itself in its headers', async () => {
    await using service = await start();
    await using receiver = await receive();
    const { id } = await subscribe(service, receiver.url);
    const { eventId } = await publish(service, 'order.created');
    const [request] = await receiver.waitFor(1);
    assert(request);
    const { attempts, ...delivery } = await attempted(
      service,
      await onlyDelivery(service, { eventId }),
    );
    const said = (name: string): string => header(request, name);
    assert.equal(said('webhook-id'), eventId);
    assert.match(said('webhook-timestamp'), /^\d{10}$/);
    assert.match(said('webhook-signature'), /^v1,[A-Za-z0-9+/]{43}=$/);
    assert.equal(said('ringback-event'), 'order.created');
    assert.equal(said('ringback-delivery'), delivery.id);
    assert.equal(said('ringback-subscription'), id);
    assert.equal(said('ringback-attempt'), '1');
    assert.equal(said('user-agent'), `Ringback/${version}`);
    assert.equal(said('accept-encoding'), 'identity');
    // The API shows the headers exactly as sent.
    const shown = attempts[0]?.request.headers ?? {};
    assert.ok(Object.keys(shown).length >= 6);
    for (const [name, value] of Object.entries(shown)) assert.equal(said(name), value);
  });

  it('carries no key of the API', async () => {
    await using service = await start();
    await using receiver = await receive();
    await subscribe(service, receiver.url);
    await publish(service, 'order.created');
    const [request] = await receiver.waitFor(1);
    assert(request);
    const { cookie, authorization } = request.headers;
    assert.deepEqual(
      [request.headers['x-api-key'], cookie, authorization],
      Array(3).fill(undefined),
    );
    assert.ok(!JSON.stringify(request.headers).includes(service.key));
  });
});

describe('variant body', () => {
  it('gets every event, at its own URL with its own query', async () => {
    await using service = await start();
    await using receiver = await receive();
    await subscribe(service, `${receiver.url}/a?token=x%20y&b`);
    const names = ['order.created', 'inProgress', 'failed', 'success', 'a', 'a.b.c.d', 'x-1_2'];
    for (const name of names) assert.equal((await publish(service, name)).deliveries, 1);
    await receiver.waitFor(names.length);
    await quiet(service);
    assert.deepEqual(eventsOf(receiver), names.toSorted());
    for (const { url } of receiver.requests) assert.equal(url, '/hook/a?token=x%20y&b');
  });
});

describe('variant query', () => {
  const targets = [
    ['', '/hook?event=order.created'],
    ['?x=1', '/hook?x=1&event=order.created'],
    ['?x=1&y=%2F', '/hook?x=1&y=%2F&event=order.created'],
    ['/deep/er', '/hook/deep/er?event=order.created'],
    ['?event=other', '/hook?event=other&event=order.created'],
  ] as const;
  for (const [end, target] of targets) {
    it(`calls …/hook${end} at ${target}`, async () => {
      await using service = await start();
      await using receiver = await receive();
      await subscribe(service, { callbackUrl: receiver.url + end, event: 'order.created' });
      await publish(service, 'order.created');
      const [request] = await receiver.waitFor(1);
      assert.deepEqual([request?.method, request?.url], ['POST', target]);
    });
  }

  it('gets only its own event', async () => {
    await using service = await start();
    await using receiver = await receive();
    await subscribe(service, { callbackUrl: receiver.url, event: 'order.created' });
    const others = ['order', 'order.created.late', 'Order.created', 'order.updated', 'success'];
    for (const name of others) assert.equal((await publish(service, name)).deliveries, 0, name);
    assert.equal((await publish(service, 'order.created')).deliveries, 1);
    await receiver.waitFor(1);
    await quiet(service);
    assert.deepEqual(eventsOf(receiver), ['order.created']);
  });
});

describe('variant multi', () => {
  it('calls each URL for its own event only', async () => {
    await using service = await start();
    await using inProgress = await receive();
    await using failed = await receive();
    await using success = await receive();
    const { id } = await subscribe(service, {
      body: { inProgressUrl: inProgress.url, failedUrl: failed.url, successUrl: success.url },
    });
    for (const name of ['success', 'inProgress', 'failed', 'inProgress']) {
      assert.equal((await publish(service, name)).deliveries, 1, name);
    }
    for (const name of ['myEvent', 'other']) {
      assert.equal((await publish(service, name)).deliveries, 0, name);
    }
    const deliveries = await quiet(service);
    assert.deepEqual(eventsOf(inProgress), ['inProgress', 'inProgress']);
    assert.deepEqual(eventsOf(failed), ['failed']);
    assert.deepEqual(eventsOf(success), ['success']);
    const shown = deliveries.map(({ event, callback: { label, position, url } }) => [
      event,
      label,
      position,
      url,
    ]);
    assert.deepEqual(shown, [
      ['inProgress', 'inProgress', 0, inProgress.url],
      ['failed', 'inProgress', 1, failed.url],
      ['inProgress', 'inProgress', 0, inProgress.url],
      ['success', 'inProgress', 2, success.url],
    ]);
    assert.ok(deliveries.every(({ subscriberId }) => subscriberId === id));
  });

  it('calls only the given ones of the three URLs', async () => {
    await using service = await start();
    await using receiver = await receive();
    await subscribe(service, { body: { failedUrl: receiver.url } });
    assert.equal((await publish(service, 'success')).deliveries, 0);
    assert.equal((await publish(service, 'failed')).deliveries, 1);
    await receiver.waitFor(1);
    await quiet(service);
    assert.deepEqual(eventsOf(receiver), ['failed']);
  });
});

describe('several subscriptions', () => {
  it('each get the event, under one webhook-id', async () => {
    await using service = await start();
    await using body = await receive();
    await using query = await receive();
    await using multi = await receive();
    await subscribe(service, body.url);
    await subscribe(service, { callbackUrl: query.url, event: 'success' });
    await subscribe(service, { body: { successUrl: multi.url, failedUrl: multi.url } });
    const { eventId, deliveries } = await publish(service, 'success');
    assert.equal(deliveries, 3);
    await quiet(service);
    for (const { requests } of [body, query, multi]) {
      assert.deepEqual(
        requests.map((one) => header(one, 'webhook-id')),
        [eventId],
      );
    }
    const all = [body, query, multi].flatMap(({ requests }) => requests);
    assert.equal(new Set(all.map((one) => header(one, 'ringback-delivery'))).size, 3);
    assert.equal(new Set(all.map((one) => header(one, 'webhook-signature'))).size, 3);
  });

  it('do not get an event addressed to another one', async () => {
    await using service = await start();
    await using one = await receive();
    await using other = await receive();
    await subscribe(service, one.url);
    const { id } = await subscribe(service, other.url);
    const { eventId, deliveries } = await publish(service, 'a', { subscriberId: id });
    assert.equal(deliveries, 1);
    await other.waitFor(1);
    await quiet(service);
    assert.deepEqual([one.requests.length, other.requests.length], [0, 1]);
    assert.equal(other.requests[0]?.headers['webhook-id'], eventId);
  });

  it('are not called for an event that the addressed one does not match', async () => {
    await using service = await start();
    const { id } = await subscribe(service, { callbackUrl: 'http://127.0.0.1:9000/x', event: 'a' });
    assert.equal((await publish(service, 'b', { subscriberId: id })).deliveries, 0);
  });

  it('must exist to be addressed', async () => {
    await using service = await start();
    const { id } = await subscribe(service, 'http://127.0.0.1:9000/x');
    await service.call({ method: 'DELETE', path: `/subscriptions/${id}` });
    for (const subscriberId of [id, 'sub_01jc4t6v8m3q5r7w9x1y2z3a4b', 'nonsense']) {
      const { status, json } = await tryPublish(service, 'a', { subscriberId });
      assert.deepEqual([status, json['code']], [404, 'not_found']);
    }
  });
});

describe('the payload', () => {
  const refused = [
    ['{}', 'body#/payload/message'],
    ['{"message":1}', 'body#/payload/message'],
    ['{"message":null}', 'body#/payload/message'],
    ['{"message":["x"]}', 'body#/payload/message'],
    ['{"Message":"x"}', 'body#/payload/message'],
    ['"message"', 'body#/payload'],
    ['[]', 'body#/payload'],
    ['null', 'body#/payload'],
  ] as const;
  for (const [payload, field] of refused) {
    it(`needs a string "message": ${payload} is refused`, async () => {
      await using service = await start();
      await using receiver = await receive();
      await subscribe(service, receiver.url);
      const { status, json } = await tryPublish(service, 'order.created', { payload });
      assert.deepEqual([status, json['code']], [422, 'payload_refused']);
      const errors = json['errors'] as { field: string; message: string }[];
      assert.equal(errors[0]?.field, field);
      assert.match(errors[0]?.message ?? '', /callback "myEvent"/);
      assert.match(String(json['detail']), /body#\/payload.*callback "myEvent"/);
      assert.deepEqual((await get<{ items: unknown[] }>(service, '/events')).items, []);
    });
  }

  it('is validated for every matching callback, and errors name the callback', async () => {
    await using service = await start();
    const { json } = await tryPublish(service, 'failed', { payload: '{}' });
    const said = JSON.stringify(json['errors']);
    assert.match(said, /callback \\"myEvent\\"/);
    assert.match(said, /callback \\"inProgress\\"/);
  });

  const exact: Record<string, string> = {
    'the order of keys': '{"z":1,"message":"m","a":2,"10":3,"2":4}',
    'big integers': '{"message":"m","n":12345678901234567890123,"f":1.0,"e":1E+2,"z":-0}',
    escapes: String.raw`{"message":"\u0041\/\b\f\n\r\t\"\\\u00e9\ud83d\ude00"}`,
    'a lone surrogate': String.raw`{"message":"\ud800"}`,
    'duplicate keys': '{"message":"a","x":1,"x":2,"message":"b"}',
    'characters of all sizes': '{"message":"a é ☃ 😀 \u007f \u2028 \ufeff ﷽"}',
    'white space inside': '{ \t"message" :\r\n  "m" ,\n"list" : [ 1 , 2 ] }',
    'keys with a special meaning in JavaScript':
      '{"message":"m","__proto__":{"a":1},"constructor":null}',
    'the text of a payload inside it': String.raw`{"message":"{\"payload\":{}}","payload":{"payload":1}}`,
    'a long text': JSON.stringify({ message: 'é'.repeat(200_000) }),
  };
  for (const [what, payload] of Object.entries(exact)) {
    it(`arrives byte for byte: ${what}`, async () => {
      await using service = await start();
      await using receiver = await receive();
      await subscribe(service, receiver.url);
      await publish(service, 'a', { payload });
      const [request] = await receiver.waitFor(1);
      assert.equal(sha256(request?.body ?? ''), sha256(payload));
    });
  }

  it('arrives byte for byte from a batch too', async () => {
    await using service = await start();
    await using receiver = await receive();
    await subscribe(service, receiver.url);
    const payloads = Object.values(exact);
    const events = payloads.map(
      (payload, index) => `{"event":"e${index}", "payload": ${payload} }`,
    );
    const answer = await service.call({
      method: 'POST',
      path: '/events/batch',
      headers: { 'content-type': 'application/json' },
      body: `{"events":[${events.join(',')}]}`,
    });
    assert.equal(answer.status, 202, answer.text);
    await receiver.waitFor(payloads.length);
    const sums = new Map(
      receiver.requests.map((one) => [header(one, 'ringback-event'), sha256(one.body)]),
    );
    payloads.forEach((payload, index) => assert.equal(sums.get(`e${index}`), sha256(payload)));
  });

  it('is the same in every attempt', async () => {
    await using service = await start({ env: { RINGBACK_RETRY: '10ms,10ms' } });
    await using receiver = await receive(() => 500);
    await subscribe(service, receiver.url);
    const payload = '{ "b":1.0,"message":"é","a":[ ] }';
    await publish(service, 'a', { payload });
    const requests = await receiver.waitFor(3);
    assert.deepEqual(
      requests.map(({ body }) => sha256(body)),
      Array(3).fill(sha256(payload)),
    );
  });
});

describe("a receiver's response", () => {
  for (const status of [200, 201, 202, 204, 206, 299]) {
    it(`of ${status} means delivered`, async () => {
      await using service = await start(); // After a failure, a second attempt would come within 5 s.
      await using receiver = await receive(() => status);
      await subscribe(service, receiver.url);
      const { eventId } = await publish(service, 'a');
      const delivery = await inState(
        service,
        await onlyDelivery(service, { eventId }),
        'delivered',
      );
      assert.deepEqual(
        [delivery.status, delivery.error, delivery.attemptCount],
        [status, undefined, 1],
      );
      // The contract declares 200 and 410 for its callbacks.
      const warning = delivery.attempts[0]?.warning;
      if (status === 200) assert.equal(warning, undefined);
      else assert.match(warning ?? '', new RegExp(`declares 200, 410.* sent ${status}`));
      assert.equal(receiver.requests.length, 1);
    });
  }

  for (const status of [300, 304, 400, 401, 404, 409, 429, 500, 503]) {
    it(`of ${status} is a failure that is retried`, async () => {
      await using service = await start({ env: patient });
      await using receiver = await receive(() => status);
      const { id } = await subscribe(service, receiver.url);
      const { eventId } = await publish(service, 'a');
      const delivery = await attempted(service, await onlyDelivery(service, { eventId }));
      const error = status < 400 ? 'redirect' : 'status';
      assert.deepEqual([delivery.state, delivery.status, delivery.error], ['due', status, error]);
      const waitMs = Date.parse(delivery.nextAttemptAt ?? '') - Date.parse(delivery.createdAt);
      assert.ok(waitMs >= 0.8 * 3_600_000 && waitMs <= 1.2 * 3_600_000 + 30_000, String(waitMs));
      assert.equal(await stateOf(service, id), 'active');
    });
  }

  for (const status of [301, 302, 303, 307, 308]) {
    it(`of ${status} is never followed`, async () => {
      await using service = await start({ env: brief });
      await using canary = await receive();
      await using receiver = await receive(() => ({ status, headers: { location: canary.url } }));
      await subscribe(service, receiver.url);
      const { eventId } = await publish(service, 'a');
      const id = await onlyDelivery(service, { eventId });
      const { attempts } = await inState(service, id, 'dead');
      assert.deepEqual(
        attempts.map((one) => [one.status, one.error]),
        [
          [status, 'redirect'],
          [status, 'redirect'],
        ],
      );
      assert.equal(attempts[0]?.response?.headers['location'], canary.url);
      assert.deepEqual([receiver.requests.length, canary.requests.length], [2, 0]);
    });
  }
});

describe('410 Gone', () => {
  it('ends the subscription: no more callbacks, pending ones are cancelled', async () => {
    await using service = await start({ env: patient });
    await using receiver = await receive(() => 500);
    const { id } = await subscribe(service, receiver.url);
    const waiting = await onlyDelivery(service, await publish(service, 'first'));
    await attempted(service, waiting);
    receiver.script = () => 410;
    const last = await onlyDelivery(service, await publish(service, 'second'));
    const { attempts, error, status } = await inState(service, last, 'cancelled');
    assert.deepEqual([attempts.length, status, error], [1, 410, undefined]);
    assert.equal(await stateOf(service, id), 'ended');
    assert.equal((await inState(service, waiting, 'cancelled')).attemptCount, 1);
    assert.equal((await publish(service, 'third')).deliveries, 0);
    await quiet(service);
    assert.deepEqual(eventsOf(receiver), ['first', 'second']);
  });

  it('from one of three URLs ends the whole subscription', async () => {
    await using service = await start();
    await using receiver = await receive();
    await using leaver = await receive(() => 410);
    const { id } = await subscribe(service, {
      body: { inProgressUrl: receiver.url, failedUrl: leaver.url, successUrl: receiver.url },
    });
    await publish(service, 'failed');
    await quiet(service);
    assert.equal(await stateOf(service, id), 'ended');
    for (const name of ['inProgress', 'success']) {
      assert.equal((await publish(service, name)).deliveries, 0);
    }
    assert.equal(receiver.requests.length, 0);
  });

  it('does not end another subscription with the same URL', async () => {
    await using service = await start();
    await using receiver = await receive(() => 410);
    const one = await subscribe(service, receiver.url);
    const other = await subscribe(service, receiver.url);
    await publish(service, 'a', { subscriberId: one.id });
    await quiet(service);
    receiver.script = () => 200;
    assert.deepEqual(
      [await stateOf(service, one.id), await stateOf(service, other.id)],
      ['ended', 'active'],
    );
    assert.equal((await publish(service, 'b')).deliveries, 1);
  });
});

describe('unsubscribing', () => {
  const ways = {
    'POST /unsubscribe': (id: string) => ({ method: 'POST', path: `/unsubscribe?Id=${id}` }),
    'DELETE /subscriptions/{id}': (id: string) => ({
      method: 'DELETE',
      path: `/subscriptions/${id}`,
    }),
  };
  for (const [way, call] of Object.entries(ways)) {
    it(`by ${way} cancels pending deliveries and stops all callbacks`, async () => {
      await using service = await start({ env: patient });
      await using receiver = await receive(() => 500);
      const { id } = await subscribe(service, {
        body: { inProgressUrl: receiver.url, failedUrl: receiver.url },
      });
      const waiting = [
        await onlyDelivery(service, await publish(service, 'inProgress')),
        await onlyDelivery(service, await publish(service, 'failed')),
      ];
      for (const one of waiting) await attempted(service, one);
      const { status } = await service.call(call(id));
      assert.ok(status === 200 || status === 204);
      assert.equal(await stateOf(service, id), 'ended');
      for (const one of waiting) {
        const { attemptCount, nextAttemptAt } = await inState(service, one, 'cancelled');
        assert.deepEqual([attemptCount, nextAttemptAt], [1, undefined]);
        const again = await service.call({ method: 'POST', path: `/deliveries/${one}/retry` });
        assert.deepEqual([again.status, again.json['code']], [409, 'conflict']);
      }
      for (const name of ['inProgress', 'failed']) {
        assert.equal((await publish(service, name)).deliveries, 0);
      }
      await quiet(service);
      assert.equal(receiver.requests.length, 2);
    });
  }

  it('starts no further attempt of a callback in flight', async () => {
    await using service = await start({ env: brief });
    const answer = Promise.withResolvers<number>();
    await using receiver = await receive(async () => answer.promise);
    const { id } = await subscribe(service, receiver.url);
    const delivery = await onlyDelivery(service, await publish(service, 'a'));
    await receiver.waitFor(1);
    await service.call({ method: 'POST', path: `/unsubscribe?Id=${id}` });
    answer.resolve(500);
    await receiver.answered(1);
    await quiet(service);
    assert.equal((await deliveryOf(service, delivery)).state, 'cancelled');
    assert.equal(receiver.requests.length, 1);
  });

  it('lets callbacks in flight finish, and starts none of the pending ones', async () => {
    await using service = await start();
    const answer = Promise.withResolvers<number>();
    await using receiver = await receive(async () => answer.promise);
    const { id } = await subscribe(service, receiver.url);
    for (let index = 0; index < 30; index += 1) await publish(service, 'a');
    await receiver.waitFor(8);
    await service.call({ method: 'POST', path: `/unsubscribe?Id=${id}` });
    answer.resolve(200);
    const states = (await quiet(service)).map(({ state }) => state).toSorted();
    assert.equal(receiver.requests.length, 8);
    assert.deepEqual(states, [...Array(22).fill('cancelled'), ...Array(8).fill('delivered')]);
  });

  it('does not affect other subscriptions', async () => {
    await using service = await start();
    await using receiver = await receive();
    const { id } = await subscribe(service, receiver.url);
    const stays = await subscribe(service, receiver.url);
    await service.call({ method: 'POST', path: `/unsubscribe?Id=${id}` });
    assert.equal((await publish(service, 'a')).deliveries, 1);
    const [request] = await receiver.waitFor(1);
    assert.equal(request?.headers['ringback-subscription'], stays.id);
  });
});

describe('asynchronous delivery', () => {
  it('a publish is answered before a slow receiver has answered', async () => {
    await using service = await start();
    const answer = Promise.withResolvers<number>();
    await using slow = await receive(async () => answer.promise);
    await subscribe(service, slow.url);
    const { eventId, deliveries } = await publish(service, 'a');
    assert.equal(deliveries, 1);
    await slow.waitFor(1);
    const id = await onlyDelivery(service, { eventId });
    assert.equal((await deliveryOf(service, id)).state, 'running');
    assert.equal((await publish(service, 'b')).deliveries, 1);
    answer.resolve(200);
    await inState(service, id, 'delivered');
  });

  it('a subscribe call is answered without asking the receiver', async () => {
    await using service = await start();
    const never = Promise.withResolvers<number>();
    await using silent = await receive(async () => never.promise);
    const { id } = await subscribe(service, silent.url);
    assert.equal(await stateOf(service, id), 'active');
    await publish(service, 'a');
    await silent.waitFor(1);
    // Even while it leaves a callback unanswered.
    await subscribe(service, { body: { successUrl: silent.url } });
    await subscribe(service, { callbackUrl: silent.url, event: 'b' });
    assert.equal(silent.requests.length, 1);
  });

  it('a receiver may publish, subscribe and unsubscribe while it is being called', async () => {
    await using service = await start();
    await using receiver = await receive(async (request) => {
      if (header(request, 'ringback-event') !== 'first') return 200;
      const { id } = await subscribe(service, receiver.url);
      await publish(service, 'second', { subscriberId: id });
      await service.call({
        method: 'POST',
        path: `/unsubscribe?Id=${header(request, 'ringback-subscription')}`,
      });
      return 200;
    });
    await subscribe(service, receiver.url);
    const first = await onlyDelivery(service, await publish(service, 'first'));
    await receiver.waitFor(2);
    await quiet(service);
    assert.deepEqual(eventsOf(receiver), ['first', 'second']);
    assert.equal((await deliveryOf(service, first)).state, 'delivered');
  });
});

describe('pausing', () => {
  it('holds callbacks back; a resume delivers them in the order of publishing', async () => {
    await using service = await start();
    const wave = Promise.withResolvers<number>();
    await using receiver = await receive(async () => wave.promise);
    await using other = await receive();
    const { id } = await subscribe(service, receiver.url);
    await subscribe(service, other.url);
    assert.equal((await patch(service, id, { state: 'paused' })).status, 200);
    const names = Array.from({ length: 30 }, (_, index) => `e${index}`);
    const published: Accepted[] = [];
    for (const name of names) published.push(await publish(service, name));
    assert.ok(published.every(({ deliveries }) => deliveries === 2));
    await other.waitFor(names.length);
    assert.equal(receiver.requests.length, 0);
    const held = await Promise.all(
      published.map(async ({ eventId }) => onlyDelivery(service, { eventId, subscriberId: id })),
    );
    for (const one of held) {
      const { state, attemptCount } = await deliveryOf(service, one);
      assert.deepEqual([state, attemptCount], ['due', 0]);
    }
    assert.equal((await patch(service, id, { state: 'active' })).status, 200);
    // A lane starts with eight in flight: the eight that were published first.
    await receiver.waitFor(8);
    assert.deepEqual(eventsOf(receiver), names.slice(0, 8).toSorted());
    wave.resolve(200);
    await quiet(service);
    assert.deepEqual(eventsOf(receiver), names.toSorted());
    const startedAt: string[] = [];
    for (const one of held) {
      const { state, attempts } = await deliveryOf(service, one);
      assert.deepEqual([state, attempts.length], ['delivered', 1]);
      startedAt.push(attempts[0]?.startedAt ?? '');
    }
    assert.deepEqual(startedAt, startedAt.toSorted());
  });

  it('lets callbacks in flight finish, and starts none of the pending ones', async () => {
    await using service = await start();
    const answer = Promise.withResolvers<number>();
    await using receiver = await receive(async () => answer.promise);
    const { id } = await subscribe(service, receiver.url);
    for (let index = 0; index < 20; index += 1) await publish(service, 'a');
    await receiver.waitFor(8);
    await patch(service, id, { state: 'paused' });
    answer.resolve(200);
    const delivered = `/deliveries?subscriberId=${id}&state=delivered`;
    await until(
      async () => get<Page<unknown>>(service, delivered),
      ({ items }) => items.length === 8,
    );
    // Any other callback would have arrived before this one.
    await using other = await receive();
    const fence = await subscribe(service, other.url);
    await publish(service, 'b', { subscriberId: fence.id });
    await other.waitFor(1);
    assert.equal(receiver.requests.length, 8);
    await patch(service, id, { state: 'active' });
    await quiet(service);
    assert.equal(receiver.requests.length, 20);
  });

  it('uses up no attempt, and a retry waits for the resume, too', async () => {
    await using service = await start({ env: brief });
    const answer = Promise.withResolvers<number>();
    await using receiver = await receive(async () => answer.promise);
    const { id } = await subscribe(service, receiver.url);
    const delivery = await onlyDelivery(service, await publish(service, 'a'));
    await receiver.waitFor(1);
    await patch(service, id, { state: 'paused' });
    answer.resolve(500);
    const { state } = await attempted(service, delivery);
    assert.equal(state, 'due');
    receiver.script = () => 200;
    assert.equal(receiver.requests.length, 1);
    await patch(service, id, { state: 'active' });
    const { attemptCount } = await inState(service, delivery, 'delivered');
    assert.equal(attemptCount, 2);
  });
});

describe('changing the target', () => {
  it('moves new callbacks; earlier attempts stay on record', async () => {
    await using service = await start({ env: patient });
    await using before = await receive(() => 503);
    await using moved = await receive();
    const { id } = await subscribe(service, before.url);
    const old = await onlyDelivery(service, await publish(service, 'old'));
    await attempted(service, old);
    const url = `${moved.url}/moved?x=1`;
    const changed = await patch(service, id, { callbacks: [{ position: 0, url }] });
    assert.equal(changed.status, 200, changed.text);
    const fresh = await onlyDelivery(service, await publish(service, 'new'));
    const [request] = await moved.waitFor(1);
    assert.deepEqual(
      [request?.url, request?.headers['ringback-event']],
      ['/hook/moved?x=1', 'new'],
    );
    const { callback, attempts } = await inState(service, fresh, 'delivered');
    assert.deepEqual([callback.url, attempts[0]?.request.url], [url, url]);
    assert.equal((await deliveryOf(service, old)).attempts[0]?.request.url, before.url);
    assert.equal(before.requests.length, 1);
  });

  it('moves pending deliveries', async () => {
    await using service = await start();
    await using before = await receive();
    await using moved = await receive();
    const { id } = await subscribe(service, before.url);
    await patch(service, id, { state: 'paused' });
    await publish(service, 'a');
    const callbacks = [{ position: 0, url: moved.url }];
    assert.equal((await patch(service, id, { state: 'active', callbacks })).status, 200);
    await moved.waitFor(1);
    await quiet(service);
    assert.deepEqual([before.requests.length, moved.requests.length], [0, 1]);
  });

  it('of one callback does not affect the others', async () => {
    await using service = await start();
    await using one = await receive();
    await using other = await receive();
    await using moved = await receive();
    const { id } = await subscribe(service, {
      body: { inProgressUrl: one.url, failedUrl: other.url },
    });
    await patch(service, id, { callbacks: [{ position: 1, url: moved.url }] });
    await publish(service, 'inProgress');
    await publish(service, 'failed');
    await quiet(service);
    assert.deepEqual(
      [eventsOf(one), eventsOf(other), eventsOf(moved)],
      [['inProgress'], [], ['failed']],
    );
  });
});

describe('attempts', () => {
  it('carry the same webhook-id, a fresh timestamp and signature, and their number', async () => {
    const world = movableWorld();
    await using service = await start({ world, env: { RINGBACK_RETRY: '10ms,10ms,10ms' } });
    await using receiver = await receive(() => {
      world.moveOn(2_000);
      return 503;
    });
    await subscribe(service, receiver.url);
    const { eventId } = await publish(service, 'a');
    const id = await onlyDelivery(service, { eventId });
    const { attempts, attemptCount } = await inState(service, id, 'dead');
    const requests = receiver.requests;
    assert.deepEqual([requests.length, attemptCount], [4, 4]);
    const all = (name: string): string[] => requests.map((one) => header(one, name));
    assert.deepEqual(all('webhook-id'), Array(4).fill(eventId));
    assert.deepEqual(all('ringback-delivery'), Array(4).fill(id));
    assert.deepEqual(all('ringback-attempt'), ['1', '2', '3', '4']);
    const stamps = all('webhook-timestamp').map(Number);
    for (const [index, stamp] of stamps.entries()) {
      if (index > 0) assert.ok(stamp >= (stamps[index - 1] ?? 0) + 2, stamps.join());
      const startedMs = Date.parse(attempts[index]?.startedAt ?? '');
      assert.equal(stamp, Math.floor(startedMs / 1000));
    }
    assert.equal(new Set(all('webhook-signature')).size, 4);
    assert.deepEqual(
      attempts.map((one) => one.id),
      [1, 2, 3, 4].map((k) => `${id.replace('dlv_', 'att_')}_${k}`),
    );
  });

  it('end with the first success', async () => {
    await using service = await start({ env: { RINGBACK_RETRY: '10ms,10ms,10ms' } });
    await using receiver = await receive(({ headers }) =>
      headers['ringback-attempt'] === '3' ? 200 : 500,
    );
    await subscribe(service, receiver.url);
    const id = await onlyDelivery(service, await publish(service, 'a'));
    const { attempts } = await inState(service, id, 'delivered');
    assert.deepEqual(
      attempts.map(({ status, error }) => [status, error]),
      [
        [500, 'status'],
        [500, 'status'],
        [200, undefined],
      ],
    );
    assert.equal(receiver.requests.length, 3);
  });

  it('respect Retry-After', async () => {
    await using service = await start({ env: brief });
    await using receiver = await receive(() => ({
      status: 429,
      headers: { 'retry-after': '900' },
    }));
    await subscribe(service, receiver.url);
    const id = await onlyDelivery(service, await publish(service, 'a'));
    const { state, nextAttemptAt, attempts } = await attempted(service, id);
    assert.equal(state, 'due');
    const waitMs = Date.parse(nextAttemptAt ?? '') - Date.parse(attempts[0]?.startedAt ?? '');
    assert.ok(waitMs >= 900_000 && waitMs < 930_000, String(waitMs));
  });

  it('are recorded when the connection is refused', async () => {
    await using service = await start({ env: patient });
    const gone = await receive();
    await gone[Symbol.asyncDispose]();
    await subscribe(service, gone.url);
    const id = await onlyDelivery(service, await publish(service, 'a'));
    const { state, attempts } = await attempted(service, id);
    assert.deepEqual(
      [state, attempts[0]?.error, attempts[0]?.status],
      ['due', 'refused', undefined],
    );
    assert.equal(attempts[0]?.response, undefined);
  });
});

describe('GET /deliveries/{id}', () => {
  const long = 'é'.repeat(20_000);
  const answer = {
    headers: { 'x-trace': 'abc', 'set-cookie': 'session=secret', 'content-type': 'text/plain' },
    body: long,
  };

  it('shows the request and the response of each attempt', async () => {
    await using service = await start({ env: patient });
    await using receiver = await receive(() => ({ status: 500, ...answer, body: 'no disk' }));
    const { id: subscriberId } = await subscribe(service, `${receiver.url}?t=1`);
    const { eventId } = await publish(service, 'a');
    const id = await onlyDelivery(service, { eventId });
    const shown = await attempted(service, id);
    const { attempts, createdAt, nextAttemptAt, ...rest } = shown;
    const url = `${receiver.url}?t=1`;
    assert.deepEqual(rest, {
      id,
      state: 'due',
      event: 'a',
      eventId,
      subscriberId,
      callback: { position: 0, label: 'myEvent', method: 'POST', url },
      attemptCount: 1,
      status: 500,
      error: 'status',
    });
    assert.ok(createdAt < (nextAttemptAt ?? ''));
    const [attempt] = attempts;
    assert.deepEqual([attempt?.request.method, attempt?.request.url], ['POST', url]);
    assert.equal(attempt?.response?.body, 'no disk');
    assert.equal(attempt?.response?.isCut, false);
    assert.equal(attempt?.response?.headers['x-trace'], 'abc');
    assert.equal(attempt?.response?.headers['set-cookie'], undefined);
    assert.ok((attempt?.tookMs ?? -1) >= 0);
  });

  it('shows 16 KiB of a failure and marks it as cut', async () => {
    await using service = await start({ env: patient });
    await using receiver = await receive(() => ({ status: 500, ...answer }));
    await subscribe(service, receiver.url);
    const id = await onlyDelivery(service, await publish(service, 'a'));
    const { attempts } = await attempted(service, id);
    assert.equal(attempts[0]?.response?.body, long.slice(0, 8_192));
    assert.equal(attempts[0]?.response?.isCut, true);
  });

  it('shows 1 KiB of a success and marks it as cut', async () => {
    await using service = await start();
    const body = long.slice(0, 1_000); // Short enough to be read completely, but only stored in part.
    await using receiver = await receive(() => ({ status: 200, ...answer, body }));
    await subscribe(service, receiver.url);
    const id = await onlyDelivery(service, await publish(service, 'a'));
    const { attempts } = await inState(service, id, 'delivered');
    assert.equal(attempts[0]?.response?.body, long.slice(0, 512));
    assert.equal(attempts[0]?.response?.isCut, true);
  });
});

describe('POST /subscriptions/{id}/ping', () => {
  it('calls every callback of the subscription and no other', async () => {
    await using service = await start();
    await using one = await receive();
    await using other = await receive();
    await using stranger = await receive();
    await subscribe(service, stranger.url);
    const { id } = await subscribe(service, {
      body: { inProgressUrl: one.url, successUrl: other.url },
    });
    const answer = await service.call({ method: 'POST', path: `/subscriptions/${id}/ping` });
    assert.deepEqual([answer.status, answer.json['deliveries']], [202, 2]);
    await quiet(service);
    for (const { requests } of [one, other]) {
      assert.equal(requests.length, 1);
      const [request] = requests as [Received];
      assert.equal(header(request, 'webhook-id'), answer.json['eventId']);
      assert.equal(header(request, 'ringback-event'), 'ringback.ping');
      const body = JSON.parse(request.body.toString()) as { message: unknown };
      assert.equal(typeof body.message, 'string');
    }
    assert.equal(stranger.requests.length, 0);
  });

  it('is 404 for a subscription that has ended', async () => {
    await using service = await start();
    await using receiver = await receive();
    const { id } = await subscribe(service, receiver.url);
    await service.call({ method: 'DELETE', path: `/subscriptions/${id}` });
    const { status } = await service.call({ method: 'POST', path: `/subscriptions/${id}/ping` });
    assert.equal(status, 404);
    assert.equal(receiver.requests.length, 0);
  });
});

describe('POST /deliveries/{id}/retry', () => {
  it('of a dead delivery keeps the webhook-id and restarts the schedule', async () => {
    await using service = await start({ env: brief });
    await using receiver = await receive(() => 500);
    await subscribe(service, receiver.url);
    const { eventId } = await publish(service, 'a');
    const id = await onlyDelivery(service, { eventId });
    assert.equal((await inState(service, id, 'dead')).attemptCount, 2);
    assert.equal(await retry(service, id), id);
    await receiver.waitFor(4);
    assert.equal((await inState(service, id, 'dead')).attemptCount, 4);
    receiver.script = () => 200;
    assert.equal(await retry(service, id), id);
    const { attempts } = await inState(service, id, 'delivered');
    assert.deepEqual(
      attempts.map(({ status }) => status),
      [500, 500, 500, 500, 200],
    );
    const all = (name: string): string[] => receiver.requests.map((one) => header(one, name));
    assert.deepEqual(all('webhook-id'), Array(5).fill(eventId));
    assert.deepEqual(all('ringback-delivery'), Array(5).fill(id));
    assert.deepEqual(all('ringback-attempt'), ['1', '2', '3', '4', '5']);
  });

  it('of a successful delivery creates a new one with the same webhook-id', async () => {
    await using service = await start();
    await using receiver = await receive();
    await subscribe(service, receiver.url);
    const { eventId } = await publish(service, 'a', { payload: '{ "message":"once more" }' });
    const id = await onlyDelivery(service, { eventId });
    await inState(service, id, 'delivered');
    const again = await retry(service, id);
    assert.notEqual(again, id);
    const { attemptCount } = await inState(service, again, 'delivered');
    assert.equal(attemptCount, 1);
    const all = (name: string): string[] => receiver.requests.map((one) => header(one, name));
    assert.deepEqual(all('webhook-id'), [eventId, eventId]);
    assert.deepEqual(all('ringback-delivery'), [id, again]);
    assert.deepEqual(all('ringback-attempt'), ['1', '1']);
    assert.deepEqual(receiver.requests[0]?.body, receiver.requests[1]?.body);
    assert.equal((await get<Accepted>(service, `/events/${eventId}`)).deliveries, 2);
    assert.equal((await deliveryOf(service, id)).state, 'delivered');
  });

  it('of a pending delivery is refused', async () => {
    await using service = await start({ env: patient });
    await using receiver = await receive(() => 500);
    await subscribe(service, receiver.url);
    const id = await onlyDelivery(service, await publish(service, 'a'));
    await attempted(service, id);
    const answer = await service.call({ method: 'POST', path: `/deliveries/${id}/retry` });
    assert.deepEqual([answer.status, answer.json['code']], [409, 'conflict']);
    assert.equal(receiver.requests.length, 1);
  });
});
