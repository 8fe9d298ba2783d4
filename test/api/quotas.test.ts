// Quotas of apps over real sockets, with a clock that the test moves: what they refuse, with which message, and
// when a change takes effect. The exact count of subscriptions is tested in the store's contract.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { limits } from '../../src/core/limits/limits.ts';
import { frozenWorld, type FrozenWorld } from './frozen-world.ts';
import { start, type Answer, type Running } from './harness.ts';

interface Stage extends AsyncDisposable {
  service: Running;
  world: FrozenWorld;
  app: { id: string; key: string };
  /** Sets quotas of the app, and waits until the cache of every node has expired. */
  allow: (quotas: object) => Promise<void>;
  publish: (payload?: object, headers?: Record<string, string>) => Promise<Answer>;
  publishMany: (count: number) => Promise<Answer>;
  subscribe: (headers?: Record<string, string>) => Promise<Answer>;
}

async function stage(env: Record<string, string> = {}): Promise<Stage> {
  const world = frozenWorld();
  const service = await start({ env, world });
  const made = await service.call({ method: 'POST', path: '/apps', body: { name: 'shop' } });
  const app = made.json as { id: string; key: string };
  const post = async (path: string, body: object, headers = {}): Promise<Answer> =>
    service.call({ method: 'POST', path, key: app.key, body, headers });
  return {
    service,
    world,
    app,
    allow: async (quotas) => {
      const call = { method: 'PATCH', path: `/apps/${app.id}`, body: { quotas } };
      assert.equal((await service.call(call)).status, 200);
      world.advance(limits.keyCacheMs);
    },
    publish: async (payload = { message: 'm' }, headers = {}) =>
      post('/events', { event: 'order.created', payload }, headers),
    publishMany: async (count) => {
      const event = { event: 'order.created', payload: { message: 'm' } };
      return post('/events/batch', { events: Array.from({ length: count }, () => event) });
    },
    subscribe: async (headers = {}) =>
      post('/subscribe', { callbackUrl: 'http://127.0.0.1:9000/' }, headers),
    [Symbol.asyncDispose]: async () => service[Symbol.asyncDispose](),
  };
}

function codeOf({ status, json }: Answer): string {
  return `${status} ${String(json['code'])}`;
}

describe('editApp', () => {
  it('200: sets quotas and the name, and shows them with the current use', async () => {
    await using on = await stage();
    await on.subscribe();
    const path = `/apps/${on.app.id}`;
    const body = { name: 'store', quotas: { subscriptions: 9, eventsPerSecond: null } };
    const { status, json } = await on.service.call({ method: 'PATCH', path, body });
    assert.equal(status, 200);
    assert.deepEqual(json, {
      createdAt: '2026-03-01T12:00:00.000Z',
      id: on.app.id,
      name: 'store',
      subscriptions: 1,
      quotas: { subscriptions: 9, eventsPerSecond: null, payloadBytes: null },
    });
    assert.deepEqual((await on.service.call({ path })).json, json);
    const { items } = (await on.service.call({ path: '/apps' })).json as { items: object[] };
    assert.deepEqual(items[0], json);
  });

  it('400: an invalid quota; 403: another key; 404: an unknown app', async () => {
    await using on = await stage();
    const ask = async (body: object, key = on.service.key, id = on.app.id): Promise<string> =>
      codeOf(await on.service.call({ method: 'PATCH', path: `/apps/${id}`, key, body }));
    for (const quotas of [
      { subscriptions: -1 },
      { eventsPerSecond: 0 },
      { payloadBytes: 2 ** 21 },
    ]) {
      assert.equal(await ask({ quotas }), '400 invalid_request');
    }
    assert.equal(await ask({ quotas: { events: 1 } }), '400 invalid_request');
    assert.equal(await ask({}), '400 invalid_request');
    assert.equal(await ask({ name: 'x' }, on.app.key), '403 missing_scope');
    // Not the successor of its own id: that belongs to another app if both were created in the same millisecond.
    const unknown = `app_${'0'.repeat(26)}`;
    assert.equal(await ask({ name: 'x' }, on.service.key, unknown), '404 not_found');
  });

  it('409: a name that is taken, and renaming the app "default"', async () => {
    await using on = await stage();
    const rename = async (id: string, name: string): Promise<string> =>
      codeOf(await on.service.call({ method: 'PATCH', path: `/apps/${id}`, body: { name } }));
    assert.equal(await rename(on.app.id, 'default'), '409 conflict');
    assert.equal(await rename(on.service.appId, 'other'), '409 conflict');
    assert.equal(await rename(on.service.appId, 'default'), '200 undefined');
  });
});

