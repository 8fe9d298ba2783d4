// Event types: declare, list, show and delete them; what they refuse at a publish, and when a change holds.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { limits } from '../../src/core/limits/limits.ts';
import { get, publish } from '../e2e/stage.ts';
import { memoryStore } from '../store/migrated-memory.ts';
import { frozenWorld } from './frozen-world.ts';
import { start, type Answer, type Call, type Running } from './harness.ts';

const order = {
  schema: {
    type: 'object',
    required: ['orderId'],
    properties: { orderId: { type: 'integer' } },
  },
  description: 'An order was placed',
  example: { orderId: 42 },
};

function put(name: string, body: object = order): Call {
  return { method: 'PUT', path: `/event-types/${encodeURIComponent(name)}`, body };
}

function publishCall(event: string, payload: unknown): Call {
  return { method: 'POST', path: '/events', body: { event, payload } };
}

async function ok(service: Running, call: Call): Promise<Answer> {
  const answer = await service.call(call);
  assert.ok(answer.status < 300, answer.text);
  return answer;
}

/** The app of a new key, so that tests do not see the types of others. */
async function newApp(service: Running): Promise<Running> {
  const name = `app ${(appsMade += 1)}`;
  const { json } = await ok(service, { method: 'POST', path: '/apps', body: { name } });
  const key = String(json['key']);
  return { ...service, key, call: async (call) => service.call({ key, ...call }) };
}
let appsMade = 0;

function faultsOf({ json }: Answer): string[] {
  const errors = (json['errors'] ?? []) as { field: string; message: string }[];
  return errors.map(({ field, message }) => `${field} ${message}`);
}

let service: Running;
before(async () => {
  service = await start();
});
after(async () => service[Symbol.asyncDispose]());

