// Compiles Ringback's own contract, openapi.yaml, and checks it in detail.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { composeAnswer } from './request/answer.ts';
import type { Operation, Variant } from './model/contract.ts';
import { evaluateLink } from './compile/links.ts';
import { loadContract } from './compile/load.ts';
import { readRequest } from './request/request.ts';
import type { Reading } from './request/request.ts';
import { printTemplate } from './expression/template.ts';
import { fieldOf } from './model/variants.ts';

const contract = await loadContract(join(import.meta.dirname, '..', '..', 'openapi.yaml'));

function operation(operationId: string): Operation {
  const found = contract.operations.find((one) => one.operationId === operationId);
  assert.ok(found, operationId);
  return found;
}

function variantsOf({ role }: Operation): readonly Variant[] {
  assert.ok(role.kind === 'subscribe');
  return role.variants;
}

const variants = variantsOf(operation('subscribeOperation'));

function post(operationId: string, query: string, body?: unknown): Reading {
  return readRequest(operation(operationId), {
    path: new Map([['id', 'x']]),
    query: [...new URLSearchParams(query)],
    header: new Map(),
    cookie: new Map(),
    body: body === undefined ? undefined : { mediaType: 'application/json', value: body },
  });
}

function faults(reading: Reading): string[] {
  if (reading.kind === 'valid' || reading.kind === 'unsupported') return [reading.kind];
  return reading.faults.map(({ field, message }) => `${field} ${message}`);
}

function isKey({ credential }: { credential: string }): boolean {
  return credential === 'key';
}

