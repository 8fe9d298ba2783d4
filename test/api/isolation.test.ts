// Apps are isolated: every operation of the contract that takes an id treats another app's id like
// one that never existed. A new operation is tested automatically.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Operation, Parameter } from '../../src/contract/model/contract.ts';
import { loadContract } from '../../src/contract/compile/load.ts';
import { deliveryStates } from '../../src/core/domain/delivery.ts';
import { start, type Answer, type Running } from './harness.ts';
import {
  callOf,
  hook,
  idParameter,
  isId,
  isNamedByApp,
  isOfNobody,
  kindOf,
  normal,
  random,
  tenantsOf,
  type Kind,
  type Tenant,
} from './tenants.ts';

const contract = await loadContract(join(import.meta.dirname, '..', '..', 'openapi.yaml'));

function isAskedFor(parameter: Parameter): boolean {
  return parameter.in === 'query' && /Ids?$/i.test(parameter.name);
}

/** The kind of record that each id filter of a list names. */
const filterKinds: Record<string, Kind> = { eventId: 'event', subscriberId: 'subscription' };

const withId = contract.operations.filter(
  (one) => idParameter(one) !== undefined && !isOfNobody(one),
);
const lists = contract.operations.filter(({ parameters }) =>
  parameters.some(({ name }) => name === 'cursor'),
);
/** The keys of exchanges, which need a document of an API, are in exchanges.test.ts. */
const keyed = contract.operations.filter(
  ({ operationId, parameters }) =>
    operationId !== 'registerExchange' && parameters.some(({ name }) => name === 'Idempotency-Key'),
);

/** Each filter may use another query of the store. */
function filtersOf({ parameters, path }: Operation): string[] {
  const has = (name: string): boolean => parameters.some((one) => one.name === name);
  const states: readonly string[] =
    path === '/deliveries'
      ? [...deliveryStates, 'pending', 'retrying']
      : ['active', 'paused', 'disabled', 'ended'];
  const byState = has('state') ? states.map((state) => `state=${state}`) : [];
  const others = {
    event: path === '/subscriptions' ? ['e'] : ['e', 'e.*', '*'],
    status: ['2xx', '200', '4xx', '500'],
    error: ['status', 'exhausted'],
    from: ['2000-01-01T00:00:00Z'],
    until: ['2999-01-01T00:00:00Z'],
    url: ['http'],
    customer: ['cus_1'],
    action: ['key.created', 'subscription.created'],
  };
  const byOthers = Object.entries(others).flatMap(([name, values]) =>
    has(name) ? values.map((value) => `${name}=${value}`) : [],
  );
  return [...byState, ...byOthers];
}

