// The settings of a subscription, as a caller of PATCH and of subscribe sees them.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { start, type Answer, type Running } from './harness.ts';
import { frozenWorld } from './frozen-world.ts';

const hook = 'http://127.0.0.1:9000/hook';
const chosen = {
  description: 'Orders for the warehouse',
  metadata: { team: 'warehouse', 'a/b': '' },
  filter: { '/order/country': ['NL', 'BE'], '/test': false },
  retry: ['5s', '90s', '2h'],
  timeout: '2500ms',
  concurrency: 4,
  rateLimit: 0.5,
  ordered: true,
  expiresAt: '2026-03-01T13:00:00.000Z',
  headers: { Authorization: 'Bearer CANARY-header', 'X-Tenant': '7' },
};
const { headers: _headers, ...rest } = chosen;
const shown = {
  ...rest,
  filter: { '/order/country': ['NL', 'BE'], '/test': [false] },
  headerNames: ['Authorization', 'X-Tenant'],
};

let service: Running;
before(async () => {
  service = await start({ world: frozenWorld() });
});
after(async () => service[Symbol.asyncDispose]());

async function subscribe(more: object = {}, path = '/subscribe'): Promise<Answer> {
  const body = path === '/subscribe' ? { callbackUrl: hook, ...more } : more;
  return service.call({ method: 'POST', path, body });
}

async function subscribed(more: object = {}, path = '/subscribe'): Promise<string> {
  const answer = await subscribe(more, path);
  assert.equal(answer.status, 201, answer.text);
  return String(answer.json['subscriberId']);
}

async function patch(id: string, body: unknown): Promise<Answer> {
  return service.call({ method: 'PATCH', path: `/subscriptions/${id}`, body });
}

async function get(id: string): Promise<Record<string, unknown>> {
  const answer = await service.call({ path: `/subscriptions/${id}` });
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
}

/** Without the fields that every subscription has. */
function choiceOf(view: Record<string, unknown>): Record<string, unknown> {
  const always = ['id', 'state', 'contract', 'operation', 'callbacks', 'createdAt', 'health'];
  return Object.fromEntries(Object.entries(view).filter(([name]) => !always.includes(name)));
}

function eventsOf(view: Record<string, unknown>): unknown[] {
  return (view['callbacks'] as { event: string; events: string[] }[]).map((one) => {
    assert.equal(one.event, one.events[0]);
    return one.events;
  });
}

function faultsOf(answer: Answer): string[] {
  assert.equal(answer.status, 400, answer.text);
  assert.equal(answer.json['code'], 'invalid_request', answer.text);
  const errors = answer.json['errors'] as { field: string; message: string }[];
  return errors.map(({ field, message }) => `${field} ${message}`);
}

