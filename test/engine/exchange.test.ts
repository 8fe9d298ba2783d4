// Exchanges: what a request and its answer by an API register, in two halves or at once.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Subscription } from '../../src/core/domain/subscription.ts';
import { Problem } from '../../src/core/errors/problem.ts';
import { limits } from '../../src/core/limits/limits.ts';
import { editApp } from '../../src/engine/access/apps.ts';
import { publish } from '../../src/engine/publish/publish.ts';
import {
  beginExchange,
  clearResource,
  endExchange,
  registerExchange,
  type ApiAnswer,
  type BegunExchange,
  type EndedExchange,
  type ExchangeCall,
} from '../../src/engine/subscribe/exchange.ts';
import { openHeaders } from '../../src/engine/targets/secrets.ts';
import { frozenWorld } from '../api/frozen-world.ts';
import { mountContract, type Mounted } from '../api/mount-contract.ts';

const schema = {
  type: 'object',
  properties: { url: {}, order: {}, 'x-ringback': { type: 'object' } },
};
const requestBody = { content: { 'application/json': { schema } } };
const created = {
  description: 'Made',
  content: { 'application/json': { schema: { properties: { id: {} } } } },
};
const header = {
  in: 'header',
  name: 'X-Token',
  'x-ringback-value': '{$response.body#/token}',
};
const id = { in: 'path', name: 'id', required: true, schema: { type: 'string' } };
const hook = '{$request.body#/url}';
const document = {
  openapi: '3.1.0',
  info: { title: 'Shop' },
  paths: {
    '/jobs': {
      post: {
        operationId: 'startJob',
        requestBody,
        responses: { 201: created, '202': created },
        callbacks: { done: { [hook]: { 'x-ringback-event': '*', post: {} } } },
      },
    },
    '/jobs/{id}': { get: { parameters: [id] } },
    '/orders': {
      post: {
        operationId: 'order',
        'x-ringback-expires': 'P7D',
        requestBody,
        responses: { 200: { description: 'Done' } },
        callbacks: {
          paid: { [`${hook}/paid?ref={$response.body#/ref}`]: { post: {} } },
          sent: { '{$response.body#/hooks}': { post: { parameters: [header] } } },
        },
      },
    },
    '/hook': {
      put: {
        operationId: 'setHook',
        requestBody,
        callbacks: { any: { [hook]: { post: {} } } },
      },
    },
  },
};

const url = 'http://127.0.0.1:9000/done';
const world = frozenWorld();
let on: Mounted;
before(async () => {
  on = await mountContract(document, { world, owner: 'api' });
});
after(async () => on[Symbol.asyncDispose]());

function message(body: unknown): ApiAnswer['message'] {
  return { header: new Map(), query: new Map(), path: new Map(), body };
}

function callOf(operationId: string, body: object, more: Partial<ExchangeCall> = {}): ExchangeCall {
  const operation = on.contract.operations.find((one) => one.operationId === operationId);
  assert(operation?.role.kind === 'subscribe');
  const [variant] = operation.role.variants;
  assert(variant);
  return {
    app: on.context.defaultApp,
    contract: on.contract.title,
    operation,
    variant,
    request: message(body),
    url: `http://api.example${operation.path}`,
    resource: undefined,
    requestId: 'req_1',
    ...more,
  };
}

function answer(status: number, body: unknown = {}): ApiAnswer {
  return { status, message: message(body) };
}

async function begun(
  operationId: string,
  body: object,
  more: Partial<ExchangeCall> = {},
): Promise<BegunExchange> {
  const found = await beginExchange(on.context, callOf(operationId, body, more));
  assert(found);
  return found;
}

async function find({ id: own }: Pick<Subscription, 'id'>): Promise<Subscription> {
  const input = { appNo: on.context.defaultApp.no, id: own };
  const found = await on.context.store.read('subscription', input);
  assert(found);
  return found;
}

function registered(ended: EndedExchange): Subscription {
  assert(ended.kind === 'registered', JSON.stringify(ended));
  return ended.subscription;
}

function reasonOf(ended: EndedExchange): string {
  assert(ended.kind === 'nothing');
  return ended.reason;
}