describe('PUT /event-types/{name}', () => {
  it('declares a type, which is then shown and listed', async () => {
    const app = await newApp(service);
    const made = await ok(app, put('order.created'));
    assert.equal(made.status, 201);
    const { createdAt, updatedAt, ...shown } = made.json;
    assert.deepEqual(shown, { event: 'order.created', state: 'active', version: 1, ...order });
    assert.ok(Date.parse(String(createdAt)) > 0 && createdAt === updatedAt);
    const { json } = await ok(app, { path: '/event-types/order.created' });
    assert.deepEqual(json, made.json);
    const { items } = await get<{ items: { source: string }[] }>(app, '/event-types');
    assert.deepEqual(
      items.filter(({ source }) => source === 'declared'),
      [
        {
          ...shown,
          source: 'declared',
          callback: 'myEvent',
          contract: 'Ringback',
          mediaType: 'application/json',
        },
      ],
    );
  });

  it('replaces a type; its version rises with the schema only', async () => {
    const app = await newApp(service);
    await ok(app, put('order.created'));
    const again = await ok(app, put('order.created', { ...order, state: 'deprecated' }));
    assert.deepEqual([again.status, again.json['version']], [200, 1]);
    assert.equal(again.json['state'], 'deprecated');
    const { json } = await ok(app, put('order.created', { schema: {} }));
    const { updatedAt } = json;
    const shown = { event: 'order.created', state: 'active', version: 2, schema: {} };
    assert.deepEqual(json, { ...shown, createdAt: again.json['createdAt'], updatedAt });
  });

  it('accepts any name that an event may have', async () => {
    const app = await newApp(service);
    for (const name of ['a/b', 'ü ☃', '{name}', 'n'.repeat(limits.eventNameCharsMax)]) {
      assert.equal((await ok(app, put(name))).json['event'], name);
      await ok(app, { path: `/event-types/${encodeURIComponent(name)}` });
    }
  });

  for (const [name, body, expected] of [
    ['a', {}, ['body#/schema is required']],
    ['a', { schema: true }, ['body#/schema must be an object, is a boolean']],
    ['order.*', order, ['path.name is a pattern, expected the name of an event']],
    ['ringback.x', order, [/^path\.name starts with "ringback\."/]],
    ['n'.repeat(limits.eventNameCharsMax + 1), order, [/^path\.name must have at most 256/]],
    ['a', { ...order, state: 'gone' }, [/^body#\/state must be one of/]],
    ['a', { ...order, description: '\ud800' }, [/^body#\/description contains an unpaired/]],
    ['a', { ...order, example: { orderId: 'x' } }, [/^body#\/example\/orderId must be an integer/]],
    ['a', { ...order, example: null }, ['body#/example must be an object, is null']],
    [
      'a',
      { schema: { properties: { a: { kind: 'x' }, 'b/c': { type: 'y' } } } },
      ['body#/schema/properties/a/kind is not a supported keyword of JSON Schema'],
    ],
    [
      'a',
      { schema: { properties: { 'b/c': { type: 'y' } } } },
      ['body#/schema/properties/b~1c/type is a string, expected a JSON type'],
    ],
    ['a', { schema: { $ref: './x.json' } }, [/^body#\/schema\/\$ref leads to another document/]],
    [
      'a',
      { schema: { title: 'x'.repeat(limits.eventTypeSchemaCharsMax) } },
      [/^body#\/schema has 65548 characters as JSON, expected at most 65536$/],
    ],
    [
      'a',
      { schema: {}, example: 'x'.repeat(limits.eventTypeExampleCharsMax) },
      [/^body#\/example has 65538 characters as JSON, expected at most 65536$/],
    ],
  ] as const) {
    it(`refuses ${name.slice(0, 12)}: ${JSON.stringify(body).slice(0, 60)}`, async () => {
      const app = await newApp(service);
      const answer = await app.call(put(name, body));
      assert.deepEqual([answer.status, answer.json['code']], [400, 'invalid_request']);
      const faults = faultsOf(answer);
      assert.equal(faults.length, expected.length);
      for (const [at, each] of expected.entries()) {
        if (typeof each === 'string') assert.equal(faults[at], each);
        else assert.match(faults[at] ?? '', each);
      }
      const { items } = await get<{ items: { source: string }[] }>(app, '/event-types');
      assert.ok(items.every(({ source }) => source === 'callback'));
    });
  }

  it('refuses an example that takes too long to check', async () => {
    const app = await newApp(service);
    const list = {
      type: 'array',
      items: { anyOf: Array.from({ length: 500 }, () => ({ minLength: 2 })) },
    };
    const body = { schema: list, example: Array.from({ length: 10_000 }, () => '') };
    const answer = await app.call(put('a', body));
    assert.equal(answer.status, 400);
    assert.match(faultsOf(answer)[0] ?? '', /^body#\/example .*(?:steps|take too many)/);
  });

  it('refuses more than an app may have in all, and still replaces those it has', async () => {
    const app = await newApp(service);
    const title = 'x'.repeat(limits.eventTypeSchemaCharsMax - '{"title":""}'.length);
    const large = { schema: { title } };
    const most = limits.eventTypesCharsMax / limits.eventTypeSchemaCharsMax;
    for (let no = 0; no < most; no += 1) await ok(app, put(`type ${no}`, large));
    const answer = await app.call(put('one.more', { schema: {} }));
    assert.deepEqual([answer.status, answer.json['code']], [429, 'quota_exceeded']);
    const detail =
      /^Cannot declare event type "one\.more": the app would have event types of 4194306/;
    assert.match(String(answer.json['detail']), detail);
    await ok(app, put('type 0', { schema: {} }));
    await ok(app, put('one.more', { schema: {} }));
  });

  it('needs the scope admin, and reading the scope read', async () => {
    const app = await newApp(service);
    await ok(app, put('order.created'));
    const keyOf = async (...scopes: string[]): Promise<string> => {
      const body = { name: 'k', scopes };
      return String((await ok(app, { method: 'POST', path: '/keys', body })).json['key']);
    };
    const path = '/event-types/order.created';
    const [reader, publisher] = [await keyOf('read'), await keyOf('publish', 'subscribe')];
    const calls = [put('order.created'), { method: 'DELETE', path }, { path }];
    const statuses = async (key: string): Promise<number[]> =>
      Promise.all(calls.map(async (call) => (await app.call({ ...call, key })).status));
    assert.deepEqual(await statuses(reader), [403, 403, 200]);
    assert.deepEqual(await statuses(publisher), [403, 403, 403]);
  });
});

describe('DELETE /event-types/{name}', () => {
  it('deletes only the type of the own app', async () => {
    const [app, other] = [await newApp(service), await newApp(service)];
    await ok(app, put('order.created'));
    await ok(other, put('order.created', { schema: {} }));
    const call = { method: 'DELETE', path: '/event-types/order.created' };
    assert.equal((await ok(app, call)).status, 204);
    for (const missing of [call, { path: call.path }]) {
      const { status, json } = await app.call(missing);
      assert.deepEqual([status, json['code']], [404, 'not_found']);
    }
    assert.deepEqual((await ok(other, { path: call.path })).json['schema'], {});
  });
});

/** Taken directly here; test/fast-path-off.test.ts runs this file on the regular path. */
describe('a publish', () => {
  it('is checked by the schema that its name declares, instead of the contract', async () => {
    const app = await newApp(service);
    await ok(app, put('order.created'));
    await ok(app, publishCall('order.created', { orderId: 7 }));
    const answer = await app.call(publishCall('order.created', { message: 'm' }));
    assert.deepEqual([answer.status, answer.json['code']], [422, 'payload_refused']);
    const fault = 'body#/payload/orderId is required (event type "order.created")';
    assert.deepEqual(faultsOf(answer), [fault]);
    const undeclared = await app.call(publishCall('invoice.paid', { orderId: 7 }));
    assert.equal(undeclared.status, 422);
    assert.match(faultsOf(undeclared)[0] ?? '', /message is required \(callback "myEvent"/);
    await ok(app, publishCall('invoice.paid', { message: 'm' }));
  });

  it('is refused if its name is one edit away from a declared one', async () => {
    const app = await newApp(service);
    await ok(app, publishCall('order.creatd', { message: 'm' }));
    await ok(app, put('order.created'));
    await ok(app, put('succes', { schema: {} }));
    const answer = await app.call(publishCall('order.creatd', { message: 'm' }));
    assert.deepEqual([answer.status, answer.json['code']], [422, 'event_misspelled']);
    assert.deepEqual(faultsOf(answer), [
      'body#/event is not declared, did you mean "order.created"?',
    ]);
    assert.equal(
      answer.json['detail'],
      'Cannot publish event "order.creatd": did you mean "order.created"?',
    );
    // Two edits away; the name of a callback; declared as well.
    await ok(app, publishCall('order.crtd', { message: 'm' }));
    await ok(app, publishCall('success', { message: 'm', filename: 'f' }));
    await ok(app, put('order.creatd', { schema: {} }));
    await ok(app, publishCall('order.creatd', 'anything'));
  });

  it('is checked by the new schema as soon as it is declared, and by none once it is deleted', async () => {
    const app = await newApp(service);
    const attempt = async (payload: unknown): Promise<number> =>
      (await app.call(publishCall('a', payload))).status;
    assert.equal(await attempt({ message: 'm' }), 202);
    const path = '/event-types/a';
    for (let round = 0; round < 3; round += 1) {
      await ok(app, put('a', { schema: { type: 'string' } }));
      assert.deepEqual([await attempt('text'), await attempt(7)], [202, 422]);
      await ok(app, put('a', { schema: { type: 'integer' } }));
      assert.deepEqual([await attempt('text'), await attempt(7)], [422, 202]);
      await ok(app, { method: 'DELETE', path });
      assert.deepEqual([await attempt(7), await attempt({ message: 'm' })], [422, 202]);
    }
  });
});

describe('a batch', () => {
  it('names every event with a fault, and refuses all of them', async () => {
    const app = await newApp(service);
    await ok(app, put('order.created'));
    const events = [
      { event: 'order.created', payload: { orderId: 1 } },
      { event: 'order.created', payload: { orderId: 'x' } },
      { event: 'other', payload: { message: 'm' } },
    ];
    const call = { method: 'POST', path: '/events/batch' };
    const wrong = await app.call({ ...call, body: { events } });
    assert.deepEqual(faultsOf(wrong), [
      'body#/events/1/payload/orderId must be an integer, is a string (event type "order.created")',
    ]);
    const misspelled = events.map((one) => ({ ...one, event: one.event.replace('c', 'k') }));
    const many = Array.from({ length: 300 }, () => events[0]);
    const answer = await app.call({ ...call, body: { events: [...many, ...misspelled] } });
    assert.deepEqual(faultsOf(answer), [
      'body#/events/300/event is not declared, did you mean "order.created"?',
      'body#/events/301/event is not declared, did you mean "order.created"?',
    ]);
    const { json } = await ok(app, { path: '/events' });
    assert.deepEqual(json['items'], []);
  });
});

describe('a batch of names that nobody declared', () => {
  it('is compared with the declared ones only as far as the work allows', async () => {
    const app = await newApp(service);
    // Names that differ only at their ends cost most.
    const long = (end: string): string => 'n'.repeat(limits.eventNameCharsMax - end.length) + end;
    const types = 20;
    for (let i = 0; i < types; i += 1) await ok(app, put(long(`_${i + 100}`), { schema: {} }));
    const near = long('_1x0');
    const eventsOf = (names: readonly string[]): Call => ({
      method: 'POST',
      path: '/events/batch',
      body: { events: names.map((event) => ({ event, payload: { message: 'm' } })) },
    });
    assert.equal((await app.call(eventsOf([near]))).json['code'], 'event_misspelled');
    const each = types * limits.eventNameCharsMax;
    const far = Array.from({ length: Math.ceil(limits.spellingCharsMax / each) }, (_, i) =>
      long(`~${String(i).padStart(3, '0')}~~`),
    );
    assert.equal((await app.call(eventsOf([...far.slice(1), near]))).status, 422);
    // A repeated name is looked up once.
    const repeated = Array.from({ length: 300 }, () => far[0] ?? '');
    assert.equal((await app.call(eventsOf([...repeated, near]))).status, 422);
    const last = await app.call(eventsOf([...far, near]));
    assert.equal(last.status, 202, last.text);
  });
});

describe('lenient mode', () => {
  it('accepts a payload that violates a declared schema, with a warning', async () => {
    await using lenient = await start({ env: { RINGBACK_LENIENT: 'true' } });
    await ok(lenient, put('order.created'));
    const { json } = await ok(lenient, publishCall('order.created', {}));
    assert.deepEqual(json['warnings'], [
      { field: 'body#/payload/orderId', message: 'is required (event type "order.created")' },
    ]);
    assert.equal((await lenient.call(publishCall('order.creatd', {}))).status, 422);
  });
});

describe('what a publish reads', () => {
  it('is nothing for an app without types, and for others what is not cached', async () => {
    const world = frozenWorld();
    const reads: string[] = [];
    await using on = await start({
      world,
      openStore: async (options) => {
        const store = memoryStore(options);
        return {
          ...store,
          read: async (verb, input) => {
            if (verb.startsWith('eventType')) reads.push(verb);
            return store.read(verb, input);
          },
        };
      },
    });
    const publishOne = async (payload: unknown): Promise<string[]> => {
      await ok(on, publishCall('order.created', payload));
      return reads.splice(0);
    };
    assert.deepEqual(await publishOne({ message: 'm' }), []);
    await ok(on, put('order.created'));
    reads.splice(0);
    assert.deepEqual(await publishOne({ orderId: 1 }), ['eventType']);
    assert.deepEqual(await publishOne({ orderId: 1 }), []);
    world.advance(limits.keyCacheMs);
    assert.deepEqual(await publishOne({ orderId: 1 }), ['eventTypeVersions']);
    assert.deepEqual(await publishOne({ orderId: 1 }), []);
    assert.ok(await publish(on, 'other'));
  });
});
