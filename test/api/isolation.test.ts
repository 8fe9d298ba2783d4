// Nothing crosses apps: another app's id looks exactly like one that was never given out, for every
// operation of the contract that takes an id (RELIABILITY §6). A new operation is tested by being there.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Operation, Parameter } from '../../src/contract/contract.ts';
import { loadContract } from '../../src/contract/load.ts';
import { idMaker, withPrefix } from '../../src/core/id.ts';
import { makeKey } from '../../src/core/key.ts';
import { realWorld } from '../../src/core/world.ts';
import { start, type Answer, type Call, type Running } from './harness.ts';

const contract = await loadContract(join(import.meta.dirname, '..', '..', 'openapi.yaml'));
const hook = 'http://127.0.0.1:9000/hook';
const world = realWorld();
const newId = idMaker(world);

type Kind = 'subscription' | 'key' | 'app';

/** What an id parameter names, by the path; an operation that fits nothing must be added here. */
function kindOf({ path }: Operation): Kind {
  if (/^\/(?:subscriptions\/|unsubscribe$)/.test(path)) return 'subscription';
  if (path.startsWith('/keys/')) return 'key';
  if (path.startsWith('/apps/')) return 'app';
  throw new Error(`Cannot tell what the id of ${path} names: say it in isolation.test.ts`);
}

function idParameter({ parameters }: Operation): Parameter | undefined {
  return parameters.find((one) => one.in === 'path' || /^(?:id|.*Id)$/i.test(one.name));
}

const withId = contract.operations.filter((one) => idParameter(one) !== undefined);
const lists = contract.operations.filter(({ operationId }) => operationId.startsWith('list'));

/** Bodies with which an operation would do something, if it were let. */
const bodies: Record<string, object> = {
  editSubscription: { state: 'paused', callbacks: [{ position: 0, url: `${hook}/stolen` }] },
  rotateSecret: { overlapSeconds: 0 },
  rotateKey: { overlapSeconds: 0 },
};

function callOf(operation: Operation, id: string, key: string): Call {
  const { method, path, operationId } = operation;
  const parameter = idParameter(operation);
  const target =
    parameter?.in === 'path'
      ? path.replace(`{${parameter.name}}`, id)
      : `${path}?${parameter?.name}=${id}`;
  const body = bodies[operationId];
  return {
    method,
    path: target,
    key,
    headers: { 'X-Request-Id': 'fixed' },
    ...(body === undefined ? {} : { body }),
  };
}

interface Tenant {
  key: string;
  appId: string;
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

  const newApp = async (name: string): Promise<Tenant> => {
    const { json } = await service.call({ method: 'POST', path: '/apps', body: { name } });
    return { key: String(json['key']), appId: String(json['id']) };
  };

  const ok = async (call: Call): Promise<Answer> => {
    const answer = await service.call(call);
    assert.ok(answer.status >= 200 && answer.status < 300, answer.text);
    return answer;
  };

  const make = async (kind: Kind, { key, appId }: Tenant): Promise<string> => {
    if (kind === 'app') return appId;
    if (kind === 'subscription') {
      const body = { callbackUrl: hook };
      const { json } = await ok({ method: 'POST', path: '/subscribe', key, body });
      return String(json['subscriberId']);
    }
    const body = { name: 'a key', scopes: ['read'] };
    return String((await ok({ method: 'POST', path: '/keys', key, body })).json['id']);
  };

  const random = (kind: Kind): string => {
    if (kind === 'key') return `rbk_${makeKey(world).id}`;
    return withPrefix(kind === 'app' ? 'app' : 'sub', newId());
  };

  /** All that its owner can see of it. */
  const look = async (kind: Kind, id: string, { key }: Tenant): Promise<string[]> => {
    const path = kind === 'key' ? `/keys/${id}` : `/subscriptions/${id}`;
    const paths = kind === 'key' ? [path] : [path, `${path}/secret`];
    return Promise.all(paths.map(async (one) => (await ok({ path: one, key })).text));
  };

  /** Status, body and headers; what must differ between two requests is made equal. */
  const normal = ({ status, headers, text }: Answer, id: string): object => {
    const kept = [...headers].filter(([name]) => name !== 'date');
    return { status, text: text.replaceAll(id, '<id>'), headers: Object.fromEntries(kept) };
  };

