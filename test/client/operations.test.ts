import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { load } from 'js-yaml';
import { createClient, RingbackError, type Client } from '../../src/client/client.ts';
import { members } from '../../src/client/contract/operations.ts';

interface Operation {
  operationId: string;
  tags: string[];
}

interface Document {
  paths: Record<string, Record<string, Operation>>;
}

const contract = load(
  readFileSync(new URL('../../openapi.yaml', import.meta.url), 'utf8'),
) as Document;

/** Pages for people, and their sessions. */
function isForPeople({ operationId, tags }: Operation): boolean {
  const isOfPortal = tags.includes('Portal') && operationId !== 'createPortalLink';
  return isOfPortal || tags.includes('Console') || operationId === 'getDocs';
}

const operations = Object.entries(contract.paths).flatMap(([path, item]) =>
  Object.entries(item)
    .filter(([method]) => method !== 'parameters')
    .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
);

/** The operation of a request, by the contract's paths. Paths with a parameter are tried last. */
function operationAt(method: string, path: string): string | undefined {
  const fits = operations.filter(
    (one) =>
      one.method === method &&
      new RegExp(`^${one.path.replaceAll(/\{\w+\}/g, '[^/]+').replaceAll('.', '\\.')}$`).test(path),
  );
  fits.sort((a, b) => Number(a.path.includes('{')) - Number(b.path.includes('{')));
  return fits[0]?.operation.operationId;
}

const event = { event: 'order.created', payload: {} };

/** Each method once, with its operation. */
const methods: Record<string, (client: Client) => [string, PromiseLike<unknown>]> = {
  subscribe: (c) => ['subscribeOperation', c.subscribe({ callbackUrl: 'https://a.example' })],
  unsubscribe: (c) => ['unsubscribeOperation', c.unsubscribe('sub_1')],
  publish: (c) => ['publishEvent', c.publish(event)],
  publishBatch: (c) => ['publishEvents', c.publishBatch([event])],
  'customers.list': (c) => ['listCustomers', c.customers.list().page()],
  'customers.portalLink': (c) => [
    'createPortalLink',
    c.customers.portalLink({ customer: 'cus_1' }),
  ],
  stats: (c) => ['getStats', c.stats({ customer: 'cus_1' })],
  subscriptionStats: (c) => [
    'getSubscriptionStats',
    c.subscriptionStats({ subscriberIds: ['sub_1'] }),
  ],
  nodes: (c) => ['listNodes', c.nodes()],
  metrics: (c) => ['getMetrics', c.metrics()],
  health: (c) => ['getHealth', c.health()],
  readiness: (c) => ['getReadiness', c.readiness()],
  openapi: (c) => ['getOpenapiJson', c.openapi()],
  openapiYaml: (c) => ['getOpenapiYaml', c.openapiYaml()],
  stream: (c) => ['openStream', c.stream()[Symbol.asyncIterator]().next()],
  'subscriptions.list': (c) => ['listSubscriptions', c.subscriptions.list().page()],
  'subscriptions.get': (c) => ['getSubscription', c.subscriptions.get('sub_1')],
  'subscriptions.edit': (c) => [
    'editSubscription',
    c.subscriptions.edit('sub_1', { state: 'paused' }),
  ],
  'subscriptions.confirm': (c) => ['confirmSubscription', c.subscriptions.confirm('sub_1')],
  'subscriptions.delete': (c) => ['deleteSubscription', c.subscriptions.delete('sub_1')],
  'subscriptions.secret': (c) => ['getSecret', c.subscriptions.secret('sub_1')],
  'subscriptions.rotateSecret': (c) => ['rotateSecret', c.subscriptions.rotateSecret('sub_1')],
  'subscriptions.ping': (c) => ['pingSubscription', c.subscriptions.ping('sub_1')],
  'exchanges.register': (c) => [
    'registerExchange',
    c.exchanges.register({ request: { method: 'POST', url: '/' }, response: { status: 201 } }),
  ],
  'events.list': (c) => ['listEvents', c.events.list().page()],
  'events.get': (c) => ['getEvent', c.events.get('evt_1')],
  'eventTypes.list': (c) => ['listEventTypes', c.eventTypes.list().page()],
  'eventTypes.get': (c) => ['getEventType', c.eventTypes.get('order.created')],
  'eventTypes.put': (c) => ['putEventType', c.eventTypes.put('order.created', { schema: {} })],
  'eventTypes.delete': (c) => ['deleteEventType', c.eventTypes.delete('order.created')],
  'deliveries.list': (c) => ['listDeliveries', c.deliveries.list().page()],
  'deliveries.get': (c) => ['getDelivery', c.deliveries.get('dlv_1_0')],
  'deliveries.retry': (c) => ['retryDelivery', c.deliveries.retry('dlv_1_0')],
  'replays.list': (c) => ['listReplays', c.replays.list().page()],
  'replays.create': (c) => ['createReplay', c.replays.create({})],
  'replays.count': (c) => ['createReplay', c.replays.count({})],
  'replays.get': (c) => ['getReplay', c.replays.get('rpl_1')],
  'replays.cancel': (c) => ['cancelReplay', c.replays.cancel('rpl_1')],
  'keys.list': (c) => ['listKeys', c.keys.list().page()],
  'keys.create': (c) => ['createKey', c.keys.create({ name: 'x', scopes: ['read'] })],
  'keys.get': (c) => ['getKey', c.keys.get('rbk_1')],
  'keys.rotate': (c) => ['rotateKey', c.keys.rotate('rbk_1')],
  'keys.revoke': (c) => ['revokeKey', c.keys.revoke('rbk_1')],
  'apps.list': (c) => ['listApps', c.apps.list().page()],
  'apps.create': (c) => ['createApp', c.apps.create({ name: 'x' })],
  'apps.get': (c) => ['getApp', c.apps.get('app_1')],
  'apps.edit': (c) => ['editApp', c.apps.edit('app_1', { name: 'y' })],
  'audit.list': (c) => ['listAuditEntries', c.audit.list({ action: 'key.created' }).page()],
  'contracts.list': (c) => ['listContracts', c.contracts.list().page()],
  'contracts.get': (c) => ['getContract', c.contracts.get('My API')],
  'contracts.report': (c) => ['getContractReport', c.contracts.report('My API')],
};