function targetsOf({ callbacks }: Subscription): [string, string][] {
  return callbacks.map((one) => [one.label, one.inactive ?? one.url]);
}

async function count(): Promise<number> {
  const page = { limit: 100, after: undefined };
  const { no: appNo } = on.context.defaultApp;
  const found = await on.context.store.read('subscriptions', { appNo, page, state: undefined });
  return found.items.length;
}

/** The number of deliveries. */
async function reached(
  name: string,
  to: { subject?: string; subscriberId?: string },
): Promise<number | undefined> {
  const rules = { contracts: [on.contract], isLenient: false };
  const { subject, subscriberId } = to;
  const { events } = await publish(on.context, rules, {
    app: on.context.defaultApp,
    contract: undefined,
    events: [{ name, subject, value: {}, payload: Buffer.from('{}'), at: 'body#' }],
    subscriberId,
    isForAll: false,
    idempotency: undefined,
    hops: 0,
  });
  return events[0]?.deliveries;
}

async function problemOf(promise: Promise<unknown>): Promise<Problem> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert(error instanceof Problem, String(error));
  return error;
}

describe('beginExchange', () => {
  it('writes an unconfirmed subscription that no event reaches', async () => {
    const { id: own } = await begun('startJob', { url });
    const found = await find({ id: own });
    assert.equal(found.state, 'unconfirmed');
    assert.equal(found.confirmByMs, world.nowMs() + limits.confirmWithinMs);
    assert.equal(found.controls.expiresMs, world.nowMs() + limits.subjectKeepMs);
    assert.deepEqual(found.exchange, { requestId: 'req_1', status: undefined });
    assert.deepEqual(targetsOf(found), [['done', url]]);
    assert.equal(await reached('done', { subject: 'job_1' }), 0);
  });

  it('writes nothing for a request without a callback URL', async () => {
    const known = await count();
    for (const [name, body] of [
      ['startJob', {}],
      ['startJob', { url: null }],
      ['setHook', { order: 1 }],
    ] as const) {
      assert.equal(await beginExchange(on.context, callOf(name, body)), undefined, name);
    }
    assert.equal(await count(), known);
  });

  it('refuses a URL that the request determines, even if the answer completes it', async () => {
    const known = await count();
    for (const name of ['startJob', 'order']) {
      for (const wrong of ['http://10.0.0.1/', 'ftp://a.example/', 'none']) {
        const problem = await problemOf(beginExchange(on.context, callOf(name, { url: wrong })));
        assert.equal(problem.code, 'target_refused', `${name} ${wrong}`);
        assert.equal(problem.faults[0]?.field, 'body#/url');
      }
    }
    assert.equal(await count(), known);
  });

  it('refuses settings that Ringback cannot keep', async () => {
    const settings = (chosen: object): object => ({ url, 'x-ringback': chosen });
    const wrong = callOf('startJob', settings({ timeout: 'soon' }));
    assert.equal((await problemOf(beginExchange(on.context, wrong))).code, 'invalid_request');
    const past = callOf('startJob', settings({ expiresAt: '2020-01-01T00:00:00Z' }));
    assert.equal((await problemOf(beginExchange(on.context, past))).code, 'invalid_request');
  });

  it('refuses a subscription above the quota', async () => {
    const quota = async (subscriptions: number | null): Promise<unknown> =>
      editApp(on.context, on.appId, { name: undefined, quotas: { subscriptions } });
    await quota(0);
    const problem = await problemOf(beginExchange(on.context, callOf('startJob', { url })));
    assert.equal(problem.code, 'quota_exceeded');
    await quota(null);
  });
});