describe('another app', () => {
  let service: Running;
  let ours: Tenant;
  let theirs: Tenant;
  before(async () => {
    service = await start();
    ours = await newApp('ours');
    theirs = await newApp('theirs');
  });
  after(async () => service[Symbol.asyncDispose]());

  const { newApp, ok, make, look } = tenantsOf(async (call) => service.call(call));

  /** A subscription that has a delivery. */
  const subscriberOf = async (tenant: Tenant): Promise<string> => {
    const delivery = await make('delivery', tenant);
    const { json } = await ok({ path: `/deliveries/${delivery}`, key: tenant.key });
    return String(json['subscriberId']);
  };

  it('is tried with every operation that takes an id', () => {
    assert.ok(withId.length >= 10);
    const names = withId.map(({ operationId }) => operationId);
    for (const name of ['unsubscribeOperation', 'getSecret', 'rotateKey', 'getApp']) {
      assert.ok(names.includes(name), name);
    }
    const missed = contract.operations.filter(
      (one) =>
        /\{[^}]+\}/.test(one.path) &&
        ![withId.includes(one), isOfNobody(one), isNamedByApp(one)].includes(true),
    );
    assert.deepEqual(missed, []);
  });

  for (const operation of withId) {
    const { operationId, scope } = operation;
    const kind = kindOf(operation);

    if (scope === 'operator') {
      it(`${operationId} is closed to apps, whatever the id`, async () => {
        const answers: object[] = [];
        for (const id of [ours.appId, theirs.appId, random(kind)]) {
          answers.push(normal(await service.call(callOf(operation, id, ours.key)), id));
        }
        assert.equal((answers[0] as Answer).status, 403);
        assert.deepEqual(answers[1], answers[0]);
        assert.deepEqual(answers[2], answers[0]);
      });
      continue;
    }

    it(`${operationId} finds its own id, and treats a foreign one like a random one`, async () => {
      const own = await make(kind, ours);
      const foreign = await make(kind, theirs);
      const untouched = await look(kind, foreign, theirs);
      const unknown = random(kind);
      const answer = await service.call(callOf(operation, foreign, ours.key));
      const wanted = await service.call(callOf(operation, unknown, ours.key));
      assert.equal(wanted.status, 404);
      assert.deepEqual(normal(answer, foreign), normal(wanted, unknown));
      assert.deepEqual(await look(kind, foreign, theirs), untouched, 'it is unchanged');
      const { status } = await service.call(callOf(operation, own, ours.key));
      // A pending delivery cannot be retried, nor a finished replay cancelled. Only the owner gets
      // that answer.
      const isTooLate = ['retryDelivery', 'cancelReplay'].includes(operationId);
      const isFound = isTooLate ? status === 409 : status < 300;
      assert.ok(isFound, `its own: ${status}`);
    });

    it(`${operationId} refuses the first key of the app "default" as well`, async () => {
      const foreign = await make(kind, theirs);
      const untouched = await look(kind, foreign, theirs);
      const answer = await service.call(callOf(operation, foreign, service.key));
      assert.equal(answer.status, 404);
      assert.deepEqual(await look(kind, foreign, theirs), untouched);
    });

    it(`${operationId} is not misled by X-APP-ID or a parameter that names the other app`, async () => {
      const foreign = await make(kind, theirs);
      const untouched = await look(kind, foreign, theirs);
      const call = callOf(operation, foreign, ours.key);
      const mark = call.path.includes('?') ? '&' : '?';
      const path = `${call.path}${mark}app=${theirs.appId}&appId=${theirs.appId}`;
      const headers = { ...call.headers, 'X-APP-ID': theirs.appId };
      assert.equal((await service.call({ ...call, path })).status, 400);
      assert.equal((await service.call({ ...call, headers })).status, 403);
      assert.deepEqual(await look(kind, foreign, theirs), untouched);
    });
  }

  it('keeps a working key: a foreign attempt to revoke or rotate it has no effect', async () => {
    const body = { name: 'canary', scopes: ['read'] };
    const made = await ok({ method: 'POST', path: '/keys', key: theirs.key, body });
    const { id, key } = made.json as { id: string; key: string };
    for (const call of [
      { method: 'DELETE', path: `/keys/${id}` },
      { method: 'POST', path: `/keys/${id}/rotate`, body: { overlapSeconds: 0 } },
    ]) {
      assert.equal((await service.call({ ...call, key: ours.key })).status, 404);
      await ok({ path: '/subscriptions', key });
    }
  });

  for (const operation of lists.filter(({ scope }) => scope !== 'operator')) {
    const { operationId, path } = operation;
    const kind = kindOf(operation);
    const idsIn = ({ json }: Answer): string[] =>
      (json['items'] as { id?: string; customer: string }[]).map((one) => one.id ?? one.customer);

    it(`${operationId} shows rows of one app only, whichever app the cursor is from`, async () => {
      // Rows of both apps alternate, so that a missing filter is noticed.
      const made = { ours: new Set<string>(), theirs: new Set<string>() };
      for (let index = 0; index < 4; index += 1) {
        made.ours.add(await make(kind, ours));
        made.theirs.add(await make(kind, theirs));
      }
      const all = await ok({ path: `${path}?limit=500`, key: ours.key });
      const seen = new Set(idsIn(all));
      assert.ok([...made.ours].every((id) => seen.has(id)));
      assert.ok([...made.theirs].every((id) => !seen.has(id)));

      for (const filter of filtersOf(operation)) {
        const page = await ok({ path: `${path}?limit=500&${filter}`, key: ours.key });
        const strangers = idsIn(page).filter((id) => !seen.has(id));
        assert.deepEqual(strangers, [], filter);
      }

      const cursors: string[] = [];
      for (const { key } of [ours, theirs]) {
        for (const limit of [1, 2, 3]) {
          const page = await ok({ path: `${path}?limit=${limit}`, key });
          cursors.push(String(page.json['nextCursor']));
        }
      }
      for (const cursor of cursors) {
        const page = await ok({ path: `${path}?limit=500&cursor=${cursor}`, key: ours.key });
        const strangers = idsIn(page).filter((id) => !seen.has(id));
        assert.deepEqual(strangers, [], `cursor ${cursor}`);
      }
    });
  }

  for (const { operationId, path, parameters } of lists) {
    for (const { name } of parameters.filter((one) => one.in === 'query' && isId(one))) {
      it(`${operationId} finds nothing by a foreign ${name}, as by a random one`, async () => {
        const kind = filterKinds[name];
        assert.ok(kind, `add to isolation.test.ts what ${name} names`);
        const ask = async (id: string): Promise<Answer> => {
          const headers = { 'X-Request-Id': 'fixed' };
          return ok({ path: `${path}?${name}=${id}`, key: ours.key, headers });
        };
        const [own, foreign] = await Promise.all(
          [ours, theirs].map(async (tenant) =>
            kind === 'subscription' ? subscriberOf(tenant) : make(kind, tenant),
          ),
        );
        assert.equal(((await ask(own ?? '')).json['items'] as unknown[]).length, 1, 'its own');
        const unknown = random(kind);
        const found = normal(await ask(foreign ?? ''), foreign ?? '');
        assert.deepEqual(found, normal(await ask(unknown), unknown));
      });
    }
  }

  const asking = contract.operations.filter(
    (one) => !lists.includes(one) && !withId.includes(one) && one.parameters.some(isAskedFor),
  );
  it('is tried with every query parameter that takes an id', () => {
    assert.deepEqual(asking.map(({ operationId }) => operationId).sort(), [
      'getStats',
      'getSubscriptionStats',
    ]);
  });

  for (const { operationId, path, parameters } of asking) {
    it(`${operationId} answers the same for a foreign id as for a random one`, async () => {
      const name = parameters.find(isAskedFor)?.name ?? '';
      // A fixed span in the past, because the current minute could change between the two calls.
      const span = 'from=2020-01-01T00:00:00Z&until=2020-01-02T00:00:00Z';
      const ask = async (id: string): Promise<object> => {
        const headers = { 'X-Request-Id': 'fixed' };
        const call = { path: `${path}?${name}=${id}&${span}`, key: ours.key, headers };
        return normal(await service.call(call), id);
      };
      const [own, foreign] = [await subscriberOf(ours), await subscriberOf(theirs)];
      const unknown = random('subscription');
      assert.deepEqual(await ask(foreign), await ask(unknown));
      assert.notDeepEqual(await ask(own), await ask(unknown), 'its own');
    });
  }

  for (const path of ['/events', '/events/batch', '/replays']) {
    it(`cannot be addressed by POST ${path}`, async () => {
      const foreign = await make('subscription', theirs);
      const untouched = await look('subscription', foreign, theirs);
      const unknown = random('subscription');
      const event = { event: 'e', payload: { message: 'm' } };
      const ask = async (subscriberId: string): Promise<Answer> => {
        const what = path === '/events' ? event : { events: [event] };
        const headers = { 'X-Request-Id': 'fixed' };
        const isReplay = path === '/replays';
        const body = isReplay ? { filter: { subscriberId } } : { ...what, subscriberId };
        return service.call({ method: 'POST', path, key: ours.key, headers, body });
      };
      const answer = await ask(foreign);
      assert.equal(answer.status, 404, answer.text);
      assert.deepEqual(normal(answer, foreign), normal(await ask(unknown), unknown));
      assert.deepEqual(await look('subscription', foreign, theirs), untouched);
    });
  }

  it('receives no event of ours, although it subscribes to all', async () => {
    const [mine, foreign] = [await newApp('mine'), await newApp('foreign')];
    await make('subscription', mine);
    const subscription = await make('subscription', foreign);
    const body = { event: 'e', payload: { message: 'm' } };
    const made = await ok({ method: 'POST', path: '/events', key: mine.key, body });
    assert.equal(made.json['deliveries'], 1);
    const heard = await ok({ path: '/deliveries', key: foreign.key });
    assert.deepEqual(heard.json['items'], []);
    const mistaken = await ok({ path: `/deliveries?subscriberId=${subscription}`, key: mine.key });
    assert.deepEqual(mistaken.json['items'], []);
  });

  for (const { operationId, path } of lists.filter(({ scope }) => scope === 'operator')) {
    it(`${operationId} is closed to apps`, async () => {
      assert.equal((await service.call({ path, key: ours.key })).status, 403);
    });
  }

  for (const { operationId, method, path } of keyed) {
    it(`has idempotency keys of its own for ${operationId}`, async () => {
      const event = { event: 'e', payload: { message: 'm' } };
      const wanted: Record<string, object> = {
        subscribeOperation: { callbackUrl: hook },
        publishEvent: event,
        publishEvents: { events: [event] },
        createReplay: { filter: { state: 'ended' } },
      };
      const body = wanted[operationId];
      assert.ok(body, `add to isolation.test.ts a body for ${operationId}`);
      const headers = { 'Idempotency-Key': 'shared' };
      const ask = async ({ key }: Tenant): Promise<Answer> =>
        ok({ method, path, key, headers, body });
      const first = await ask(theirs);
      const same = await ask(ours);
      assert.notEqual(same.text, first.text);
      assert.equal((await ask(theirs)).text, first.text, 'its own key still works');
      assert.equal((await ask(ours)).text, same.text);
    });
  }

  it('cannot be named in a request to create a key', async () => {
    for (const extra of [{ app: theirs.appId }, { appId: theirs.appId }, { appNo: 1 }]) {
      const body = { name: 'x', scopes: ['read'], ...extra };
      const answer = await service.call({ method: 'POST', path: '/keys', key: ours.key, body });
      assert.equal(answer.status, 400);
    }
  });
});
