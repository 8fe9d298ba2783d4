// A query parameter that an operation does not declare is refused, and the most similar name is suggested. A new
// operation is tested automatically.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { loadContract } from '../../src/contract/compile/load.ts';
import { documentOf, serve } from '../e2e/contracts/stage.ts';
import { start, type Answer, type Running } from './harness.ts';
import { openPortal } from './portal-session.ts';
import { rawClient } from './raw-client.ts';
import { hook } from './tenants.ts';

const contract = await loadContract(join(import.meta.dirname, '..', '..', 'openapi.yaml'));
/** The console pages read the query themselves. */
const open = ['getConsole', 'getConsolePage'];
const strict = contract.operations.filter(({ operationId }) => !open.includes(operationId));

/** The errors of query parameters, by name. */
function queryFaults({ json }: Pick<Answer, 'json'>): Record<string, string> {
  const faults = (json['errors'] ?? []) as { field: string; message: string }[];
  const found = faults.filter(({ field }) => field.startsWith('query.'));
  return Object.fromEntries(found.map(({ field, message }) => [field.slice(6), message]));
}

describe('a query parameter that is not declared', () => {
  let service: Running;
  let cookie: string;
  let portal: string;
  before(async () => {
    service = await start();
    const wanted = { method: 'POST', path: '/console/session', body: { key: service.key } };
    const answer = await service.call({ ...wanted, headers: { origin: service.url } });
    cookie = answer.headers.getSetCookie()[0]?.split(';', 1)[0] ?? '';
    portal = await openPortal(service, { customer: 'cus_1' });
  });
  after(async () => service[Symbol.asyncDispose]());

  for (const { operationId, method, path, parameters } of strict) {
    const names = parameters.filter((one) => one.in === 'query').map(({ name }) => name);
    it(`is refused by ${operationId}, which has ${names.length}`, async () => {
      const target = path.replaceAll(/\{\w+\}/g, 'x');
      const headers = { cookie, origin: service.url, 'x-portal-session': portal };
      const ask = async (query: string): Promise<Answer> =>
        service.call({ method, path: `${target}?${query}`, headers });
      const answer = await ask('zzzzzzzz=1&api_key=x');
      assert.equal(answer.status, 400, answer.text);
      const message = queryFaults(answer)['zzzzzzzz'] ?? '';
      assert.ok(message.startsWith(`is not a query parameter of ${operationId}, `), message);
      assert.deepEqual(Object.keys(queryFaults(answer)).includes('api_key'), false);
      for (const name of names) {
        const slip = `${name.slice(0, -2)}${name.at(-1)}${name.at(-2)}`;
        assert.match(queryFaults(await ask(`${slip}=1`))[slip] ?? '', /did you mean "\w+"\?$/);
      }
    });
  }

  it('is refused together with declared ones, and nothing is listed', async () => {
    const answer = await service.call({ path: '/deliveries?staet=dead&limit=1' });
    const message = 'is not a query parameter of listDeliveries, did you mean "state"?';
    assert.equal(answer.json['detail'], `query.staet ${message}`);
    assert.equal(answer.json['items'], undefined);
  });

  it('is refused by an operation without query parameters', async () => {
    const { json } = await service.call({ path: '/nodes?verbose=1' });
    assert.equal(
      json['detail'],
      'query.verbose is not a query parameter of listNodes, which has none',
    );
  });

  it('is refused by publishing, on the fast path and the regular one', async () => {
    using client = rawClient(service.url);
    for (const more of [[], [['Connection', 'close']]] as const) {
      const answer = await client.send({
        method: 'POST',
        path: '/events?contract=x',
        headers: [['X-API-Key', service.key], ['Content-Type', 'application/json'], ...more],
        body: JSON.stringify({ event: 'e', payload: {} }),
      });
      assert.equal(answer.status, 400, answer.text);
    }
    assert.deepEqual((await service.call({ path: '/events' })).json['items'], []);
  });

  it('is accepted by the console pages, which read it themselves', async () => {
    for (const path of ['/console?from=x', '/console/deliveries?state=dead&state=failed']) {
      assert.notEqual((await service.call({ path })).status, 400);
    }
  });

  it('is refused without quoting its value, which may be a secret', async () => {
    const { text } = await service.call({ path: '/events?apikey=secret-value', key: service.key });
    assert.ok(!text.includes('secret-value'));
  });
});

describe('a query parameter of a foreign contract', () => {
  const paths = `
/streams:
  post:
    parameters: [{ name: tone, in: query, schema: { type: string } }]
    requestBody: { content: { application/json: { schema: { type: object } } } }
    responses: { '201': { description: ok } }
    callbacks: { onData: { '{$request.body#/url}': { post: { responses: { '200': { description: ok } } } } } }
`;
  const subscribe = async (more: string): Promise<Answer> => {
    await using service = await serve(documentOf(paths, more));
    return await service.call({ method: 'POST', path: '/streams?tnoe=x', body: { url: hook } });
  };

  it('is accepted, unless the document forbids it', async () => {
    assert.equal((await subscribe('security: []')).status, 201);
    const refused = await subscribe('x-ringback-strict-query: true');
    assert.equal(refused.status, 400);
    assert.match(queryFaults(refused)['tnoe'] ?? '', /did you mean "tone"\?$/);
  });
});