describe('endExchange', () => {
  it('confirms what the API accepted, with the subject of its answer', async () => {
    const exchange = await begun('startJob', { url });
    const confirmed = registered(await endExchange(on.context, exchange, answer(202, { id: 17 })));
    assert.deepEqual([confirmed.state, confirmed.subject], ['active', '17']);
    assert.deepEqual(confirmed.exchange, { requestId: 'req_1', status: 202 });
    assert.equal(await reached('done', { subject: '17' }), 1);
    assert.equal(await reached('done', { subject: '18' }), 0);
  });

  it('ends what the API did not accept', async () => {
    for (const status of [200, 204, 303, 404, 500]) {
      const exchange = await begun('startJob', { url });
      const ended = await endExchange(on.context, exchange, answer(status, { id: 'refused' }));
      assert.equal(reasonOf(ended), `the API answered ${status}, expected 201 or 202`);
      const found = await find(exchange);
      assert.deepEqual([found.state, found.endReason], ['ended', 'refused']);
      assert.equal(found.exchange?.status, status);
    }
    assert.equal(await reached('done', { subject: 'refused' }), 0);
  });

  it('accepts any 2xx if the operation declares none', async () => {
    const accepted = await begun('setHook', { url });
    registered(await endExchange(on.context, accepted, answer(299)));
    const refused = await begun('setHook', { url });
    assert.match(reasonOf(await endExchange(on.context, refused, answer(400))), /expected any 2xx/);
  });

  it('ends a subscription that a publish confirmed before the API refused it', async () => {
    const exchange = await begun('startJob', { url });
    assert.equal(await reached('done', { subscriberId: `sub_${exchange.id}` }), 1);
    await endExchange(on.context, exchange, answer(500));
    assert.equal((await find(exchange)).endReason, 'refused');
  });

  it('completes a subscription that a publish confirmed before the API answered', async () => {
    const exchange = await begun('startJob', { url });
    const own = `sub_${exchange.id}`;
    assert.equal(await reached('done', { subject: own }), 1);
    assert.equal(await reached('done', { subject: 'another' }), 0);
    const confirmed = registered(
      await endExchange(on.context, exchange, answer(201, { id: 'a1' })),
    );
    assert.equal(confirmed.subject, 'a1');
    assert.equal(await reached('done', { subject: 'a1' }), 1);
  });

  it('takes the subject of a publish that names the subscription, too', async () => {
    const exchange = await begun('startJob', { url });
    const subscriberId = `sub_${exchange.id}`;
    assert.equal(await reached('done', { subscriberId, subject: 'b1' }), 1);
    assert.equal((await find(exchange)).subject, 'b1');
    assert.equal(await reached('done', { subject: 'b1' }), 1);
  });

  it('registers without a subject that the answer lacks, and says why', async () => {
    const exchange = await begun('startJob', { url });
    const ended = await endExchange(on.context, exchange, answer(201, {}));
    const { state, subject } = registered(ended);
    assert.deepEqual([state, subject], ['active', `sub_${exchange.id}`]);
    assert(ended.kind === 'registered');
    assert.match(ended.noSubject ?? '', /the response body has nothing at "\/id"/);
    assert.equal(await reached('done', { subject: 'foreign' }), 0);
  });

  it('fills in the URLs and headers that only the answer has', async () => {
    const exchange = await begun('order', { url });
    assert.deepEqual(targetsOf(await find(exchange)), [
      ['paid', 'the API has not answered yet'],
      ['sent', 'the API has not answered yet'],
    ]);
    const hooks = ['http://127.0.0.1:9000/a', 'http://127.0.0.1:9000/b'];
    const body = { ref: 'x y', hooks, token: 't0ken' };
    const confirmed = registered(await endExchange(on.context, exchange, answer(200, body)));
    assert.deepEqual(targetsOf(confirmed), [
      ['paid', `${url}/paid?ref=x%20y`],
      ['sent', hooks[0]],
      ['sent', hooks[1]],
    ]);
    const owner = { appId: on.context.defaultApp.id, subscriptionId: exchange.id };
    const { declared } = openHeaders(on.context.ring, owner, confirmed.headers);
    assert.deepEqual(
      declared.map((one) => one.header),
      [['X-Token', 't0ken']],
    );
    const none = { subject: 'none' };
    assert.deepEqual([await reached('paid', none), await reached('sent', none)], [1, 2]);
    assert.equal(confirmed.controls.expiresMs, world.nowMs() + 7 * 86_400_000);
  });

  it('leaves a callback inactive whose URL in the answer is refused, and says why', async () => {
    const exchange = await begun('order', { url });
    const body = { ref: 1, hooks: ['http://10.0.0.1/'] };
    const confirmed = registered(await endExchange(on.context, exchange, answer(200, body)));
    const [paid, sent] = targetsOf(confirmed);
    assert.deepEqual(paid, ['paid', `${url}/paid?ref=1`]);
    assert.match(sent?.[1] ?? '', /10\.0\.0\.1/);
    const many = Array.from({ length: 64 }, (_, at) => `${url}/${at}`);
    const other = await begun('order', { url });
    const full = await endExchange(on.context, other, answer(200, { ref: 1, hooks: many }));
    assert.match(targetsOf(registered(full))[1]?.[1] ?? '', /more than 64 callbacks/);
  });

  it('ends a subscription without any URL that can be called', async () => {
    const exchange = await begun('order', {});
    const ended = await endExchange(on.context, exchange, answer(200, { hooks: 'ftp://x/' }));
    assert.match(reasonOf(ended), /usable callback URL/);
    const found = await find(exchange);
    assert.equal(found.endReason, 'refused');
  });

  it('replaces the subscription of a PUT only when the API has accepted it', async () => {
    const resource = { resource: 'a resource' };
    const first = await begun('setHook', { url }, resource);
    registered(await endExchange(on.context, first, answer(200)));
    const second = await begun('setHook', { url }, resource);
    assert.equal((await find(first)).state, 'active');
    registered(await endExchange(on.context, second, answer(200)));
    assert.equal((await find(first)).endReason, 'replaced');
    await clearResource(on.context, callOf('setHook', {}, resource), answer(409));
    assert.equal((await find(second)).state, 'active');
    await clearResource(on.context, callOf('setHook', {}, resource), answer(200));
    assert.equal((await find(second)).endReason, 'replaced');
  });
});