describe('editSubscription', () => {
  it('stores and shows each setting; null removes it', async () => {
    const id = await subscribed();
    assert.deepEqual(choiceOf(await get(id)), { ordered: false });
    const answer = await patch(id, chosen);
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(choiceOf(answer.json), shown);
    assert.deepEqual(choiceOf(await get(id)), shown);
    const list = await service.call({ path: '/subscriptions?limit=1' });
    assert.deepEqual(choiceOf((list.json['items'] as Record<string, unknown>[])[0] ?? {}), shown);
    assert.ok(!list.text.includes('CANARY'), 'header values are never shown');
    const half = { description: null, retry: [], metadata: {}, headers: { 'X-B': 'c' } };
    const { description: _, ...left } = { ...shown, retry: [], metadata: {}, headerNames: ['X-B'] };
    assert.deepEqual(choiceOf((await patch(id, half)).json), left);
    const nothing = Object.fromEntries(Object.keys(chosen).map((name) => [name, null]));
    assert.deepEqual(choiceOf((await patch(id, nothing)).json), { ordered: false });
  });

  it('changes the event patterns of each callback', async () => {
    const urls = { inProgressUrl: hook, failedUrl: hook };
    const answer = await service.call({ method: 'POST', path: '/subscribe', body: urls });
    const id = String(answer.json['subscriberId']);
    const callbacks = [
      { position: 0, events: ['order.*', 'invoice.paid', 'order.*'] },
      { position: 2, events: ['*'] },
      { position: 1, url: `${hook}/new`, events: ['ringback.delivery.dead'] },
    ];
    const changed = await patch(id, { callbacks });
    assert.equal(changed.status, 200, changed.text);
    const wanted = [['order.*', 'invoice.paid'], ['ringback.delivery.dead'], ['*']];
    assert.deepEqual(eventsOf(changed.json), wanted);
    assert.deepEqual(eventsOf(await get(id)), wanted);
    const hears = async (event: string): Promise<number> => {
      const found = await service.call({ path: `/subscriptions?event=${event}&limit=500` });
      const ids = (found.json['items'] as { id: string }[]).map((one) => one.id);
      return ids.filter((one) => one === id).length;
    };
    const counts = [];
    for (const one of ['order.a', 'invoice.paid', 'x', 'ringback.delivery.dead', 'ringback.x']) {
      counts.push(await hears(one));
    }
    assert.deepEqual(counts, [1, 1, 1, 1, 0]);
  });

  it('changes everything or nothing', async () => {
    const id = await subscribed();
    const good = { ...chosen, state: 'paused', callbacks: [{ position: 0, events: ['a'] }] };
    const before_ = await get(id);
    for (const bad of [
      { timeout: '1h' },
      { headers: { Host: 'x' } },
      {
        callbacks: [
          { position: 0, events: ['a'] },
          { position: 7, events: ['b'] },
        ],
      },
      { callbacks: [{ position: 0, events: ['a'], url: 'http://10.0.0.1/' }] },
      { expiresAt: '2026-03-01T12:00:00Z' },
    ]) {
      const answer = await patch(id, { ...good, ...bad });
      assert.ok(answer.status === 400 || answer.status === 422, answer.text);
      assert.deepEqual(await get(id), before_);
    }
  });

  const refusals: readonly (readonly [object, string])[] = [
    [{ description: '' }, 'description must have at least 1 character, has 0'],
    [{ description: 'x'.repeat(513) }, 'description must have at most 512 characters, has 513'],
    [{ description: 'a\nb' }, 'description has control characters, expected a text of 1 to 512 '],
    [{ description: 5 }, 'description must be a string or null, is a number'],
    [{ metadata: { a: 1 } }, 'metadata/a must be a string, is a number'],
    [
      { metadata: { '': 'x' } },
      'metadata/ is not a valid key, expected 1 to 64 characters, no control characters',
    ],
    [
      { metadata: Object.fromEntries(Array.from({ length: 9_000 }, (_, at) => [at, ''])) },
      'metadata must have at most 50 properties, has 9000',
    ],
    [{ filter: { a: 1 } }, 'filter/a is not a JSON pointer, '],
    [{ filter: { '/a': {} } }, 'filter/~1a is an object, '],
    [{ filter: [] }, 'filter must be an object or null, is a list'],
    [
      { retry: ['5s', 'soon'] },
      'retry/1 is "soon", expected a duration such as 5s, 5m or 2h, at most 7d',
    ],
    [{ retry: ['8d'] }, 'retry/0 is "8d", expected a duration such as 5s, 5m or 2h, at most 7d'],
    [{ retry: ['1000000000d'] }, 'retry/0 is "1000000000d", expected a duration '],
    [{ retry: '5s' }, 'retry must be a list or null, is a string'],
    [{ timeout: '99ms' }, 'timeout is "99ms", expected a duration from 100ms to 60s'],
    [{ timeout: '61s' }, 'timeout is "61s", expected a duration from 100ms to 60s'],
    [{ timeout: 15 }, 'timeout must be a string or null, is a number'],
    [{ concurrency: 0 }, 'concurrency must be at least 1, is 0'],
    [{ concurrency: 129 }, 'concurrency must be at most 128, is 129'],
    [{ concurrency: 1.5 }, 'concurrency must be an integer or null, is 1.5'],
    [{ rateLimit: 0 }, 'rateLimit must be at least 0.001, is 0'],
    [{ rateLimit: 1001 }, 'rateLimit must be at most 1000, is 1001'],
    [{ ordered: 'yes' }, 'ordered must be a boolean or null, is a string'],
    [{ expiresAt: 'tomorrow' }, 'expiresAt must have the format "date-time", is "tomorrow"'],
    [
      { expiresAt: '2030-01-01T23:59:60Z' },
      'expiresAt is "2030-01-01T23:59:60Z", expected a timestamp such as 2030-01-31T12:00:00Z',
    ],
    [{ expiresAt: '2026-03-01T12:00:00Z' }, 'expiresAt is in the past, expected a future time'],
    [{ headers: { 'X-A': 'a\r\nX-B: b' } }, 'headers/X-A has a value that cannot be sent, '],
    [{ headers: { Cookie: 'a' } }, 'headers/Cookie is a header that Ringback sets itself, '],
    [{ headers: { 'X-A': 5 } }, 'headers/X-A must be a string, is a number'],
    [{ odd: 1 }, 'odd is not allowed here'],
    [{ headerNames: ['A'] }, 'headerNames is not allowed here'],
    [{ callbacks: [{ position: 0 }] }, 'callbacks/0 changes nothing, expected url or events'],
    [
      { callbacks: [{ position: 0, events: [] }] },
      'callbacks/0/events must have at least 1 item, has 0',
    ],
    [
      { callbacks: [{ position: 0, events: [''] }] },
      'callbacks/0/events/0 must have at least 1 character, has 0',
    ],
    [{ callbacks: [{ position: 0, events: null }] }, 'callbacks/0/events must be a list, is null'],
  ];
  for (const [body, expected] of refusals) {
    const title = JSON.stringify(body).slice(0, 60);
    it(`refuses ${title}`, async () => {
      const id = await subscribed();
      const faults = faultsOf(await patch(id, body));
      assert.equal(faults.length, 1, faults.join('\n'));
      assert.ok(faults.join().startsWith(`body#/${expected}`), faults.join());
      assert.deepEqual(choiceOf(await get(id)), { ordered: false });
    });
  }

  it('lists all errors, and shortens long names', async () => {
    const id = await subscribed();
    const faults = faultsOf(
      await patch(id, {
        timeout: 'x',
        retry: ['y'],
        headers: { Host: 'a', ['h'.repeat(300_000)]: 'b' },
        metadata: { ['k'.repeat(300_000)]: 'c' },
        callbacks: [{ position: 0, events: ['\ud800'] }],
      }),
    );
    const fields = faults.map((fault) => fault.slice(0, 24).replace(/[ hk]*$/, ''));
    assert.equal(faults.length, 6, fields.join());
    assert.ok(faults.join().length < 4_000, fields.join());
    const odd = faultsOf(await patch(id, { metadata: { ['k'.repeat(300_000)]: 5 } }));
    assert.ok(odd.join().length < 1_000);
  });

  it('repeats no header value, neither to the caller nor in the log', async () => {
    const id = await subscribed();
    for (const value of ['CANARY\r\n', 'CANARY'.repeat(300), 'CANARY ', ['CANARY'], 'CANARYé']) {
      const answer = await patch(id, { headers: { 'X-A': value } });
      assert.equal(answer.status, 400);
      assert.ok(!answer.text.includes('CANARY'), answer.text);
    }
    await patch(id, { headers: { 'X-A': 'CANARY' } });
    assert.ok(!service.logged().includes('CANARY'));
  });
});

