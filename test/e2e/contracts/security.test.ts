// The security of a foreign document alone decides who may subscribe. The management API keeps its own rules.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { serve, type Serving } from './stage.ts';
import type { Answer } from '../../api/harness.ts';

const schemes = `components:
  securitySchemes:
    H: { type: apiKey, in: header, name: X-Shop-Key }
    Q: { type: apiKey, in: query, name: shop_key }
    C: { type: apiKey, in: cookie, name: shop }
    App: { type: apiKey, in: header, name: X-App, x-ringback: app-id }
    Bearer: { type: http, scheme: bearer }
    Basic: { type: http, scheme: basic }
    OAuth: { type: oauth2, flows: { clientCredentials: { tokenUrl: /t, scopes: {} } } }
    OpenId: { type: openIdConnect, openIdConnectUrl: https://id.example/ }
    Mtls: { type: mutualTLS }
`;

/** Each becomes `POST /<name>`; undefined inherits the security of the document. */
const operations: Record<string, string | undefined> = {
  inherits: undefined,
  none: '[]',
  anonymous: '[{}]',
  header: '[{ H: [] }]',
  query: '[{ Q: [] }]',
  cookie: '[{ C: [] }]',
  or: '[{ H: [] }, { Q: [] }]',
  and: '[{ H: [], App: [] }]',
  maybe: '[{}, { H: [] }]',
  bearer: '[{ Bearer: [] }]',
  basic: '[{ Basic: [] }]',
  oauth: "[{ OAuth: ['orders:read'] }]",
  openid: '[{ OpenId: [] }]',
  mtls: '[{ Mtls: [] }]',
  'mtls-or-header': '[{ Mtls: [] }, { H: [] }]',
  'mtls-and-header': '[{ Mtls: [], H: [] }]',
  ghost: '[{ Ghost: [] }]',
  'ghost-or-header': '[{ Ghost: [] }, { H: [] }]',
};

const paths = Object.entries(operations).map(
  ([name, security]) => `
  /${name}:
    post:
      ${security === undefined ? '' : `security: ${security}`}
      parameters: [{ name: url, in: query, required: true, schema: { type: string } }]
      responses: { '201': { description: made } }
      callbacks:
        ${name}:
          '{$request.query.url}': { post: { responses: { '200': { description: ok } } } }`,
);
const shop = `openapi: 3.1.0
info: { title: Shop, version: '1' }
security: [{ H: [] }]
${schemes}
paths:${paths.join('')}
`;

type Credentials = Partial<Record<'H' | 'Q' | 'C' | 'App' | 'Bearer' | 'Basic', string>>;

async function ask(service: Serving, name: string, given: Credentials = {}): Promise<Answer> {
  const { H, Q, C, App, Bearer, Basic } = given;
  const basic = Basic && Buffer.from(`anyone:${Basic}`).toString('base64');
  const query = new URLSearchParams({ url: 'http://127.0.0.1:9000/' });
  if (Q !== undefined) query.set('shop_key', Q);
  return service.call({
    method: 'POST',
    path: `/${name}?${query.toString()}`,
    key: null,
    headers: {
      ...(H === undefined ? {} : { 'X-Shop-Key': H }),
      ...(C === undefined ? {} : { cookie: `shop=${C}` }),
      ...(App === undefined ? {} : { 'X-App': App }),
      ...(Bearer === undefined ? {} : { authorization: `Bearer ${Bearer}` }),
      ...(basic === undefined ? {} : { authorization: `Basic ${basic}` }),
    },
  });
}