describe('registerExchange', () => {
  async function register(
    call: ExchangeCall,
    given: ApiAnswer,
    key?: string,
  ): Promise<EndedExchange> {
    const keyed = { operation: 'register', parts: [JSON.stringify(given.message.body)] };
    const idempotency = key === undefined ? undefined : { key, ...keyed };
    return registerExchange(on.context, call, { answer: given, idempotency });
  }

  it('makes a subscription that is active at once', async () => {
    const ended = await register(callOf('startJob', { url }), answer(201, { id: 'c1' }));
    const { state, subject, exchange, confirmByMs } = registered(ended);
    assert.deepEqual([state, subject, confirmByMs], ['active', 'c1', undefined]);
    assert.deepEqual(exchange, { requestId: 'req_1', status: 201 });
    assert.equal(await reached('done', { subject: 'c1' }), 1);
    const body = { ref: 2, hooks: ['ftp://x/'] };
    const order = registered(await register(callOf('order', { url }), answer(200, body)));
    assert.equal(order.callbacks[0]?.url, `${url}/paid?ref=2`);
    assert.match(order.callbacks[1]?.inactive ?? '', /scheme is "ftp"/);
  });

  it('makes none without acceptance or URL, and says why', async () => {
    const known = await count();
    const refused = await register(callOf('startJob', { url }), answer(409));
    assert.equal(reasonOf(refused), 'the API answered 409, expected 201 or 202');
    const bare = await register(callOf('startJob', {}), answer(201));
    assert.match(reasonOf(bare), /has a callback URL/);
    const none = await register(callOf('order', {}), answer(200, {}));
    assert.match(reasonOf(none), /has a callback URL/);
    assert.equal(await count(), known);
  });

  it('makes one for a repeated request, and refuses another with its key', async () => {
    const call = callOf('startJob', { url });
    const first = registered(await register(call, answer(201, { id: 'd1' }), 'key'));
    const again = registered(await register(call, answer(201, { id: 'd1' }), 'key'));
    assert.equal(again.id, first.id);
    const other = register(call, answer(201, { id: 'd2' }), 'key');
    assert.equal((await problemOf(other)).code, 'idempotency_mismatch');
  });

  it('replaces the subscription of a PUT, or clears it', async () => {
    const call = callOf('setHook', { url }, { resource: 'another resource' });
    const first = registered(await register(call, answer(200)));
    const second = registered(await register(call, answer(200)));
    assert.equal((await find(first)).endReason, 'replaced');
    const bare = callOf('setHook', {}, { resource: 'another resource' });
    reasonOf(await register(bare, answer(200)));
    assert.equal((await find(second)).endReason, 'replaced');
  });
});
