// A null in any property of any body is either meaningful or the caller's mistake; it never causes a 5xx.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { loadContract } from '../../src/contract/compile/load.ts';
import type { Validator } from '../../src/contract/schema/schema.ts';
import { start, type Running } from './harness.ts';
import { callOf, hook, idParameter, kindOf, tenantsOf, type Tenant } from './tenants.ts';

const contract = await loadContract(join(import.meta.dirname, '..', '..', 'openapi.yaml'));
const withBody = contract.operations.filter(({ body }) => body !== undefined);

/** Valid bodies, so that the null is the only fault. */
const right: Record<string, readonly Record<string, unknown>[]> = {
  subscribeOperation: [{ callbackUrl: hook }, { failedUrl: hook }],
  editSubscription: [{ state: 'paused' }, {}],
  rotateSecret: [{}],
  publishEvent: [{ event: 'e', payload: {} }],
  publishEvents: [{ events: [{ event: 'e', payload: {} }] }],
  registerExchange: [{ request: { url: '/jobs' }, response: { status: 201 } }],
  putEventType: [{ schema: {}, description: 'd', example: 1, state: 'active' }],
  createReplay: [{}, { filter: {}, dryRun: true }],
  createKey: [{ name: 'n', scopes: ['read'] }],
  rotateKey: [{}],
  createApp: [{ name: 'n' }],
  editApp: [{ name: 'n' }],
  signIn: [{ key: 'x' }, { ticket: 'x' }, {}],
  createPortalLink: [
    { customer: 'c', can: ['view'], expiresIn: '1h', theme: 'dark', language: 'en' },
  ],
  openPortal: [{ ticket: 'x' }],
};

type Shape = ReturnType<Validator['shape']>;

/** Yields null, and the body with a null at each place that the schema declares. */
function* withNulls(shape: Shape, value: unknown, depth = 0): Generator {
  yield null;
  if (depth > 4) return;
  if (Array.isArray(value)) {
    for (const one of withNulls(shape.items(), value[0], depth + 1)) yield [one];
    return;
  }
  const object = typeof value === 'object' && value !== null ? value : {};
  for (const name of shape.properties) {
    const inside: unknown = Object.entries(object).find(([key]) => key === name)?.[1];
    for (const one of withNulls(shape.property(name), inside, depth + 1)) {
      yield { ...object, [name]: one };
    }
  }
}

describe('a null in the body', () => {
  let service: Running;
  let tenant: Tenant;
  before(async () => {
    service = await start();
    tenant = await tenantsOf(service.call).newApp('ours');
  });
  after(async () => service[Symbol.asyncDispose]());

  for (const operation of withBody) {
    const { operationId, method, path, scope } = operation;
    it(`never causes a 5xx of ${operationId}`, async () => {
      const bodies = right[operationId];
      assert.ok(bodies, `add to null-properties.test.ts a body for ${operationId}`);
      const key = scope === 'operator' ? service.key : tenant.key;
      const { make } = tenantsOf(service.call);
      const id = idParameter(operation) && (await make(kindOf(operation), tenant));
      const call = id === undefined ? { method, path, key } : callOf(operation, id, key);
      const shape = operation.body?.content.get('application/json')?.shape();
      assert.ok(shape);
      let tried = 0;
      for (const body of bodies.flatMap((one) => [...withNulls(shape, one)])) {
        const headers = { 'content-type': 'application/json', origin: service.url };
        const answer = await service.call({ ...call, headers, body: JSON.stringify(body) });
        assert.ok(answer.status < 500, `${JSON.stringify(body)}: ${answer.text}`);
        tried += 1;
      }
      assert.ok(tried > 1);
    });
  }

  it('is refused by a sign-in with a key and a null ticket', async () => {
    const headers = { origin: service.url };
    const body = { key: 'x', ticket: null };
    const call = { method: 'POST', path: '/console/session', headers, body };
    const { status, json } = await service.call(call);
    assert.deepEqual([status, json['code']], [400, 'invalid_request']);
    assert.equal(json['detail'], 'body#/ticket is not allowed here');
  });
});