describe('the quota of subscriptions', () => {
  it('429: names the quota; repeats are still answered, and an unsubscribe makes room', async () => {
    await using on = await stage({ RINGBACK_QUOTA_SUBSCRIPTIONS: '2' });
    const first = await on.subscribe({ 'idempotency-key': 'a' });
    assert.equal(first.status, 201);
    assert.equal((await on.subscribe()).status, 201);
    const refused = await on.subscribe();
    assert.equal(codeOf(refused), '429 quota_exceeded');
    assert.match(String(refused.json['detail']), /already has 2 subscriptions, its quota/);
    assert.equal(refused.headers.get('retry-after'), '60');
    assert.equal(refused.headers.get('ratelimit'), '"subscriptions";r=0');
    assert.deepEqual((await on.subscribe({ 'idempotency-key': 'a' })).json, first.json);
    const path = `/unsubscribe?Id=${String(first.json['subscriberId'])}`;
    await on.service.call({ method: 'POST', path, key: on.app.key });
    assert.equal((await on.subscribe()).status, 201);
    await on.allow({ subscriptions: 3 });
    assert.equal((await on.subscribe()).status, 201);
    assert.equal((await on.subscribe()).status, 429);
  });

  it('applies to each app separately', async () => {
    await using on = await stage({ RINGBACK_QUOTA_SUBSCRIPTIONS: '1' });
    assert.equal((await on.subscribe()).status, 201);
    const body = { callbackUrl: 'http://127.0.0.1:9000/' };
    const other = await on.service.call({ method: 'POST', path: '/subscribe', body });
    assert.equal(other.status, 201);
  });
});