describe('openapi.yaml', () => {
  it('compiles without a warning, including every schema', () => {
    assert.equal(contract.title, 'Ringback');
    for (const { parameters, body } of contract.operations) {
      for (const { schema } of parameters) schema?.check('');
      for (const schema of body?.content.values() ?? []) schema?.check({});
    }
    assert.deepEqual(contract.warnings, []);
  });

  it('has one subscribe and one unsubscribe operation; the rest is managed', () => {
    const roles = Object.groupBy(contract.operations, ({ role }) => role.kind);
    assert.deepEqual(
      roles.subscribe?.map(({ path }) => path),
      ['/subscribe'],
    );
    assert.deepEqual(
      roles.unsubscribe?.map(({ path }) => path),
      ['/unsubscribe'],
    );
    const { role } = operation('unsubscribeOperation');
    assert.ok(role.kind === 'unsubscribe');
    assert.deepEqual([role.id?.in, role.id?.name, role.answer?.status], ['query', 'Id', 200]);
  });

  it('offers three variants, with their needs and responses', () => {
    assert.deepEqual(
      variants.map(({ name, needs, needsAny, answer }) => ({
        name,
        needs: needs.map(fieldOf),
        needsAny: needsAny.map(fieldOf),
        status: answer?.status,
      })),
      [
        { name: 'body', needs: ['body#/callbackUrl'], needsAny: [], status: 201 },
        { name: 'query', needs: ['query.callbackUrl', 'query.event'], needsAny: [], status: 201 },
        {
          name: 'multi',
          needs: [],
          needsAny: ['body#/inProgressUrl', 'body#/failedUrl', 'body#/successUrl'],
          status: 200,
        },
      ],
    );
  });

  it('registers five callbacks, in order', () => {
    const all = variants.flatMap(({ name, callbacks }) =>
      callbacks.map((one) => ({
        variant: name,
        label: one.label,
        target: printTemplate(one.target ?? []),
        event: printTemplate(one.event),
        rest: [one.method, one.mediaType, one.unsubscribeStatus, one.inactive, ...one.statuses],
        payload: one.payload?.place,
      })),
    );
    const rest = ['POST', 'application/json', 410, undefined, '200', '410'];
    assert.deepEqual(
      all.map((one) => [one.variant, one.label, one.target, one.event]),
      [
        ['body', 'myEvent', '{$request.body#/callbackUrl}', '*'],
        [
          'query',
          'myEvent',
          '{$request.query.callbackUrl}?event={$request.query.event}',
          '{$request.query.event}',
        ],
        ['multi', 'inProgress', '{$request.body#/inProgressUrl}', 'inProgress'],
        ['multi', 'inProgress', '{$request.body#/failedUrl}', 'failed'],
        ['multi', 'inProgress', '{$request.body#/successUrl}', 'success'],
      ],
    );
    for (const one of all) assert.deepEqual(one.rest, rest);
    assert.deepEqual(
      all.map(({ payload }) => payload),
      ['', '', '1', '2', '3'].map((suffix) => `#/components/schemas/callbackMessage${suffix}`),
    );
    for (const { callbacks } of variants) {
      for (const { payload } of callbacks) {
        assert.deepEqual(payload?.check({ message: 'hi' }), []);
        assert.deepEqual(payload?.check({}), [{ field: '/message', message: 'is required' }]);
        assert.deepEqual(payload?.check({ message: 1 }), [
          { field: '/message', message: 'must be a string, is a number' },
        ]);
      }
    }
  });

  it('has the bodies of the variant multi under components/requestBodies', () => {
    const bodies = '#/components/requestBodies/callbackMessage';
    const source = readFileSync(join(import.meta.dirname, '..', '..', 'openapi.yaml'), 'utf8');
    for (const [at, name] of ['inProgressUrl', 'failedUrl', 'successUrl'].entries()) {
      const [, from = ''] = source.split(`'{$request.body#/${name}}':`);
      assert.equal(
        /requestBody: (?<body>.*)/u.exec(from)?.groups?.['body'],
        `{ $ref: '${bodies}${at + 1}' }`,
      );
    }
  });

  it('responds to every variant with id and secret, linked to unsubscribe', () => {
    for (const { answer } of variants) {
      assert.ok(answer);
      const request = { header: new Map(), query: new Map(), path: new Map(), body: { x: 1 } };
      const composed = composeAnswer(answer, {
        request,
        url: 'https://x.example/',
        id: 'sub_1',
        secret: 'whsec_1',
      });
      assert.deepEqual(composed, {
        status: answer.status,
        headers: {},
        mediaType: 'application/json',
        body: { subscriberId: 'sub_1', secret: 'whsec_1' },
      });
      const [link, ...others] = answer.links;
      assert.ok(link && others.length === 0);
      assert.equal(link.operationId, 'unsubscribeOperation');
      const response = { ...request, body: composed.body };
      const exchange = { url: 'http://x.example/subscribe', method: 'POST', request, response };
      assert.deepEqual([...evaluateLink(link, exchange)], [['Id', 'sub_1']]);
    }
  });

  it('chooses the variant by the fields of the request', () => {
    const cases: [string, unknown, string][] = [
      ['', { callbackUrl: 'https://x.example' }, 'body'],
      ['callbackUrl=https://x.example&event=order.created', undefined, 'query'],
      ['', { failedUrl: 'https://x.example' }, 'multi'],
    ];
    for (const [query, body, name] of cases) {
      const reading = post('subscribeOperation', query, body);
      assert.ok(reading.kind === 'valid');
      assert.equal(reading.variant?.name, name);
    }
  });

  it('explains the faults of a subscribe request', () => {
    assert.deepEqual(faults(post('subscribeOperation', '', { callbackUrl: 5 })), [
      'body#/callbackUrl must be a string, is a number',
    ]);
    assert.deepEqual(faults(post('subscribeOperation', '', { failedUrl: 5, successUrl: null })), [
      'body#/failedUrl must be a string, is a number',
      'body#/successUrl must be a string, is null',
    ]);
    assert.deepEqual(faults(post('subscribeOperation', 'callbackUrl=x&event=')), [
      'query.event must have at least 1 character, has 0',
    ]);
    assert.deepEqual(faults(post('subscribeOperation', 'callbackUrl=x&callbackUrl=y&event=e')), [
      'query.callbackUrl is given 2 times, expected once',
    ]);
    assert.deepEqual(faults(post('subscribeOperation', 'callbackUrl=x')), [
      'query.event is required for variant "query"',
    ]);
    // URLs are checked by the guard, not by the schema.
    assert.deepEqual(faults(post('subscribeOperation', '', { callbackUrl: 'no url' })), ['valid']);
  });

  it('explains the faults of other requests', () => {
    assert.deepEqual(faults(post('unsubscribeOperation', '')), ['query.Id is required']);
    assert.deepEqual(faults(post('listSubscriptions', 'limit=501&state=odd')), [
      'query.state must be one of "unconfirmed", "active", "paused", "disabled", "ended", is "odd"',
      'query.limit must be at most 500, is 501',
    ]);
    assert.deepEqual(faults(post('editSubscription', '', { callbacks: [{ url: 1 }], x: 1 })), [
      'body#/x is not allowed here',
      'body#/callbacks/0/position is required',
      'body#/callbacks/0/url must be a string, is a number',
    ]);
    assert.deepEqual(faults(post('editSubscription', '')), ['body is required']);
  });

  it('declares the problem response of every operation', () => {
    // Any operation may refuse an invalid query or be overloaded.
    const text = readFileSync(join(import.meta.dirname, '..', '..', 'openapi.yaml'), 'utf8');
    const paths = text.split(/^components:/m, 1)[0] ?? '';
    const blocks = paths.split(/^ {6}operationId: /m).slice(1);
    const lacking = blocks
      .filter(
        (block) => !/^ {8}default: \{ \$ref: '#\/components\/responses\/Problem' \}/m.test(block),
      )
      .map((block) => block.split('\n', 1)[0]);
    assert.equal(blocks.length, contract.operations.length);
    assert.deepEqual(lacking, []);
  });

  it('applies defaults of parameters', () => {
    const reading = post('listSubscriptions', '');
    assert.ok(reading.kind === 'valid');
    assert.equal(reading.message.query.get('limit'), 50);
  });

  it('requires a key in header, query or cookie, except for public operations', () => {
    const documents = [
      'getOpenapiJson',
      'getOpenapiYaml',
      'listContracts',
      'getContract',
      'getContractReport',
      'getDocs',
    ];
    const pages = ['getConsole', 'getConsolePage', 'getConsoleFile', 'signIn'];
    const portalPages = ['getPortal', 'getPortalFile', 'getPortalEmbed', 'getPortalLogo'];
    const open = [
      'getHealth',
      'getReadiness',
      ...documents,
      ...pages,
      ...portalPages,
      'openPortal',
    ];
    const key = { credential: 'key' };
    const cookie = { in: 'cookie', name: 'ringback_session' };
    const session = [
      { schemes: [{ name: 'ConsoleSession', credential: 'session', carrier: cookie }] },
    ];
    const header = { in: 'header', name: 'X-Portal-Session' };
    const portal = [
      { schemes: [{ name: 'PortalSession', credential: 'portal', carrier: header }] },
    ];
    const closed = [
      { schemes: [{ name: 'ApiKeyHeader', ...key, carrier: { in: 'header', name: 'X-API-Key' } }] },
      { schemes: [{ name: 'ApiKeyQuery', ...key, carrier: { in: 'query', name: 'api_key' } }] },
      { schemes: [{ name: 'ApiKeyCookie', ...key, carrier: { in: 'cookie', name: 'X-API-KEY' } }] },
      ...session,
      ...portal,
    ];
    const ofSession = new Map<string, unknown>([
      ['getSession', session],
      ['signOut', session],
      ['getPortalSession', portal],
      ['closePortal', portal],
    ]);
    for (const { operationId, security } of contract.operations) {
      const expected = ofSession.get(operationId) ?? closed;
      assert.deepEqual(security, open.includes(operationId) ? [] : expected, operationId);
    }
  });

  it('names a scope for every operation that needs a key', () => {
    for (const { operationId, scope, security } of contract.operations) {
      const asksForKey = security.flatMap(({ schemes }) => schemes).some(isKey);
      assert.equal(scope !== undefined, asksForKey, operationId);
    }
    const scopeOf = (name: string): unknown => operation(name).scope;
    assert.deepEqual(
      [
        'subscribeOperation',
        'unsubscribeOperation',
        'listSubscriptions',
        'revokeKey',
        'createApp',
      ].map(scopeOf),
      ['subscribe', 'subscribe', 'read', 'admin', 'operator'],
    );
  });
});