const anyUrl = 'https://ringback.example/below';

interface Recorded {
  client: Client;
  calls: { method: string; url: URL; init: RequestInit }[];
}

/** The minimal valid response of each operation. */
function leastOf(method: string, url: URL): Record<string, unknown> {
  const id = operationAt(method, url.pathname.slice('/below'.length)) ?? '';
  const [, needed = []] = Object.entries(members).find(([name]) => name === id) ?? [];
  return Object.fromEntries(needed.map((name) => [name, name === 'items' ? [] : null]));
}

function recording(answerWith = leastOf): Recorded {
  const calls: Recorded['calls'] = [];
  const client = createClient({
    url: anyUrl,
    key: 'rbk_1',
    fetch: async (url, init) => {
      calls.push({ method: init.method ?? '', url: new URL(url), init });
      const isStream = url.endsWith('/stream');
      const text = JSON.stringify(answerWith(init.method ?? '', new URL(url)));
      return new Response(isStream ? 'event: changes\ndata: {}\n\n' : text, {
        headers: { 'content-type': isStream ? 'text/event-stream' : 'application/json' },
      });
    },
  });
  return { client, calls };
}

describe('createClient', () => {
  it('calls each operation by its method', async () => {
    const reached = new Set<string>();
    for (const [name, ask] of Object.entries(methods)) {
      const { client, calls } = recording();
      const [operationId, answer] = ask(client);
      await answer;
      const [call] = calls;
      assert(call !== undefined && calls.length === 1, name);
      assert.ok(call.url.pathname.startsWith('/below/'), name);
      const path = call.url.pathname.slice('/below'.length);
      assert.equal(operationAt(call.method, path), operationId, name);
      assert.equal(new Headers(call.init.headers).get('x-api-key'), 'rbk_1');
      assert.equal(call.init.redirect, 'manual');
      reached.add(operationId);
    }
    const offered = operations.map(({ operation }) => operation).filter((one) => !isForPeople(one));
    assert.deepEqual([...reached].sort(), offered.map(({ operationId }) => operationId).sort());
  });

  it('refuses responses without the members that the contract requires', async () => {
    // Without a described JSON body: other contracts, metrics, and responses without a body.
    const free =
      'contracts.get eventTypes.delete keys.revoke metrics openapi openapiYaml stream subscriptions.delete'.split(
        ' ',
      );
    const taken: string[] = [];
    for (const [name, ask] of Object.entries(methods)) {
      const [, answer] = ask(recording(() => ({ other: 1 })).client);
      await answer.then(
        () => taken.push(name),
        (error: unknown) => {
          assert(error instanceof RingbackError, `${name}: ${String(error)}`);
          assert.equal(error.code, 'unreadable_answer', name);
          assert.match(error.message, /the response is "\{"other":1\}", expected it to have \w/);
        },
      );
      if (!name.endsWith('.list')) continue;
      const odd = recording((...call) => ({ ...leastOf(...call), items: 'abc' }));
      await assert.rejects(async () => ask(odd.client)[1], /expected items to be an array/);
    }
    assert.deepEqual(taken.sort(), free.sort());
  });

  it('has exactly these methods, and docs/client.md lists them', () => {
    const { client } = recording();
    const groups = new Map(
      Object.entries(client).map(([name, value]: [string, unknown]) => [
        name,
        typeof value === 'function' ? [] : Object.keys(value ?? {}),
      ]),
    );
    const names = [...groups].flatMap(([name, inside]) =>
      inside.length === 0 ? [name] : inside.map((one) => `${name}.${one}`),
    );
    assert.deepEqual(names.sort(), Object.keys(methods).sort());
    const page = readFileSync(new URL('../../docs/client.md', import.meta.url), 'utf8');
    const [, table = ''] = page.split('## All methods');
    const named = table.split('\n').flatMap((row) => {
      const [first = '', ...rest] = [...row.matchAll(/`(\w+)`/g)].map(([, name = '']) => name);
      if (first === '') return [];
      const isGroup = (groups.get(first)?.length ?? 0) > 0;
      return isGroup ? rest.map((name) => `${first}.${name}`) : [first, ...rest];
    });
    assert.deepEqual(named.sort(), names);
  });

  it('sends the three variants of subscribe as the contract describes them', async () => {
    const { client, calls } = recording();
    await client.subscribe({
      callbackUrl: 'https://a.example/?x=1',
      'x-ringback': { ordered: true },
    });
    await client.subscribe({ callbackUrl: 'https://a.example/?x=1&y', event: 'order.created' });
    await client.subscribe({
      callbackUrl: 'https://a.example',
      event: 'a',
      'x-ringback': { timeout: '5s' },
    });
    await client.subscribe({ failedUrl: 'https://a.example' });
    const seen = calls.map(({ url, init }) => [url.search, init.body ?? '']);
    assert.deepEqual(seen, [
      ['', '{"callbackUrl":"https://a.example/?x=1","x-ringback":{"ordered":true}}'],
      ['?callbackUrl=https%3A%2F%2Fa.example%2F%3Fx%3D1%26y&event=order.created', ''],
      ['?callbackUrl=https%3A%2F%2Fa.example&event=a', '{"x-ringback":{"timeout":"5s"}}'],
      ['', '{"failedUrl":"https://a.example"}'],
    ]);
  });

  it('omits undefined filters, and joins lists as the contract describes', async () => {
    const { client, calls } = recording();
    await client.deliveries.list({ state: 'dead', event: undefined, limit: 5 }).page();
    await client.subscriptionStats({ subscriberIds: ['sub_1', 'sub_2'], range: '24h' });
    const [first, second] = calls.map(({ url }) => url.search);
    assert.equal(first, '?state=dead&limit=5');
    assert.equal(second, '?subscriberIds=sub_1,sub_2&range=24h');
  });

  it('sends a batch with its subscriber', async () => {
    const { client, calls } = recording();
    await client.publishBatch([event, { event: 'b', payloadText: '1.0' }]);
    await client.publishBatch([event], { subscriberId: 'sub_1', idempotencyKey: 'k' });
    const [first, second] = calls.map(({ init }) => init.body);
    const one = '{"event":"order.created","payload":{}}';
    assert.equal(first, `{"events":[${one},{"event":"b","payload":1.0}]}`);
    assert.equal(second, `{"events":[${one}],"subscriberId":"sub_1"}`);
    assert.equal(new Headers(calls[1]?.init.headers).get('idempotency-key'), 'k');
  });
});