describe('subscribeOperation', () => {
  it('accepts the settings of the subscription', async () => {
    const id = await subscribed({ 'x-ringback': { ...chosen, events: ['order.*', 'a'] } });
    const view = await get(id);
    assert.deepEqual(choiceOf(view), shown);
    assert.deepEqual(eventsOf(view), [['order.*', 'a']]);
  });

  it('accepts them in every variant', async () => {
    const more = { 'x-ringback': { description: 'd' } };
    const multi = { method: 'POST', path: '/subscribe', body: { failedUrl: hook, ...more } };
    const answer = await service.call(multi);
    assert.equal(answer.status, 200, answer.text);
    assert.equal((await get(String(answer.json['subscriberId'])))['description'], 'd');
    const query = `?callbackUrl=${encodeURIComponent(hook)}&event=a`;
    const id = await subscribed(more, `/subscribe${query}`);
    const view = await get(id);
    assert.deepEqual([view['description'], eventsOf(view)], ['d', [['a']]]);
  });

  it('treats null as not set', async () => {
    const nothing = Object.fromEntries(Object.keys(chosen).map((name) => [name, null]));
    for (const given of [null, { events: null }, nothing]) {
      const view = await get(await subscribed({ 'x-ringback': given }));
      assert.deepEqual([choiceOf(view), eventsOf(view)], [{ ordered: false }, [['*']]]);
    }
  });

  it('names the invalid setting, and creates no subscription', async () => {
    const count = async (): Promise<unknown> =>
      (await service.call({ path: '/subscriptions?limit=1' })).json['items'];
    const newest = await count();
    const cases: readonly (readonly [unknown, string])[] = [
      [{ timeout: '1ms' }, '/timeout is "1ms", expected a duration from 100ms to 60s'],
      [{ odd: 1 }, '/odd is not allowed here'],
      [{ headers: { Host: 'a' } }, '/headers/Host is a header that Ringback sets itself, '],
      [{ expiresAt: '2026-03-01T11:59:59Z' }, '/expiresAt is in the past, expected a future time'],
      [{ events: [] }, '/events must have at least 1 item, has 0'],
      ['x', ' must be an object or null, is a string'],
    ];
    for (const [given, expected] of cases) {
      const [fault = ''] = faultsOf(await subscribe({ 'x-ringback': given }));
      assert.ok(fault.startsWith(`body#/x-ringback${expected}`), fault);
    }
    assert.deepEqual(await count(), newest);
  });

  it('refuses patterns for callbacks that match one event only', async () => {
    const body = { failedUrl: hook, 'x-ringback': { events: ['a'] } };
    const answer = await service.call({ method: 'POST', path: '/subscribe', body });
    assert.deepEqual(faultsOf(answer), ['body#/x-ringback/events must be null, is a list']);
    const query = `?callbackUrl=${encodeURIComponent(hook)}&event=a`;
    const other = await subscribe({ 'x-ringback': { events: ['b'] } }, `/subscribe${query}`);
    assert.deepEqual(faultsOf(other), faultsOf(answer));
  });

  it('is repeated only by the same key and body', async () => {
    const call = (description: string): Promise<Answer> =>
      service.call({
        method: 'POST',
        path: '/subscribe',
        headers: { 'idempotency-key': 'one' },
        body: { callbackUrl: hook, 'x-ringback': { description } },
      });
    const first = await call('a');
    assert.equal(first.status, 201);
    assert.equal((await call('a')).text, first.text);
    assert.equal((await call('b')).json['code'], 'idempotency_mismatch');
  });
});
