// An app id in a request must be that of the key, for every operation of the contract and every way to
// authenticate. A new operation is tested automatically.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { loadContract } from '../../src/contract/compile/load.ts';
import { documentOf, serve } from '../e2e/contracts/stage.ts';
import { sendTo, start, type Answer, type Call, type Running } from './harness.ts';
import { rawClient } from './raw-client.ts';
import { openPortal } from './portal-session.ts';
import { hook, tenantsOf, type Tenant } from './tenants.ts';

const contract = await loadContract(join(import.meta.dirname, '..', '..', 'openapi.yaml'));
const guarded = contract.operations.filter(({ security }) => security.length > 0);

function assertWrongApp({ status, json }: Pick<Answer, 'status' | 'json'>, sent: string): void {
  assert.deepEqual([status, json['code']], [403, 'wrong_app'], JSON.stringify(json));
  assert.ok(String(json['detail']).startsWith(`X-APP-ID is "${sent}", but the key belongs to`));
}

async function signIn({ call, url }: Running, key: string): Promise<string> {
  const wanted = { method: 'POST', path: '/console/session', headers: { origin: url } };
  const answer = await call({ ...wanted, body: { key } });
  return answer.headers.getSetCookie()[0]?.split(';', 1)[0] ?? '';
}

describe('X-APP-ID', () => {
  let service: Running;
  let ours: Tenant;
  let theirs: Tenant;
  let cookies: Record<'ours' | 'operator', string>;
  /** Of a customer of ours. */
  let portal: string;
  before(async () => {
    service = await start();
    const { newApp } = tenantsOf(service.call);
    [ours, theirs] = [await newApp('ours'), await newApp('theirs')];
    cookies = {
      ours: await signIn(service, ours.key),
      operator: await signIn(service, service.key),
    };
    portal = await openPortal(service, { customer: 'cus_1' }, { key: ours.key });
  });
  after(async () => service[Symbol.asyncDispose]());

  for (const { operationId, method, path, scope } of guarded) {
    // Operations with the scope operator need the operator's key.
    const isOperators = scope === 'operator';
    it(`is refused by ${operationId} if it names another app than the key or session`, async () => {
      const key = isOperators ? service.key : ours.key;
      const cookie = isOperators ? cookies.operator : cookies.ours;
      const call = { method, path: path.replaceAll(/\{\w+\}/g, 'x'), headers: {} };
      const ways: Call[] = [
        { ...call, key },
        { ...call, path: `${call.path}?api_key=${key}`, key: null },
        { ...call, key: null, headers: { cookie, origin: service.url } },
      ];
      const isForSessions = ['getSession', 'signOut'].includes(operationId);
      const isForPortals = ['getPortalSession', 'closePortal'].includes(operationId);
      const inPortal = { ...call, key: null, headers: { 'x-portal-session': portal } };
      for (const way of isForPortals ? [inPortal] : isForSessions ? ways.slice(2) : ways) {
        for (const sent of [theirs.appId, 'app_typo']) {
          const headers = { ...way.headers, 'X-APP-ID': sent };
          assertWrongApp(await service.call({ ...way, headers }), sent);
        }
        if (['openStream', 'signOut', 'closePortal'].includes(operationId)) continue;
        const own = isOperators ? service.appId : ours.appId;
        const right = await service.call({ ...way, headers: { ...way.headers, 'X-APP-ID': own } });
        assert.notEqual(right.json['code'], 'wrong_app');
      }
    });
  }

  it('publishes to neither app, on the fast path and the regular one', async () => {
    using client = rawClient(service.url);
    const body = JSON.stringify({ event: 'e', payload: {} });
    for (const more of [[], [['Connection', 'close']]] as const) {
      const answer = await client.send({
        method: 'POST',
        path: '/events',
        headers: [
          ['X-API-Key', ours.key],
          ['Content-Type', 'application/json'],
          ['X-APP-ID', theirs.appId],
          ...more,
        ],
        body,
      });
      assertWrongApp(answer, theirs.appId);
    }
    for (const { key } of [ours, theirs]) {
      assert.deepEqual((await service.call({ path: '/events', key })).json['items'], []);
    }
  });

  it('is refused if one of several lines names another app', async () => {
    using client = rawClient(service.url);
    const lines = [ours.appId, theirs.appId].map((id) => ['X-APP-ID', id] as const);
    for (const both of [lines, lines.toReversed()]) {
      const headers = [['X-API-Key', ours.key] as const, ...both];
      assertWrongApp(await client.send({ path: '/events', headers }), theirs.appId);
    }
  });

  it('does not reveal the app of the key', async () => {
    const headers = { 'X-APP-ID': theirs.appId };
    const { text } = await service.call({ path: '/events', key: ours.key, headers });
    assert.ok(!text.includes(ours.appId));
  });
});

const paths = `
/streams:
  post:
    requestBody: { content: { application/json: { schema: { type: object } } } }
    responses: { '201': { description: ok } }
    callbacks: { onData: { '{$request.body#/url}': { post: { responses: { '200': { description: ok } } } } } }
/own:
  post:
    parameters: [{ name: X-App-Id, in: header, schema: { type: string } }]
    requestBody: { content: { application/json: { schema: { type: object } } } }
    responses: { '201': { description: ok } }
    callbacks: { onData: { '{$request.body#/url}': { post: { responses: { '200': { description: ok } } } } } }
`;

describe('the app id of a foreign contract', () => {
  const key = '{ Key: { type: apiKey, in: header, name: X-API-Key }';
  const schemes = {
    declared: `${key}, App: { type: apiKey, in: query, name: tenant, x-ringback: app-id } }`,
    undeclared: `${key} }`,
  };
  const document = (kind: keyof typeof schemes, security: string): string =>
    documentOf(paths, `components: { securitySchemes: ${schemes[kind]} }\nsecurity: ${security}`);
  const other = `app_${'0'.repeat(26)}`;
  const body = { url: hook };

  it('is refused if the document declares it, even if the operation does not require it', async () => {
    await using service = await serve(document('declared', '[{ Key: [] }]'));
    const call = { method: 'POST', path: '/streams', body };
    const wrong = await service.call({ ...call, path: '/streams?tenant=x' });
    assert.deepEqual([wrong.status, wrong.json['code']], [403, 'wrong_app']);
    const right = await service.call({ ...call, path: `/streams?tenant=${service.appId}` });
    assert.equal(right.status, 201);
  });

  it('is X-APP-ID if the document does not declare one, and the value is an app id', async () => {
    await using service = await serve(document('undeclared', '[{ Key: [] }]'));
    const ask = async (path: string, id: string): Promise<Answer> =>
      service.call({ method: 'POST', path, headers: { 'X-APP-ID': id }, body });
    assertWrongApp(await ask('/streams', other), other);
    assert.equal((await ask('/streams', service.appId)).status, 201);
    assert.equal((await ask('/streams', 'a-gateway')).status, 201);
    assert.equal(
      (await ask('/own', other)).status,
      201,
      'the operation declares that parameter itself',
    );
  });

  it('is that of the app "default" for an anonymous subscribe', async () => {
    await using service = await serve(document('undeclared', '[]'));
    const call = { method: 'POST', path: '/streams', body };
    const refused = await sendTo(service.url, service.key, {
      ...call,
      headers: { 'X-APP-ID': other },
    });
    assertWrongApp(refused, other);
    assert.equal((await service.call({ ...call, key: null })).status, 201);
  });
});