  it('is tried with every operation that takes an id', () => {
    assert.ok(withId.length >= 10);
    const names = withId.map(({ operationId }) => operationId);
    for (const name of ['unsubscribeOperation', 'getSecret', 'rotateKey', 'getApp']) {
      assert.ok(names.includes(name), name);
    }
    const missed = contract.operations.filter(
      (one) => /\{[^}]+\}/.test(one.path) && !withId.includes(one),
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

    it(`${operationId} finds its own id and takes a foreign one for a random one`, async () => {
      const own = await make(kind, ours);
      const foreign = await make(kind, theirs);
      const before = await look(kind, foreign, theirs);
      const unknown = random(kind);
      const answer = await service.call(callOf(operation, foreign, ours.key));
      const wanted = await service.call(callOf(operation, unknown, ours.key));
      assert.equal(wanted.status, 404);
      assert.deepEqual(normal(answer, foreign), normal(wanted, unknown));
      assert.deepEqual(await look(kind, foreign, theirs), before, 'nothing happened to it');
      await ok(callOf(operation, own, ours.key));
    });

    it(`${operationId} is not opened by the first key of the app "default" either`, async () => {
      const foreign = await make(kind, theirs);
      const before = await look(kind, foreign, theirs);
      const answer = await service.call(callOf(operation, foreign, service.key));
      assert.equal(answer.status, 404);
      assert.deepEqual(await look(kind, foreign, theirs), before);
    });

    it(`${operationId} is not moved by X-APP-ID or a parameter that names the other app`, async () => {
      const foreign = await make(kind, theirs);
      const before = await look(kind, foreign, theirs);
      const call = callOf(operation, foreign, ours.key);
      const mark = call.path.includes('?') ? '&' : '?';
      const path = `${call.path}${mark}app=${theirs.appId}&appId=${theirs.appId}`;
      const headers = { ...call.headers, 'X-APP-ID': theirs.appId };
      assert.equal((await service.call({ ...call, path, headers })).status, 404);
      assert.deepEqual(await look(kind, foreign, theirs), before);
    });
  }

  it('ends with its own key: a foreign attempt to revoke or rotate leaves it working', async () => {
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
    const kind: Kind = path === '/keys' ? 'key' : 'subscription';
    const idsIn = ({ json }: Answer): string[] =>
      (json['items'] as { id: string }[]).map(({ id }) => id);

    it(`${operationId} shows rows of one app only, whoever's cursor is given`, async () => {
      // Rows of both apps lie between each other, so that a missing filter must show.
      const made = { ours: new Set<string>(), theirs: new Set<string>() };
      for (let index = 0; index < 4; index += 1) {
        made.ours.add(await make(kind, ours));
        made.theirs.add(await make(kind, theirs));
      }
      const all = await ok({ path: `${path}?limit=500`, key: ours.key });
      const seen = new Set(idsIn(all));
      assert.ok([...made.ours].every((id) => seen.has(id)));
      assert.ok([...made.theirs].every((id) => !seen.has(id)));

      const cursors: string[] = [];
      for (const { key } of [ours, theirs]) {
        for (const limit of [1, 2, 3]) {
          const page = await ok({ path: `${path}?limit=${limit}`, key });
          cursors.push(String(page.json['nextCursor']));
        }
      }
      for (const cursor of [...cursors, '1', '999999999999999']) {
        const page = await ok({ path: `${path}?limit=500&cursor=${cursor}`, key: ours.key });
        const strangers = idsIn(page).filter((id) => !seen.has(id));
        assert.deepEqual(strangers, [], `cursor ${cursor}`);
      }
    });
  }

  for (const { operationId, path } of lists.filter(({ scope }) => scope === 'operator')) {
    it(`${operationId} is closed to apps`, async () => {
      assert.equal((await service.call({ path, key: ours.key })).status, 403);
    });
  }

  it('has idempotency keys of its own', async () => {
    const call = (key: string, callbackUrl: string): Call => ({
      method: 'POST',
      path: '/subscribe',
      key,
      headers: { 'Idempotency-Key': 'shared' },
      body: { callbackUrl },
    });
    const first = await ok(call(theirs.key, hook));
    const same = await ok(call(ours.key, hook));
    assert.notEqual(same.json['subscriberId'], first.json['subscriberId']);
    assert.notEqual(same.json['secret'], first.json['secret']);
    assert.equal((await ok(call(theirs.key, hook))).text, first.text);
    const fourth = await newApp('fourth');
    await ok(call(fourth.key, `${hook}/another-body`));
  });

  it('cannot be named in a wish for a key', async () => {
    for (const extra of [{ app: theirs.appId }, { appId: theirs.appId }, { appNo: 1 }]) {
      const body = { name: 'x', scopes: ['read'], ...extra };
      const answer = await service.call({ method: 'POST', path: '/keys', key: ours.key, body });
      assert.equal(answer.status, 400);
    }
  });
});
