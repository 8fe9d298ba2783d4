// Publishing: which events are accepted, which subscriptions get them, which are refused and why; reading
// events, and retrying deliveries.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { bounds } from '../../src/contract/document/bounds.ts';
import { problems, type ProblemCode } from '../../src/core/errors/problem.ts';
import { movableWorld } from '../e2e/movable-world.ts';
import { header, receive, type Receiver } from '../e2e/receiver.ts';
import {
  attempted,
  get,
  inState,
  onlyDelivery,
  patch,
  publish,
  quiet,
  subscribe,
  until,
  type Accepted,
  type DeliveryView,
  type Page,
} from '../e2e/stage.ts';
import { start, type Answer, type Call, type Running } from './harness.ts';

const dayMs = 24 * 60 * 60 * 1000;
const json = { 'content-type': 'application/json' };
const idPattern = /^evt_[0-7][0-9a-hjkmnp-tv-z]{25}$/;

interface EventView {
  id: string;
  event: string;
  deliveries: number | null;
  createdAt: string;
  payload?: unknown;
}

interface On extends AsyncDisposable {
  service: Running;
  receiver: Receiver;
}

async function stage(options: Parameters<typeof start>[0] = {}): Promise<On> {
  const receiver = await receive();
  const service = await start(options);
  return {
    service,
    receiver,
    [Symbol.asyncDispose]: async () => {
      await service[Symbol.asyncDispose]();
      await receiver[Symbol.asyncDispose]();
    },
  };
}

function post(path: string, body?: unknown, headers: Record<string, string> = {}): Call {
  return { method: 'POST', path, body, headers };
}

function event(name: string, payload: unknown = { message: 'hello' }): object {
  return { event: name, payload };
}

async function events(service: Running): Promise<EventView[]> {
  return (await get<Page<EventView>>(service, '/events?limit=500')).items;
}

async function newApp(service: Running, name: string): Promise<Running> {
  const { status, json: made, text } = await service.call(post('/apps', { name }));
  assert.equal(status, 201, text);
  const key = String(made['key']);
  return { ...service, key, call: async (call) => service.call({ key, ...call }) };
}

function faultsOf({ json: body }: Answer): { field: string; message: string }[] {
  return (body['errors'] ?? []) as { field: string; message: string }[];
}