describe('the quota of events per second', () => {
  const rate = ({ headers }: Answer): (string | null)[] =>
    ['ratelimit-policy', 'ratelimit', 'retry-after'].map((name) => headers.get(name));

  it('admits one second’s worth, reports the rest, and admits more as time passes', async () => {
    await using on = await stage({ RINGBACK_QUOTA_EVENTS_PER_SECOND: '4' });
    assert.deepEqual(rate(await on.publish()), ['"events";q=4;w=1', '"events";r=3;t=1', null]);
    assert.deepEqual(rate(await on.publishMany(3)), ['"events";q=4;w=1', '"events";r=0;t=1', null]);
    const refused = await on.publish();
    assert.equal(codeOf(refused), '429 rate_limited');
    assert.deepEqual(rate(refused), ['"events";q=4;w=1', '"events";r=0;t=1', '1']);
    assert.match(String(refused.json['detail']), /is 4 events per second/);
    on.world.advance(249);
    assert.equal((await on.publish()).status, 429);
    on.world.advance(1);
    assert.equal((await on.publish()).status, 202);
    assert.equal((await on.publish()).status, 429);
  });

  it('admits a larger batch if nothing is owed, and then refuses events for a proportional time', async () => {
    await using on = await stage({ RINGBACK_QUOTA_EVENTS_PER_SECOND: '4' });
    assert.deepEqual(rate(await on.publishMany(12)), [
      '"events";q=4;w=1',
      '"events";r=0;t=3',
      null,
    ]);
    assert.equal((await on.publishMany(12)).headers.get('retry-after'), '3');
    assert.equal((await on.publish()).headers.get('retry-after'), '3');
    on.world.advance(2_250);
    assert.equal((await on.publish()).status, 202);
  });

  it('keeps the debt of events when the quota is raised, and pays it off faster', async () => {
    await using on = await stage({ RINGBACK_QUOTA_EVENTS_PER_SECOND: '2' });
    assert.equal((await on.publishMany(1_000)).status, 202);
    await on.allow({ eventsPerSecond: 500 });
    assert.equal((await on.publish()).headers.get('retry-after'), '1');
    await on.allow({ eventsPerSecond: 100_000 });
    assert.equal((await on.publishMany(900)).status, 202);
  });

  it('is not used up by refused requests, which are refused for their own reason', async () => {
    await using on = await stage({
      RINGBACK_QUOTA_EVENTS_PER_SECOND: '2',
      RINGBACK_QUOTA_PAYLOAD: '100',
    });
    const post = async (path: string, body: object, headers = {}): Promise<string> =>
      codeOf(await on.service.call({ method: 'POST', path, key: on.app.key, body, headers }));
    const ill = { event: 'order.created', payload: { message: 1 } };
    const events = Array.from({ length: 1_000 }, () => ill);
    assert.equal(await post('/events/batch', { events }), '422 payload_refused');
    const well = { event: 'order.created', payload: { message: 'm' } };
    const many = Array.from({ length: 1_000 }, () => well);
    const subscriberId = `sub_${'0'.repeat(26)}`;
    assert.equal(await post('/events/batch', { events: many, subscriberId }), '404 not_found');
    assert.equal(await post(`/subscriptions/${subscriberId}/ping`, {}), '404 not_found');
    const keyed = { 'idempotency-key': 'a' };
    assert.equal((await on.publish({ message: 'm' }, keyed)).status, 202);
    assert.equal(
      await post('/events', { ...well, event: 'a.b' }, keyed),
      '422 idempotency_mismatch',
    );
    assert.equal((await on.publish()).status, 202);
    assert.equal((await on.publish()).status, 429);
    assert.equal((await on.publish({ message: 'm'.repeat(100) })).status, 413);
    assert.equal(await post('/events', ill), '422 payload_refused');
  });

  it('counts pings, separates apps, and sends no headers without a quota', async () => {
    await using on = await stage();
    const { json } = await on.subscribe();
    await on.allow({ eventsPerSecond: 1 });
    const ping = async (): Promise<number> => {
      const path = `/subscriptions/${String(json['subscriberId'])}/ping`;
      return (await on.service.call({ method: 'POST', path, key: on.app.key })).status;
    };
    assert.deepEqual([await ping(), await ping()], [202, 429]);
    const body = { event: 'order.created', payload: { message: 'm' } };
    const other = await on.service.call({ method: 'POST', path: '/events', body });
    assert.deepEqual([other.status, ...rate(other)], [202, null, null, null]);
    await on.allow({ eventsPerSecond: null });
    assert.deepEqual([await ping(), await ping()], [202, 202]);
  });
});

describe('the quota of payloads', () => {
  it('413: names the limit, and the event in a batch', async () => {
    await using on = await stage({ RINGBACK_QUOTA_PAYLOAD: '17' });
    assert.equal((await on.publish({ message: 'mmm' })).status, 202);
    const refused = await on.publish({ message: 'mmmm' });
    assert.equal(codeOf(refused), '413 body_too_large');
    assert.match(String(refused.json['detail']), /has 18 bytes, the app's quota is 17/);
    await on.allow({ payloadBytes: 15 });
    const large = { event: 'order.paid', payload: { message: 'mm' } };
    const small = { event: 'order.paid', payload: { message: '' } };
    const path = '/events/batch';
    const body = { events: [small, large] };
    const { json } = await on.service.call({ method: 'POST', path, key: on.app.key, body });
    const [fault] = json['errors'] as { field: string }[];
    assert.equal(fault?.field, 'body#/events/1/payload');
    await on.allow({ payloadBytes: null });
    assert.equal((await on.publish({ message: 'mmmm' })).status, 413);
  });
});