describe('the security of a foreign document', () => {
  it('admits exactly the listed credentials', async () => {
    await using service = await serve(shop);
    const { key, appId: App } = service;
    const every: Credentials[] = [
      {},
      { H: key },
      { Q: key },
      { C: key },
      { H: key, App },
      { App },
      { Bearer: key },
      { Basic: key },
      { H: 'wrong' },
      { H: 'wrong', Q: key },
    ];
    const nameOf = (given: Credentials): string =>
      Object.entries(given)
        .map(([name, value]) => (value === 'wrong' ? `not ${name}` : name))
        .join('+');
    /** Those of `every` that are admitted. */
    const header = ['H', 'H+App'];
    const everything = every.map(nameOf);
    const allowed: Record<string, readonly string[]> = {
      inherits: header,
      none: everything,
      anonymous: everything,
      header,
      query: ['Q', 'not H+Q'],
      cookie: ['C'],
      or: ['H', 'Q', 'H+App', 'not H+Q'],
      and: ['H+App'],
      maybe: everything,
      bearer: ['Bearer'],
      basic: ['Basic'],
      oauth: ['Bearer'],
      openid: ['Bearer'],
      mtls: [],
      'mtls-or-header': header,
      'mtls-and-header': [],
      ghost: [],
      'ghost-or-header': header,
    };
    assert.deepEqual(Object.keys(allowed), Object.keys(operations));
    for (const [name, wanted] of Object.entries(allowed)) {
      const passed: string[] = [];
      for (const given of every) {
        const { status, text } = await ask(service, name, given);
        assert.ok(status === 201 || status === 401, `${name} ${nameOf(given)}: ${text}`);
        if (status === 201) passed.push(nameOf(given));
      }
      assert.deepEqual(passed, wanted, name);
    }
  });

  it('lists one challenge for each alternative', async () => {
    await using service = await serve(shop);
    const wanted: Record<string, string> = {
      inherits: 'ApiKey realm="ringback", in="header", name="X-Shop-Key"',
      or: 'ApiKey realm="ringback", in="header", name="X-Shop-Key", ApiKey realm="ringback", in="query", name="shop_key"',
      and: 'ApiKey realm="ringback", in="header", name="X-Shop-Key", and="X-App"',
      cookie: 'ApiKey realm="ringback", in="cookie", name="shop"',
      bearer: 'Bearer realm="ringback"',
      openid: 'Bearer realm="ringback"',
      basic: 'Basic realm="ringback"',
      ghost: 'ApiKey realm="ringback"',
    };
    const bodies = new Set<string>();
    for (const [name, challenge] of Object.entries(wanted)) {
      for (const given of [{}, { H: 'wrong' }, { Bearer: 'rbk_wrong' }]) {
        const { status, headers, json } = await ask(service, name, given);
        assert.deepEqual([status, headers.get('www-authenticate')], [401, challenge], name);
        bodies.add(JSON.stringify({ ...json, requestId: '' }));
      }
    }
    assert.equal(bodies.size, 1, 'the same body, whatever was wrong');
  });

  it('warns at the start about unsupported alternatives', async () => {
    await using service = await serve(shop);
    const logged = service.logged();
    for (const name of ['mtls', 'mtls-or-header', 'mtls-and-header', 'ghost', 'ghost-or-header']) {
      assert.ok(logged.includes(`#/paths/~1${name}/post/security/0/`), name);
    }
    assert.match(logged, /#\/paths\/~1mtls\/post\/security".*every request is rejected/);
    assert.match(logged, /with \\"Ghost\\" is not supported: it is not declared/);
  });

  it('does not apply to the management API, nor the other way round', async () => {
    await using service = await serve(shop);
    const { key } = service;
    const path = '/subscriptions';
    for (const headers of [{ 'X-Shop-Key': key }, { authorization: `Bearer ${key}` }]) {
      assert.equal((await service.call({ path, key: null, headers })).status, 401);
    }
    assert.equal((await service.call({ path: `${path}?shop_key=${key}`, key: null })).status, 401);
    assert.equal((await service.call({ path })).status, 200);
    const url = '/header?url=http://127.0.0.1:9000/';
    assert.equal((await service.call({ method: 'POST', path: url })).status, 401);
  });

  it('refuses a cookie from another site', async () => {
    await using service = await serve(shop);
    const query = 'url=http://127.0.0.1:9000/';
    const cookie = `shop=${service.key}`;
    const sent = async (site: string): Promise<unknown[]> => {
      const headers = { cookie, 'sec-fetch-site': site };
      const path = `/cookie?${query}`;
      const { status, json } = await service.call({ method: 'POST', path, key: null, headers });
      return [status, json['code']];
    };
    assert.deepEqual(await sent('cross-site'), [403, 'cross_origin']);
    assert.deepEqual(await sent('same-origin'), [201, undefined]);
  });
});

describe('the scope of a foreign operation', () => {
  it('is subscribe by default, else the one that the document names', async () => {
    const scoped = shop.replace(
      '  /header:\n    post:',
      '  /header:\n    post:\n      x-ringback-scope: admin',
    );
    await using service = await serve(scoped);
    for (const [scope, plain, named] of [
      ['subscribe', 201, 403],
      ['admin', 403, 201],
      ['publish', 403, 403],
      ['read', 403, 403],
    ] as const) {
      const body = { name: scope, scopes: [scope] };
      const made = await service.call({ method: 'POST', path: '/keys', body });
      assert.equal(made.status, 201, made.text);
      const H = String(made.json['key']);
      assert.equal((await ask(service, 'inherits', { H })).status, plain, scope);
      assert.equal((await ask(service, 'header', { H })).status, named, scope);
    }
  });
});

describe('apps', () => {
  it('own what their key created; without a key it belongs to default', async () => {
    await using service = await serve(shop);
    const made = await service.call({ method: 'POST', path: '/apps', body: { name: 'other' } });
    const theirs = String(made.json['key']);
    assert.equal((await ask(service, 'maybe', { H: theirs })).status, 201);
    assert.equal((await ask(service, 'maybe')).status, 201);
    assert.equal((await ask(service, 'none', { H: theirs })).status, 201, 'the key is ignored');
    const operationsOf = async (key: string): Promise<unknown[]> => {
      const { json } = await service.call({ path: '/subscriptions', key });
      return (json['items'] as { operation: string }[]).map(({ operation }) => operation);
    };
    assert.deepEqual(await operationsOf(theirs), ['POST /maybe']);
    assert.deepEqual(await operationsOf(service.key), ['POST /none', 'POST /maybe']);
    assert.equal(await service.deliveries('maybe'), 1, 'events do not cross apps');
  });
});
