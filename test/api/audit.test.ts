// The audit trail over HTTP: each action with its actor, its address and its object; who may read it; and its retention.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { auditActions } from '../../src/core/domain/audit.ts';
import { movableWorld } from '../e2e/movable-world.ts';
import { receive, type Receiver } from '../e2e/receiver.ts';
import { onlyDelivery, publish, quiet, subscribe, until } from '../e2e/stage.ts';
import { start, type Answer, type Call, type Started } from './harness.ts';

interface Entry {
  id: string;
  at: string;
  actor: { kind: string; key?: string; address?: string; requestId?: string };
  action: string;
  object?: { kind: string; id: string };
  customer?: string;
  details: Record<string, unknown>;
}

let service: Started;
let receiver: Receiver;
before(async () => {
  receiver = await receive(({ url }) => (url.includes('/gone') ? 410 : 200));
  const proxied = { RINGBACK_TRUST_PROXY: 'on', RINGBACK_PUBLIC_URL: 'http://me' };
  service = await start({ env: { ...proxied, RINGBACK_ALLOW_TARGETS: 'loopback' } });
});
after(async () => {
  await service[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});

async function entries(query = '', more: Partial<Call> = {}): Promise<Entry[]> {
  const { status, json, text } = await service.call({ path: `/audit${query}`, ...more });
  assert.equal(status, 200, text);
  return json['items'] as Entry[];
}

/** Runs the call, and returns the entries that it left, with its answer. */
async function left(call: Call): Promise<{ answer: Answer; entries: Entry[] }> {
  const [last] = await entries('?limit=1');
  const answer = await service.call(call);
  const found = await entries('?limit=500');
  const at = found.findIndex(({ id }) => id === last?.id);
  return { answer, entries: at < 0 ? found : found.slice(0, at) };
}

async function made(path: string, body: object, more: Partial<Call> = {}): Promise<Answer> {
  const answer = await service.call({ method: 'POST', path, body, ...more });
  assert.equal(Math.floor(answer.status / 100), 2, answer.text);
  return answer;
}

describe('the audit trail', () => {
  it('names who did what, when, from which address and by which request', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.7', 'x-request-id': 'one-request' };
    const body = { name: 'shop', scopes: ['read'] };
    const { answer, entries: all } = await left({ method: 'POST', path: '/keys', body, headers });
    const [entry, ...others] = all;
    assert.deepEqual(others, []);
    assert(entry !== undefined);
    assert(Math.abs(Date.parse(entry.at) - Date.now()) < 600_000);
    assert.match(entry.id, /^aud_\d+$/);
    assert.deepEqual(
      { ...entry, id: '', at: '' },
      {
        id: '',
        at: '',
        actor: {
          kind: 'key',
          key: service.key.slice(0, 12),
          address: '203.0.113.7',
          requestId: 'one-request',
        },
        action: 'key.created',
        object: { kind: 'key', id: answer.json['id'] },
        details: { scopes: ['read'] },
      },
    );
  });

  it('has one entry for each change of an object, and none if nothing changes', async () => {
    const callbackUrl = `${receiver.url}/a`;
    const subscribed = await left({
      method: 'POST',
      path: '/subscribe',
      body: { callbackUrl, 'x-ringback': { customer: 'cus_1', timeout: '5s' } },
    });
    const id = String(subscribed.answer.json['subscriberId']);
    assert.deepEqual(shortOf(subscribed.entries), [['subscription.created', id, {}]]);
    assert.equal(subscribed.entries[0]?.customer, 'cus_1');
    const path = `/subscriptions/${id}`;
    const patch = async (body: object): Promise<unknown[]> => {
      const { entries: found, answer } = await left({ method: 'PATCH', path, body });
      assert.equal(answer.status, 200, answer.text);
      return shortOf(found);
    };
    const headers = { 'X-Secret': 'very-secret' };
    assert.deepEqual(await patch({ state: 'active' }), []);
    assert.deepEqual(await patch({ timeout: '5s', customer: 'cus_1' }), []);
    assert.deepEqual(await patch({ callbacks: [{ position: 0, url: callbackUrl }] }), []);
    assert.deepEqual(await patch({ state: 'paused' }), [['subscription.paused', id, {}]]);
    assert.deepEqual(await patch({ state: 'active', retry: ['1s'], description: 'd' }), [
      ['subscription.resumed', id, { fields: ['description', 'retry'] }],
    ]);
    const callbacks = [{ position: 0, url: `${callbackUrl}?token=hidden`, events: ['a', 'b.*'] }];
    assert.deepEqual(await patch({ callbacks, headers, signing: 'ed25519', customer: 'cus_2' }), [
      ['subscription.edited', id, { fields: ['url', 'events', 'signing', 'headers', 'customer'] }],
    ]);
    assert.deepEqual(await patch({ headers }), []);
    const other = { 'X-Secret': 'another-secret' };
    assert.deepEqual(await patch({ headers: other }), [
      ['subscription.edited', id, { fields: ['headers'] }],
    ]);
    const settings = { filter: { '/a': [1] }, metadata: { a: 'b' }, concurrency: 3 };
    const more = { rateLimit: 5, ordered: true, expiresAt: '2100-01-01T00:00:00Z' };
    assert.deepEqual(await patch({ ...settings, ...more }), [
      [
        'subscription.edited',
        id,
        { fields: ['metadata', 'filter', 'concurrency', 'rateLimit', 'ordered', 'expiresAt'] },
      ],
    ]);
    const refused = await left({ method: 'PATCH', path, body: { timeout: 'never' } });
    assert.deepEqual([refused.answer.status, refused.entries], [400, []]);
    assert.deepEqual(shortOf((await left({ path: `${path}/secret` })).entries), [
      ['secret.shown', id, {}],
    ]);
    const rotate = { method: 'POST', path: `${path}/secret/rotate`, body: {} };
    const rotated = await left(rotate);
    assert.equal(rotated.answer.status, 200, rotated.answer.text);
    assert.deepEqual(shortOf(rotated.entries), [['secret.rotated', id, {}]]);
    const end = { method: 'DELETE', path };
    assert.deepEqual(shortOf((await left(end)).entries), [['subscription.ended', id, {}]]);
    assert.deepEqual((await left(end)).entries, []);
    const told = JSON.stringify(await entries('?limit=500'));
    for (const secret of ['very-secret', 'another-secret', 'hidden', receiver.url]) {
      assert(!told.includes(secret), secret);
    }
  });

  it('covers keys, apps, event types, retries, replays and exchanges', async () => {
    const key = await made('/keys', { name: 'k', scopes: ['read'], customer: 'cus_1' });
    const keyId = String(key.json['id']);
    const app = await left({ method: 'POST', path: '/apps', body: { name: 'another app' } });
    const appId = String(app.answer.json['id']);
    const counted = { callbackUrl: receiver.url, event: 'counted' };
    const { id: subscriberId } = await subscribe(service, counted);
    const { eventId } = await publish(service, 'counted');
    await quiet(service);
    const delivery = await onlyDelivery(service, { eventId, subscriberId });
    const replay = await left({
      method: 'POST',
      path: '/replays',
      body: { filter: { event: 'counted', state: 'delivered' }, ratePerSecond: 1 },
    });
    const replayId = String(replay.answer.json['id']);
    const type = { method: 'PUT', path: '/event-types/order.made' };
    const cases: [Call, unknown[]][] = [
      [{ method: 'POST', path: `/keys/${keyId}/rotate`, body: {} }, [['key.rotated', keyId, {}]]],
      [{ method: 'DELETE', path: `/keys/${keyId}` }, [['key.revoked', keyId, {}]]],
      [{ method: 'DELETE', path: `/keys/${keyId}` }, []],
      [
        { method: 'PATCH', path: `/apps/${appId}`, body: { quotas: { subscriptions: 5 } } },
        [['app.edited', appId, { fields: ['subscriptions'] }]],
      ],
      [{ method: 'PATCH', path: `/apps/${appId}`, body: { quotas: { subscriptions: 5 } } }, []],
      [
        { ...type, body: { schema: { type: 'object' } } },
        [['event_type.created', 'order.made', {}]],
      ],
      [{ ...type, body: { schema: { type: 'object' } } }, []],
      [
        { ...type, body: { schema: {}, description: 'd' } },
        [['event_type.replaced', 'order.made', { fields: ['schema', 'description'] }]],
      ],
      [{ ...type, method: 'DELETE' }, [['event_type.deleted', 'order.made', {}]]],
      [{ ...type, method: 'DELETE' }, []],
    ];
    assert.deepEqual(shortOf(app.entries), [['app.created', appId, {}]]);
    assert.deepEqual(shortOf(replay.entries), [['replay.created', replayId, {}]]);
    for (const [call, wanted] of cases) {
      const { answer, entries: found } = await left(call);
      const label = `${call.method} ${call.path}: ${answer.text}`;
      assert.deepEqual(shortOf(found), wanted, label);
      for (const { actor } of found) assert.equal(actor.key, service.key.slice(0, 12));
    }
    const retried = await left({ method: 'POST', path: `/deliveries/${delivery}/retry` });
    const next = { delivery: retried.answer.json['id'] };
    assert.deepEqual(shortOf(retried.entries), [['delivery.retried', delivery, next]]);
  });

  it('names Ringback for a subscription that its receiver ended', async () => {
    const { id } = await subscribe(service, { callbackUrl: `${receiver.url}/gone`, event: 'gone' });
    await publish(service, 'gone');
    const [ended] = await until(
      async () => entries(`?object=${id}&action=subscription.ended`),
      ({ length }) => length > 0,
    );
    assert.deepEqual(ended?.actor, { kind: 'service' });
    assert.deepEqual(ended.details, { reason: 'gone' });
  });

  it('names the key of a user of the console, and of the portal the customer', async () => {
    const origin = { origin: 'http://me', 'sec-fetch-site': 'same-origin' };
    const body = { key: service.key };
    const call = { method: 'POST', path: '/console/session', body, key: null, headers: origin };
    const signedIn = await left(call);
    assert.equal(signedIn.answer.status, 201, signedIn.answer.text);
    const key = service.key.slice(0, 12);
    const actorOf = ({ entries: [entry] }: { entries: Entry[] }): unknown => {
      const { requestId: _requestId, address: _address, ...actor } = entry?.actor ?? { kind: '' };
      return [entry?.action, actor, entry?.customer];
    };
    assert.deepEqual(actorOf(signedIn), ['session.started', { kind: 'session', key }, undefined]);
    const wrong = await left({ ...call, body: { key: 'rbk_wrong' } });
    assert.deepEqual([wrong.answer.status, wrong.entries], [401, []]);
    const cookie = signedIn.answer.headers.get('set-cookie')?.split(';')[0] ?? '';
    const user = { key: null, headers: { ...origin, cookie } };
    const inConsole = await left({
      method: 'POST',
      path: '/subscribe',
      body: { callbackUrl: receiver.url },
      ...user,
    });
    assert.deepEqual(actorOf(inConsole), [
      'subscription.created',
      { kind: 'session', key },
      undefined,
    ]);
    const signedOut = await left({ method: 'DELETE', path: '/console/session', ...user });
    assert.deepEqual(actorOf(signedOut), ['session.ended', { kind: 'session', key }, undefined]);
    const linked = await left({
      method: 'POST',
      path: '/portal-links',
      body: { customer: 'cus_9' },
    });
    assert.deepEqual(actorOf(linked), ['portal_link.created', { kind: 'key', key }, 'cus_9']);
    const ticket = new URL(String(linked.answer.json['url'])).hash.replace('#ticket=', '');
    const opened = await left({
      method: 'POST',
      path: '/portal/session',
      body: { ticket },
      key: null,
    });
    assert.deepEqual(actorOf(opened), ['session.started', { kind: 'portal', key }, 'cus_9']);
    const portal = {
      key: null,
      headers: { 'x-portal-session': String(opened.answer.json['token']) },
    };
    const inPortal = await left({
      method: 'POST',
      path: '/subscribe',
      body: { callbackUrl: receiver.url },
      ...portal,
    });
    assert.deepEqual(actorOf(inPortal), ['subscription.created', { kind: 'portal', key }, 'cus_9']);
    const own = await entries('', portal);
    assert.deepEqual(
      own.map(({ action, actor }) => [action, actor.kind, actor.key, actor.address !== undefined]),
      [
        ['subscription.created', 'portal', undefined, true],
        ['session.started', 'portal', undefined, true],
        ['portal_link.created', 'key', undefined, false],
      ],
    );
    const closed = await left({ method: 'DELETE', path: '/portal/session', ...portal });
    assert.deepEqual(actorOf(closed), ['session.ended', { kind: 'portal', key }, 'cus_9']);
  });

  it('is for the scope admin, and for keys of a customer with the scope read', async () => {
    const reader = String((await made('/keys', { name: 'r', scopes: ['read'] })).json['key']);
    const refused = await service.call({ path: '/audit', key: reader });
    assert.deepEqual([refused.status, refused.json['code']], [403, 'missing_scope']);
    const bound = async (scopes: string[]): Promise<string> =>
      String((await made('/keys', { name: 'b', scopes, customer: 'cus_7' })).json['key']);
    const publisher = await bound(['publish']);
    const alsoRefused = await service.call({ path: '/audit', key: publisher });
    assert.deepEqual([alsoRefused.status, alsoRefused.json['code']], [403, 'missing_scope']);
    const key = await bound(['read', 'subscribe']);
    const { id } = await subscribe(service, {
      body: { callbackUrl: receiver.url, 'x-ringback': { customer: 'cus_7' } },
    });
    await made('/subscribe', { callbackUrl: receiver.url }, { key });
    const seen = await entries('', { key });
    assert.deepEqual(
      seen.map(({ action, actor }) => [action, actor.key]),
      [
        ['subscription.created', key.slice(0, 12)],
        ['subscription.created', undefined],
        ['key.created', undefined],
        ['key.created', undefined],
      ],
    );
    assert.deepEqual(seen[1]?.object, { kind: 'subscription', id });
    assert.deepEqual(seen[1].actor, { kind: 'key' });
    const byAdmin = await entries(`?key=${service.key.slice(0, 12)}`, { key });
    assert.deepEqual(byAdmin, [], 'the filter tells nothing about the keys of others');
    assert.equal((await entries(`?key=${key.slice(0, 12)}`, { key })).length, 1);
    const foreign = await service.call({ path: '/audit?customer=cus_1', key });
    assert.deepEqual([foreign.status, foreign.json['code']], [403, 'bound_key']);
  });

  it('is filtered by action, object, key, customer and time, page by page', async () => {
    const since = new Date(Date.now() - 3_600_000).toISOString();
    const all = await entries('?limit=500');
    const created = await entries(`?action=key.created&from=${since}&limit=500`);
    assert.deepEqual(
      created,
      all.filter(({ action }) => action === 'key.created'),
    );
    assert.deepEqual(await entries(`?until=${since}`), []);
    const pages: Entry[] = [];
    let cursor = '';
    do {
      const { json } = await service.call({ path: `/audit?limit=7${cursor}` });
      pages.push(...(json['items'] as Entry[]));
      const next = json['nextCursor'];
      cursor = typeof next === 'string' ? `&cursor=${next}` : '';
    } while (cursor !== '');
    assert.deepEqual(pages, all);
    for (const query of ['action=key.eaten', 'key=rbk_1', 'object=', 'from=soon', 'objekt=x']) {
      assert.equal((await service.call({ path: `/audit?${query}` })).status, 400, query);
    }
  });

  it('has the actions that the contract lists', async () => {
    const { json } = await service.call({ path: '/openapi.json' });
    const { schemas } = json['components'] as { schemas: Record<string, { enum?: string[] }> };
    assert.deepEqual(schemas['AuditAction']?.enum, [...auditActions]);
  });
});

describe('the retention of the audit trail', () => {
  it('deletes what is older, and keeps the rest', async () => {
    const world = movableWorld();
    await using aged = await start({ world, env: { RINGBACK_AUDIT_RETENTION: '2h' } });
    const subscribed = async (): Promise<string> =>
      (await subscribe(aged, { callbackUrl: receiver.url, event: 'a' })).id;
    const actions = async (): Promise<string[]> => {
      const { json } = await aged.call({ path: '/audit' });
      return (json['items'] as Entry[]).map(({ action }) => action);
    };
    const [first, second] = [await subscribed(), await subscribed()];
    world.moveOn(3_600_000);
    await aged.call({
      method: 'PATCH',
      path: `/subscriptions/${first}`,
      body: { state: 'paused' },
    });
    world.moveOn(3_600_001);
    await aged.call({ method: 'DELETE', path: `/subscriptions/${second}` }); // Wakes the retention.
    await until(actions, ({ length }) => length === 2);
    assert.deepEqual(await actions(), ['subscription.ended', 'subscription.paused']);
  });
});

/** Action, object and details of entries. */
function shortOf(found: readonly Entry[]): unknown[] {
  return found.map(({ action, object, details }) => [action, object?.id, details]);
}