describe('POST /events', () => {
  it('answers 202 with the id and the number of deliveries: none, one, several', async () => {
    await using on = await stage();
    for (const deliveries of [0, 1, 2, 3]) {
      const answer = await on.service.call(post('/events', event('order.created')));
      assert.equal(answer.status, 202, answer.text);
      assert.deepEqual(Object.keys(answer.json), ['eventId', 'deliveries']);
      assert.match(String(answer.json['eventId']), idPattern);
      assert.equal(answer.json['deliveries'], deliveries);
      await subscribe(on.service, on.receiver.url);
    }
    await on.receiver.waitFor(1 + 2 + 3);
  });

  it('is visible at once, with its payload', async () => {
    await using on = await stage();
    const payload = { message: 'hello', order: { id: 42, tags: ['a', null, 1.5] } };
    const { json: accepted } = await on.service.call(post('/events', event('a.b', payload)));
    const id = String(accepted['eventId']);
    const shown = await get<EventView>(on.service, `/events/${id}`);
    const { createdAt, ...rest } = shown;
    assert.deepEqual(rest, { id, event: 'a.b', deliveries: 0, payload });
    assert.match(createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.deepEqual(await events(on.service), [{ id, event: 'a.b', deliveries: 0, createdAt }]);
  });

  it('shows the payload as it was written, with numbers that JavaScript cannot represent', async () => {
    await using on = await stage();
    const written = '{"message":"a\\u0041",  "big":12345678901234567890123456789, "e":1e400}';
    const body = `{"event":"big","payload":${written}}`;
    const { json: accepted } = await on.service.call(post('/events', body, json));
    const { text } = await on.service.call({ path: `/events/${String(accepted['eventId'])}` });
    assert.ok(text.endsWith(`,"payload":${written}}`), text);
  });

  it('delivers the bytes of the payload unchanged', async () => {
    await using on = await stage();
    await subscribe(on.service, on.receiver.url);
    const payloads = [
      '{"message":"x","big":123456789012345678901234567890,"e":1E400,"z":-0.0}',
      '{"b":1,"a":2,"message":"x","1":0}',
      '{ "message" :\t"x"\n, "pad":[ 1 ,2 ] }',
      '{"message":"\\u00e9 é \\ud83d\\ude00 😀 \\/ \\ud800"}',
      '{"message":1,"message":"the last one counts","__proto__":{"a":1}}',
      '{"message":"x","payload":{"payload":1}}',
    ];
    for (const payload of payloads) await publish(on.service, 'a', { payload });
    await on.receiver.waitFor(payloads.length);
    assert.deepEqual(
      new Set(on.receiver.requests.map(({ body }) => body.toString())),
      new Set(payloads),
    );
  });

  it('counts a large fan-out later, and delivers to all of 600 subscriptions', async () => {
    await using on = await stage();
    const made = Array.from({ length: 600 }, async (_, index) =>
      subscribe(on.service, `${on.receiver.url}/${index}`),
    );
    await Promise.all(made);
    const accepted = await publish(on.service, 'to.many');
    assert.equal(accepted.deliveries, null);
    const shown = await until(
      async () => get<EventView>(on.service, `/events/${accepted.eventId}`),
      ({ deliveries }) => deliveries !== null,
    );
    assert.equal(shown.deliveries, 600);
    const { requests } = on.receiver;
    const urlsCalled = (): number => new Set(requests.map(({ url }) => url)).size;
    // On a slow machine some attempts time out and are repeated, so there may be more than 600 requests.
    for (let count = 600; urlsCalled() < 600; count += 1) await on.receiver.waitFor(count);
    assert.equal(new Set(requests.map((one) => header(one, 'webhook-id'))).size, 1);
  });

  it('returns the number of deliveries up to 256, and null from 257 on', async () => {
    await using on = await stage();
    const add = async (): Promise<unknown> => subscribe(on.service, on.receiver.url);
    await Promise.all(Array.from({ length: 256 }, add));
    assert.equal((await publish(on.service, 'a')).deliveries, 256);
    await add();
    assert.equal((await publish(on.service, 'a')).deliveries, null);
    await on.receiver.waitFor(256 + 257);
  });

  it('delivers to callbacks that match the name, and to no others', async () => {
    await using on = await stage();
    const { url } = on.receiver;
    await subscribe(on.service, { callbackUrl: `${url}/one`, event: 'order.created' });
    await subscribe(on.service, { body: { successUrl: `${url}/ok`, failedUrl: `${url}/no` } });
    const counts: [string, number][] = [
      ['order.created', 1],
      ['order', 0],
      ['order.created.eu', 0],
      ['Order.created', 0],
      ['success', 1],
      ['failed', 1],
      ['inProgress', 0],
    ];
    for (const [name, count] of counts) {
      assert.equal((await publish(on.service, name)).deliveries, count, name);
    }
    const all = await on.receiver.waitFor(3);
    assert.deepEqual(all.map((one) => one.url).sort(), [
      '/hook/no',
      '/hook/ok',
      '/hook/one?event=order.created',
    ]);
  });

  it('never delivers to a subscription of another app', async () => {
    await using on = await stage();
    const other = await newApp(on.service, 'other');
    await subscribe(on.service, `${on.receiver.url}/ours`);
    await subscribe(other, `${on.receiver.url}/theirs`);
    assert.equal((await publish(on.service, 'a')).deliveries, 1);
    assert.equal((await publish(other, 'a')).deliveries, 1);
    const all = await on.receiver.waitFor(2);
    assert.deepEqual(all.map(({ url }) => url).sort(), ['/hook/ours', '/hook/theirs']);
    assert.equal((await events(on.service)).length, 1);
    assert.equal((await events(other)).length, 1);
    await quiet(on.service);
    assert.equal(on.receiver.requests.length, 2);
  });

  it('refuses the names of system events', async () => {
    await using on = await stage();
    await subscribe(on.service, `${on.receiver.url}/all`);
    const body = { event: 'ringback.x', payload: { message: 'm' } };
    const refused = await on.service.call({ method: 'POST', path: '/events', body });
    assert.equal(refused.status, 400);
    assert.match(String(refused.json['detail']), /starts with "ringback\.", which is reserved/);
    // Only the prefix with its dot is reserved.
    for (const name of ['ringback', 'ringbacks.x']) {
      assert.equal((await publish(on.service, name)).deliveries, 1, name);
    }
    const all = await on.receiver.waitFor(2);
    const heard = all.map((one) => header(one, 'ringback-event'));
    assert.deepEqual(heard.sort(), ['ringback', 'ringbacks.x']);
  });
});

describe('subscriberId', () => {
  it('addresses one subscription, if it matches the event', async () => {
    await using on = await stage();
    const { url } = on.receiver;
    const one = await subscribe(on.service, `${url}/one`);
    await subscribe(on.service, `${url}/two`);
    const picky = await subscribe(on.service, { callbackUrl: `${url}/picky`, event: 'b' });
    assert.equal((await publish(on.service, 'a', { subscriberId: one.id })).deliveries, 1);
    assert.equal((await publish(on.service, 'a', { subscriberId: picky.id })).deliveries, 0);
    const batch = { events: [event('b'), event('c')], subscriberId: picky.id };
    const { json: answered } = await on.service.call(post('/events/batch', batch));
    const items = answered['items'] as Accepted[];
    assert.deepEqual(
      items.map(({ deliveries }) => deliveries),
      [1, 0],
    );
    const all = await on.receiver.waitFor(2);
    assert.deepEqual(all.map((got) => got.url).sort(), ['/hook/one', '/hook/picky?event=b']);
  });

  it('is 404 if it is unknown, of another app, ended, or not an id; nothing is stored', async () => {
    await using on = await stage();
    const other = await newApp(on.service, 'other');
    const foreign = await subscribe(other, on.receiver.url);
    const ended = await subscribe(on.service, on.receiver.url);
    await on.service.call(post(`/unsubscribe?Id=${ended.id}`));
    const ids = [
      `sub_${'0'.repeat(26)}`,
      foreign.id,
      ended.id,
      'sub_1',
      '',
      'evt_x',
      foreign.id.slice(4),
    ];
    for (const subscriberId of ids) {
      for (const call of [
        post('/events', { ...event('a'), subscriberId }),
        post('/events/batch', { events: [event('a')], subscriberId }),
      ]) {
        const answer = await on.service.call(call);
        assert.equal(answer.status, 404, `${subscriberId}: ${answer.text}`);
        assert.equal(answer.json['code'], 'not_found');
        assert.deepEqual(
          faultsOf(answer).map(({ field }) => field),
          ['body#/subscriberId'],
        );
      }
    }
    assert.deepEqual(await events(on.service), []);
  });
});

describe('POST /events/batch', () => {
  it('accepts 1,000 events, in the order of the request', async () => {
    await using on = await stage();
    const many = Array.from({ length: 1_000 }, (_, index) => event(`n.${index}`));
    const {
      status,
      json: body,
      text,
    } = await on.service.call(post('/events/batch', { events: many }));
    assert.equal(status, 202, text);
    const items = body['items'] as Accepted[];
    assert.equal(items.length, 1_000);
    assert.equal(new Set(items.map(({ eventId }) => eventId)).size, 1_000);
    for (const index of [0, 1, 499, 999]) {
      const shown = await get<EventView>(on.service, `/events/${items[index]?.eventId}`);
      assert.equal(shown.event, `n.${index}`);
    }
  });

  it('delivers each of them', async () => {
    await using on = await stage();
    await subscribe(on.service, on.receiver.url);
    const many = Array.from({ length: 300 }, (_, index) => event('a', { message: `${index}` }));
    await on.service.call(post('/events/batch', { events: many }));
    const all = await on.receiver.waitFor(300);
    assert.equal(new Set(all.map(({ body }) => body.toString())).size, 300);
  });

  it('refuses 1,001, and stores none', async () => {
    await using on = await stage();
    const many = Array.from({ length: 1_001 }, () => event('a'));
    const answer = await on.service.call(post('/events/batch', { events: many }));
    assert.equal(`${answer.status} ${String(answer.json['code'])}`, '400 invalid_request');
    assert.equal(faultsOf(answer)[0]?.field, 'body#/events');
    assert.match(faultsOf(answer)[0]?.message ?? '', /1000/);
    assert.deepEqual(await events(on.service), []);
  });

  it('stores all or none: one invalid payload of 1,000 is named, and nothing is stored', async () => {
    await using on = await stage();
    await subscribe(on.service, on.receiver.url);
    const many = Array.from({ length: 1_000 }, (_, index) =>
      event('a', index === 17 ? { message: 17 } : { message: 'fine' }),
    );
    const answer = await on.service.call(post('/events/batch', { events: many }));
    assert.equal(`${answer.status} ${String(answer.json['code'])}`, '422 payload_refused');
    const faults = faultsOf(answer);
    assert.ok(faults.length > 0);
    for (const { field } of faults) assert.equal(field, 'body#/events/17/payload/message');
    assert.match(String(answer.json['detail']), /body#\/events\/17\/payload\/message/);
    assert.deepEqual(await events(on.service), []);
    assert.deepEqual(await quiet(on.service), []);
    assert.equal(on.receiver.requests.length, 0);
  });

  it('names every invalid payload', async () => {
    await using on = await stage();
    const many = [event('a', {}), event('a'), event('success', { message: null })];
    const answer = await on.service.call(post('/events/batch', { events: many }));
    const fields = new Set(faultsOf(answer).map(({ field }) => field));
    assert.deepEqual(
      fields,
      new Set(['body#/events/0/payload/message', 'body#/events/2/payload/message']),
    );
  });
});

describe('a batch of invalid events', () => {
  it('names the first invalid payloads, up to the limit of errors in a response', async () => {
    await using on = await stage();
    const many = Array.from({ length: 1_000 }, () => event('a', {}));
    const answer = await on.service.call(post('/events/batch', { events: many }));
    assert.equal(`${answer.status} ${String(answer.json['code'])}`, '422 payload_refused');
    const fields = faultsOf(answer).map(({ field }) => field);
    assert.equal(fields.length, bounds.faultsMax);
    assert.equal(fields[0], 'body#/events/0/payload/message');
  });

  it('is refused for its size alone if it is too long', async () => {
    await using on = await stage();
    const many = Array.from({ length: 24_800 }, () => ({}));
    const answer = await on.service.call(post('/events/batch', { events: many }));
    assert.deepEqual(faultsOf(answer), [
      { field: 'body#/events', message: 'must have at most 1000 items, has 24800' },
    ]);
  });
});

describe('the payload of the built-in contract', () => {
  let on: On;
  before(async () => {
    on = await stage();
  });
  after(async () => on[Symbol.asyncDispose]());

  const good: [string, unknown][] = [
    ['a message', { message: 'x' }],
    ['an empty message', { message: '' }],
    ['other fields of any type', { message: 'x', a: 1, b: [null], c: { message: 2 } }],
    ['a name without subscribers', { message: 'x' }],
  ];
  for (const [name, payload] of good) {
    it(`may be ${name}`, async () => {
      const answer = await on.service.call(post('/events', event('a', payload)));
      assert.equal(answer.status, 202, answer.text);
    });
  }

  const bad: [string, unknown, string, RegExp][] = [
    ['a number', 42, '', /must be an object, is a number/],
    ['null', null, '', /must be an object, is null/],
    ['a list', [{ message: 'x' }], '', /must be an object, is a list/],
    ['a text', 'message', '', /must be an object, is a string/],
    ['a boolean', true, '', /must be an object, is a boolean/],
    ['an empty object', {}, '/message', /is required/],
    ['without a message', { text: 'x' }, '/message', /is required/],
    [
      'with a message that is a number',
      { message: 1 },
      '/message',
      /must be a string, is a number/,
    ],
    ['with a message that is null', { message: null }, '/message', /must be a string, is null/],
    ['with a message that is a list', { message: ['x'] }, '/message', /is a list/],
  ];
  for (const [name, payload, at, says] of bad) {
    it(`may not be ${name}`, async () => {
      for (const heard of ['a', 'success']) {
        const answer = await on.service.call(post('/events', event(heard, payload)));
        assert.equal(`${answer.status} ${String(answer.json['code'])}`, '422 payload_refused');
        const [fault] = faultsOf(answer);
        assert.equal(fault?.field, `body#/payload${at}`);
        assert.match(fault?.message ?? '', says);
        assert.match(fault?.message ?? '', /callback "(myEvent|inProgress)"/);
      }
    });
  }
});

describe('the name of an event', () => {
  let on: On;
  before(async () => {
    on = await stage();
  });
  after(async () => on[Symbol.asyncDispose]());

  const good = ['a', 'A-1_b', 'a.b.c', '0', 'e'.repeat(256), '-', '.', 'a b', '*', 'a.*', 'ä/\n'];
  for (const name of good) {
    it(`may be ${JSON.stringify(name.slice(0, 20))}`, async () => {
      assert.equal((await on.service.call(post('/events', event(name)))).status, 202);
    });
  }
  const bad = ['', 'a\0', 'a\ud800', 'e'.repeat(257)];
  for (const name of bad) {
    it(`may not be ${JSON.stringify(name.slice(0, 20))}`, async () => {
      for (const [path, body, field] of [
        ['/events', event(name), 'body#/event'],
        ['/events/batch', { events: [event('a'), event(name)] }, 'body#/events/1/event'],
      ] as const) {
        const answer = await on.service.call(post(path, body));
        assert.equal(`${answer.status} ${String(answer.json['code'])}`, '400 invalid_request');
        assert.ok(
          faultsOf(answer).some((fault) => fault.field === field),
          answer.text,
        );
      }
    });
  }
});

describe('Idempotency-Key on publish', () => {
  const keyed = (key: string, path = '/events', name = 'a'): Call =>
    post(path, path === '/events' ? event(name) : { events: [event(name), event('b')] }, {
      'idempotency-key': key,
    });

  it('answers a repeat with the same ids, and delivers once', async () => {
    await using on = await stage();
    await subscribe(on.service, on.receiver.url);
    for (const path of ['/events', '/events/batch']) {
      const first = await on.service.call(keyed('k', path));
      assert.equal(first.status, 202, first.text);
      const second = await on.service.call(keyed('k', path));
      assert.deepEqual([second.status, second.text], [first.status, first.text]);
    }
    assert.equal((await events(on.service)).length, 1 + 2);
    await quiet(on.service);
    assert.equal(on.receiver.requests.length, 1 + 2);
  });

  it('is refused with 422 for another body', async () => {
    await using on = await stage();
    await on.service.call(keyed('k'));
    const answer = await on.service.call(keyed('k', '/events', 'other'));
    assert.equal(`${answer.status} ${String(answer.json['code'])}`, '422 idempotency_mismatch');
    assert.equal(faultsOf(answer)[0]?.field, 'header.Idempotency-Key');
    assert.equal((await events(on.service)).length, 1);
  });

  it('makes one event of many requests at once', async () => {
    await using on = await stage();
    await subscribe(on.service, on.receiver.url);
    const answers = await Promise.all(
      Array.from({ length: 12 }, async () => on.service.call(keyed('k'))),
    );
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([202]));
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
    await quiet(on.service);
    assert.equal(on.receiver.requests.length, 1);
  });

  it('belongs to one app and one operation', async () => {
    await using on = await stage();
    const other = await newApp(on.service, 'other');
    const ids = new Set<unknown>();
    for (const one of [on.service, other]) {
      ids.add((await one.call(keyed('k'))).json['eventId']);
      const batch = await one.call(keyed('k', '/events/batch'));
      assert.equal(batch.status, 202, batch.text);
      const subscribed = await one.call(
        post('/subscribe', { callbackUrl: on.receiver.url }, { 'idempotency-key': 'k' }),
      );
      assert.equal(subscribed.status, 201, subscribed.text);
    }
    assert.equal(ids.size, 2);
    assert.deepEqual([(await events(on.service)).length, (await events(other)).length], [3, 3]);
  });

  it('is remembered for a day', async () => {
    const world = movableWorld();
    await using on = await stage({ world });
    const first = await on.service.call(keyed('k'));
    world.moveOn(dayMs - 60_000);
    assert.equal((await on.service.call(keyed('k'))).text, first.text);
    world.moveOn(120_000);
    const later = await on.service.call(keyed('k', '/events', 'other'));
    assert.equal(later.status, 202, later.text);
    assert.notEqual(later.json['eventId'], first.json['eventId']);
  });

  it('is not used up by a refused request', async () => {
    await using on = await stage();
    const headers = { 'idempotency-key': 'k' };
    assert.equal((await on.service.call(post('/events', event('a', 1), headers))).status, 422);
    assert.equal((await on.service.call(keyed('k'))).status, 202);
  });
});

describe('GET /events', () => {
  it('lists newest first, by name and by page', async () => {
    await using on = await stage();
    const ids: string[] = [];
    for (const name of ['a', 'b', 'a', 'b', 'a'])
      ids.unshift((await publish(on.service, name)).eventId);
    const idsOf = (page: Page<EventView>): string[] => page.items.map(({ id }) => id);
    assert.deepEqual(idsOf(await get(on.service, '/events')), ids);
    const named = ids.filter((_, index) => index % 2 === 0);
    assert.deepEqual(idsOf(await get(on.service, '/events?event=a')), named);
    assert.deepEqual(idsOf(await get(on.service, '/events?event=none')), []);
    const seen: string[] = [];
    let cursor = '';
    do {
      const page = await get<Page<EventView>>(on.service, `/events?limit=2${cursor}`);
      assert.ok(page.items.length <= 2);
      seen.push(...idsOf(page));
      cursor = page.nextCursor === null ? '' : `&cursor=${page.nextCursor}`;
    } while (cursor !== '');
    assert.deepEqual(seen, ids);
  });
});

describe('GET /event-types', () => {
  it('lists the events of the contract’s callbacks, with a schema and a publishable example', async () => {
    await using on = await stage();
    const { items } = await get<{ items: Record<string, unknown>[] }>(on.service, '/event-types');
    const rows = items.map((one) => `${String(one['callback'])} ${String(one['event'])}`);
    assert.deepEqual(rows, [
      'myEvent *',
      'myEvent {$request.query.event}',
      'inProgress inProgress',
      'inProgress failed',
      'inProgress success',
    ]);
    for (const { mediaType, schema, example, event: name } of items) {
      assert.equal(mediaType, 'application/json');
      assert.equal(typeof schema, 'object');
      const named = /^[a-zA-Z]+$/.test(String(name)) ? String(name) : 'any.name';
      const answer = await on.service.call(post('/events', event(named, example)));
      assert.equal(answer.status, 202, answer.text);
    }
  });
});

describe('POST /subscriptions/{id}/ping', () => {
  it('is delivered to every callback of the subscription, whatever its pattern', async () => {
    await using on = await stage();
    const { url } = on.receiver;
    await subscribe(on.service, `${url}/other`);
    const urls = { inProgressUrl: `${url}/1`, failedUrl: `${url}/2`, successUrl: `${url}/3` };
    const { id } = await subscribe(on.service, { body: urls });
    const answer = await on.service.call(post(`/subscriptions/${id}/ping`));
    assert.equal(answer.status, 202, answer.text);
    assert.equal(answer.json['deliveries'], 3);
    const all = await on.receiver.waitFor(3);
    assert.deepEqual(all.map((one) => one.url).sort(), ['/hook/1', '/hook/2', '/hook/3']);
    for (const one of all) {
      assert.equal(header(one, 'ringback-event'), 'ringback.ping');
      assert.equal(
        typeof (JSON.parse(one.body.toString()) as { message: unknown }).message,
        'string',
      );
    }
    await quiet(on.service);
    assert.equal(on.receiver.requests.length, 3);
  });

  it('is 404 for a foreign, an unknown and an ended subscription', async () => {
    await using on = await stage();
    const other = await newApp(on.service, 'other');
    const foreign = await subscribe(other, on.receiver.url);
    const ended = await subscribe(on.service, on.receiver.url);
    await on.service.call(post(`/unsubscribe?Id=${ended.id}`));
    for (const id of [foreign.id, ended.id, `sub_${'0'.repeat(26)}`, 'sub_1']) {
      const answer = await on.service.call(post(`/subscriptions/${id}/ping`));
      assert.equal(answer.status, 404, `${id}: ${answer.text}`);
    }
    assert.equal(on.receiver.requests.length, 0);
  });
});

describe('POST /deliveries/{id}/retry', () => {
  const retry = async (service: Running, id: string): Promise<Answer> =>
    service.call(post(`/deliveries/${id}/retry`));

  it('sends a dead delivery again, with the same id and attempt count', async () => {
    await using on = await stage({ env: { RINGBACK_RETRY: '1ms' } });
    on.receiver.script = () => 500;
    await subscribe(on.service, on.receiver.url);
    const accepted = await publish(on.service, 'a');
    const id = await onlyDelivery(on.service, accepted);
    await inState(on.service, id, 'dead');
    on.receiver.script = () => 200;
    const answer = await retry(on.service, id);
    assert.deepEqual([answer.status, answer.json], [202, { id }]);
    const done = await inState(on.service, id, 'delivered');
    assert.equal(done.attemptCount, 3);
    assert.equal(done.attempts.length, 3);
    assert.deepEqual(
      on.receiver.requests.map((one) => header(one, 'ringback-attempt')),
      ['1', '2', '3'],
    );
  });

  it('creates a new delivery for a delivered one, with the same webhook-id and bytes', async () => {
    await using on = await stage();
    await subscribe(on.service, on.receiver.url);
    const accepted = await publish(on.service, 'a');
    const id = await onlyDelivery(on.service, accepted);
    const first = await inState(on.service, id, 'delivered');
    const answer = await retry(on.service, id);
    assert.equal(answer.status, 202, answer.text);
    const next = String(answer.json['id']);
    assert.notEqual(next, id);
    await inState(on.service, next, 'delivered');
    assert.deepEqual(await get<DeliveryView>(on.service, `/deliveries/${id}`), first);
    const [one, two] = on.receiver.requests;
    assert.ok(one && two);
    assert.equal(header(two, 'webhook-id'), header(one, 'webhook-id'));
    assert.equal(header(two, 'ringback-delivery'), next);
    assert.deepEqual(two.body, one.body);
    const { deliveries } = await get<EventView>(on.service, `/events/${accepted.eventId}`);
    assert.equal(deliveries, 2);
  });

  it('is 409 while the delivery is pending, and after its subscription has ended', async () => {
    await using on = await stage({ env: { RINGBACK_RETRY: '1h' } });
    on.receiver.script = () => 500;
    const { id: subscriberId } = await subscribe(on.service, on.receiver.url);
    const accepted = await publish(on.service, 'a');
    const id = await onlyDelivery(on.service, accepted);
    await attempted(on.service, id);
    const pending = await retry(on.service, id);
    assert.equal(`${pending.status} ${String(pending.json['code'])}`, '409 conflict');
    assert.match(String(pending.json['detail']), /has not ended yet/);
    await patch(on.service, subscriberId, { state: 'paused' });
    assert.equal((await retry(on.service, id)).status, 409);
    await on.service.call(post(`/unsubscribe?Id=${subscriberId}`));
    await inState(on.service, id, 'cancelled');
    const ended = await retry(on.service, id);
    assert.equal(ended.status, 409);
    assert.match(String(ended.json['detail']), /subscription has ended/);
  });

  it('is 404 for a foreign, an unknown and a malformed id', async () => {
    await using on = await stage();
    const other = await newApp(on.service, 'other');
    await subscribe(other, on.receiver.url);
    const accepted = await publish(other, 'a');
    const foreign = await onlyDelivery(other, accepted);
    await inState(other, foreign, 'delivered');
    const unknown = `dlv_${'0'.repeat(26)}_0`;
    for (const id of [foreign, unknown, `${foreign}0`, 'dlv_x', accepted.eventId]) {
      assert.equal((await retry(on.service, id)).status, 404, id);
      assert.equal((await on.service.call({ path: `/deliveries/${id}` })).status, 404, id);
    }
    await quiet(other);
    assert.equal(on.receiver.requests.length, 1);
  });
});

/** Status and code, the field that `errors` must name, and what `detail` must say. */
type Row = readonly [
  name: string,
  request: Call,
  expected: `4${string} ${ProblemCode}`,
  field?: string | undefined,
  says?: RegExp,
];

const one = (text: string, headers: Record<string, string> = json): Call =>
  post('/events', text, headers);
const batch = (text: string): Call => post('/events/batch', text, json);
const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
const fine = '{"message":"x"}';
const big = `{"event":"a","payload":{"message":"${'x'.repeat(1_048_576)}"}}`;
const list = (path: string): Call => ({ path });

const rows: readonly Row[] = [
  // The object around the payload.
  ['no body', post('/events'), '400 invalid_request', 'body'],
  ['an empty object', one('{}'), '400 invalid_request', 'body#/event'],
  [
    'no payload',
    one('{"event":"a"}'),
    '400 invalid_request',
    'body#/payload',
    /payload is required/,
  ],
  ['no event', one(`{"payload":${fine}}`), '400 invalid_request', 'body#/event'],
  [
    'a misspelt subscriberId, which would address all subscriptions',
    one(`{"event":"a","payload":${fine},"subscriberID":"sub_x"}`),
    '400 invalid_request',
    'body#/subscriberID',
    /not allowed here/,
  ],
  ['a list as body', one(`[{"event":"a","payload":${fine}}]`), '400 invalid_request', 'body'],
  ['null as body', one('null'), '400 invalid_request', 'body'],
  ['a text as body', one('"a"'), '400 invalid_request', 'body'],
  [
    'an event that is a number',
    one(`{"event":1,"payload":${fine}}`),
    '400 invalid_request',
    'body#/event',
  ],
  [
    'an event that is null',
    one(`{"event":null,"payload":${fine}}`),
    '400 invalid_request',
    'body#/event',
  ],
  [
    'an event that is a list',
    one(`{"event":["a"],"payload":${fine}}`),
    '400 invalid_request',
    'body#/event',
  ],
  [
    'an event that is an object',
    one(`{"event":{},"payload":${fine}}`),
    '400 invalid_request',
    'body#/event',
  ],
  [
    'a subscriberId that is a number',
    one(`{"event":"a","payload":${fine},"subscriberId":1}`),
    '400 invalid_request',
    'body#/subscriberId',
  ],
  [
    'a subscriberId that is null',
    one(`{"event":"a","payload":${fine},"subscriberId":null}`),
    '400 invalid_request',
    'body#/subscriberId',
  ],
  [
    'a subscriberId that is a list',
    one(`{"event":"a","payload":${fine},"subscriberId":[]}`),
    '400 invalid_request',
    'body#/subscriberId',
  ],

  // The JSON text.
  ['not JSON', one('event=a'), '400 malformed_request', 'body'],
  ['half an event', one('{"event":"a","payload":{"message":"x"}'), '400 malformed_request', 'body'],
  ['half a payload', one('{"event":"a","payload":{"message":"x}'), '400 malformed_request', 'body'],
  ['a payload without a value', one('{"event":"a","payload":}'), '400 malformed_request', 'body'],
  [
    'a trailing comma in the payload',
    one('{"event":"a","payload":{"message":"x",}}'),
    '400 malformed_request',
    'body',
  ],
  [
    'NaN in the payload',
    one('{"event":"a","payload":{"message":"x","n":NaN}}'),
    '400 malformed_request',
    'body',
  ],
  [
    'text after the event',
    one(`{"event":"a","payload":${fine}}{}`),
    '400 malformed_request',
    'body',
  ],
  [
    'the event twice',
    one(`{"event":"a","event":"b","payload":${fine}}`),
    '400 malformed_request',
    'body',
    /"event" twice/,
  ],
  [
    'the payload twice',
    one(`{"event":"a","payload":${fine},"payload":${fine}}`),
    '400 malformed_request',
    'body',
    /"payload" twice/,
  ],
  [
    'the payload twice, once escaped',
    one(`{"event":"a","payload":${fine},"payl\\u006fad":${fine}}`),
    '400 malformed_request',
    'body',
    /"payload" twice/,
  ],
  [
    '__proto__ around the payload',
    one(`{"event":"a","payload":${fine},"__proto__":{}}`),
    '400 malformed_request',
    'body',
  ],
  [
    'a payload that is 64 levels deep',
    one(`{"event":"a","payload":{"message":"x","n":${nested(63)}}}`),
    '400 malformed_request',
    'body',
    /64 levels/,
  ],
  [
    'a payload of 60,000 values',
    one(`{"event":"a","payload":{"message":"x","n":[${'1,'.repeat(60_000)}1]}}`),
    '400 malformed_request',
    'body',
    /50000 values/,
  ],
  ['more than 1 MiB', one(big), '413 body_too_large'],
  [
    'invalid UTF-8',
    post('/events', Buffer.from(`{"event":"a","payload":{"message":"\xff"}}`, 'latin1'), json),
    '400 malformed_request',
    'body',
    /UTF-8/,
  ],
  [
    'text/plain',
    one(`{"event":"a","payload":${fine}}`, { 'content-type': 'text/plain' }),
    '415 unsupported_media_type',
  ],
  [
    'a form',
    one('event=a', { 'content-type': 'application/x-www-form-urlencoded' }),
    '415 unsupported_media_type',
  ],
  [
    'another charset',
    one(`{"event":"a","payload":${fine}}`, { 'content-type': 'application/json; charset=latin1' }),
    '415 unsupported_media_type',
  ],
  [
    'a compressed body',
    one(`{"event":"a","payload":${fine}}`, { ...json, 'content-encoding': 'gzip' }),
    '415 unsupported_media_type',
  ],
  [
    'an idempotency key of 256 characters',
    one(`{"event":"a","payload":${fine}}`, { ...json, 'idempotency-key': 'k'.repeat(256) }),
    '400 invalid_request',
    'header.Idempotency-Key',
  ],

  // Batches.
  ['a batch without events', batch('{}'), '400 invalid_request', 'body#/events'],
  ['an empty batch', batch('{"events":[]}'), '400 invalid_request', 'body#/events'],
  [
    'a batch that is a list',
    batch(`[{"event":"a","payload":${fine}}]`),
    '400 invalid_request',
    'body',
  ],
  ['events that are an object', batch('{"events":{}}'), '400 invalid_request', 'body#/events'],
  ['events that are null', batch('{"events":null}'), '400 invalid_request', 'body#/events'],
  [
    'an event of a batch that is a string',
    batch('{"events":["a"]}'),
    '400 invalid_request',
    'body#/events/0',
  ],
  [
    'an event of a batch without a payload',
    batch(`{"events":[{"event":"a","payload":${fine}},{"event":"a"}]}`),
    '400 invalid_request',
    'body#/events/1/payload',
  ],
  [
    'an event of a batch without a name',
    batch(`{"events":[{"payload":${fine}}]}`),
    '400 invalid_request',
    'body#/events/0/event',
  ],
  [
    'an unknown field of a batch',
    batch(`{"events":[{"event":"a","payload":${fine}}],"note":1}`),
    '400 invalid_request',
    'body#/note',
  ],
  [
    'a key twice in an event of a batch',
    batch(`{"events":[{"event":"a","event":"b","payload":${fine}}]}`),
    '400 malformed_request',
    'body',
  ],
  [
    'the payload twice in an event of a batch',
    batch(`{"events":[{"event":"a","payload":1,"payload":${fine}}]}`),
    '400 malformed_request',
    'body',
  ],

  // Lists.
  ...['/events', '/deliveries'].flatMap((path): Row[] => [
    [`${path}: limit 0`, list(`${path}?limit=0`), '400 invalid_request', 'query.limit'],
    [`${path}: limit 501`, list(`${path}?limit=501`), '400 invalid_request', 'query.limit'],
    [`${path}: limit 1.5`, list(`${path}?limit=1.5`), '400 invalid_request', 'query.limit'],
    [`${path}: limit of letters`, list(`${path}?limit=ten`), '400 invalid_request', 'query.limit'],
    [`${path}: limit twice`, list(`${path}?limit=1&limit=2`), '400 invalid_request', 'query.limit'],
    [`${path}: an empty cursor`, list(`${path}?cursor=`), '400 invalid_request', 'query.cursor'],
    [
      `${path}: a made-up cursor`,
      list(`${path}?cursor=next`),
      '400 invalid_request',
      'query.cursor',
    ],
    [
      `${path}: a cursor of another list`,
      list(`${path}?cursor=17`),
      '400 invalid_request',
      'query.cursor',
    ],
    [
      `${path}: a long cursor`,
      list(`${path}?cursor=${'1'.repeat(257)}`),
      '400 invalid_request',
      'query.cursor',
    ],
    [`${path}: an empty event`, list(`${path}?event=`), '400 invalid_request', 'query.event'],
    [
      `${path}: an event of 257 characters`,
      list(`${path}?event=${'e'.repeat(257)}`),
      '400 invalid_request',
      'query.event',
    ],
    [`${path}: a bad escape`, list(`${path}?event=%ff`), '400 malformed_request', 'query.event'],
    [`${path}: U+0000 as event`, list(`${path}?event=%00`), '400 invalid_request', 'query.event'],
    ...['', 'today', '2026-01-01', '1700000000', '2026-02-30T00:00:00Z', '2026-01-01T00:00:00'].map(
      (time): Row => [
        `${path}: from "${time}"`,
        list(`${path}?from=${time}`),
        '400 invalid_request',
        'query.from',
      ],
    ),
    [
      `${path}: until a leap second`,
      list(`${path}?until=2016-12-31T23:59:60Z`),
      '400 invalid_request',
      'query.until',
    ],
    [
      `${path}: from after until`,
      list(`${path}?from=2026-01-02T00:00:00Z&until=2026-01-01T23:59:59Z`),
      '400 invalid_request',
      'query.until',
    ],
  ]),
  ...['9xx', '1xx', '4XX', 'xx', '40', '4040', '099', ''].map((status): Row => [
    `the status "${status}"`,
    list(`/deliveries?status=${status}`),
    '400 invalid_request',
    'query.status',
  ]),
  ...['unknown', 'TIMEOUT', 'gone', ''].map((error): Row => [
    `the error "${error}"`,
    list(`/deliveries?error=${error}`),
    '400 invalid_request',
    'query.error',
  ]),
  [
    'an empty event of subscriptions',
    list('/subscriptions?event='),
    '400 invalid_request',
    'query.event',
  ],
  ['an empty url', list('/subscriptions?url='), '400 invalid_request', 'query.url'],
  ['a NUL as url', list('/subscriptions?url=a%00b'), '400 invalid_request', 'query.url'],
  [
    'a long url',
    list(`/subscriptions?url=${'u'.repeat(4_097)}`),
    '400 invalid_request',
    'query.url',
  ],
  [
    '/subscriptions: a cursor of another list',
    list(`/subscriptions?cursor=${'0'.repeat(26)}_0`),
    '400 invalid_request',
    'query.cursor',
  ],
  [
    '/keys: a cursor of another list',
    list(`/keys?cursor=1__0`),
    '400 invalid_request',
    'query.cursor',
  ],
  ['an unknown state', list('/deliveries?state=sent'), '400 invalid_request', 'query.state'],
  ['a state in capitals', list('/deliveries?state=DUE'), '400 invalid_request', 'query.state'],
  ['two states', list('/deliveries?state=due&state=dead'), '400 invalid_request', 'query.state'],
  [
    'an eventId without its prefix',
    list(`/deliveries?eventId=${'0'.repeat(26)}`),
    '400 invalid_request',
    'query.eventId',
  ],
  [
    'an eventId of another kind',
    list(`/deliveries?eventId=sub_${'0'.repeat(26)}`),
    '400 invalid_request',
    'query.eventId',
  ],
  [
    'an empty subscriberId',
    list('/deliveries?subscriberId='),
    '400 invalid_request',
    'query.subscriberId',
  ],
  [
    'a short subscriberId',
    list('/deliveries?subscriberId=sub_1'),
    '400 invalid_request',
    'query.subscriberId',
  ],

  // Paths.
  ['an unknown event', list(`/events/evt_${'0'.repeat(26)}`), '404 not_found'],
  ['an invalid event id', list('/events/latest'), '404 not_found'],
  ['GET of a batch', list('/events/batch'), '404 not_found'],
  ['an invalid delivery id', list('/deliveries/dlv_1'), '404 not_found'],
  [
    'DELETE of an event',
    { method: 'DELETE', path: `/events/evt_${'0'.repeat(26)}` },
    '405 method_not_allowed',
  ],
  ['PUT of a batch', { method: 'PUT', path: '/events/batch', body: {} }, '405 method_not_allowed'],
];

describe('bad input of events and deliveries', () => {
  let on: On;
  before(async () => {
    on = await stage();
    await subscribe(on.service, on.receiver.url);
  });
  after(async () => on[Symbol.asyncDispose]());

  it('has a unique name for each row', () => {
    assert.equal(new Set(rows.map(([name]) => name)).size, rows.length);
  });

  for (const [name, request, expected, field, says] of rows) {
    it(`${name}: ${expected}`, async () => {
      const answer = await on.service.call(request);
      const code = String(answer.json['code']);
      assert.equal(`${answer.status} ${code}`, expected, answer.text);
      assert.match(answer.headers.get('content-type') ?? '', /^application\/problem\+json/);
      assert.equal(problems[code as ProblemCode].status, answer.status);
      const detail = String(answer.json['detail']);
      for (const text of [detail, ...faultsOf(answer).map(({ message }) => message)]) {
        assert.match(text, /\w \w/);
        assert.doesNotMatch(text, /\[object|undefined|NaN,|\bError\b|\n\s+at |src\//);
      }
      if (says !== undefined) assert.match(detail, says);
      if (field === undefined) return;
      assert.ok(
        faultsOf(answer).some((fault) => fault.field === field),
        answer.text,
      );
    });
  }

  it('stores nothing, sends nothing and causes no error of the service', async () => {
    assert.deepEqual(await events(on.service), []);
    assert.deepEqual(await quiet(on.service), []);
    assert.equal(on.receiver.requests.length, 0);
    const lines = on.service.logged().trim().split('\n');
    const entries = lines.map((line) => JSON.parse(line) as { level: number; status?: number });
    assert.deepEqual(
      entries.filter(({ level, status = 0 }) => level >= 50 || status >= 500),
      [],
    );
  });

  it('is not input within the limits: depth, duplicates and __proto__ inside the payload', async () => {
    for (const payload of [
      `{"message":"x","n":${nested(62)}}`,
      '{"message":"x","a":1,"a":2}',
      '{"message":"x","__proto__":{"message":1}}',
    ]) {
      const answer = await on.service.call(one(`{"event":"a","payload":${payload}}`));
      assert.equal(answer.status, 202, answer.text);
    }
  });
});
