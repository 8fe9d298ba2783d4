// API keys over real sockets: created, listed, rotated with an overlap, revoked. The cache in front of
// the store is tested in test/engine/identify.test.ts.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { idMaker } from '../../src/core/base/id.ts';
import { makeKey, scopes as allScopes } from '../../src/core/domain/key.ts';
import { ensureDefaultApp } from '../../src/engine/access/apps.ts';
import { memoryStore } from '../store/migrated-memory.ts';
import { frozenWorld, type FrozenWorld } from './frozen-world.ts';
import { start, type Answer, type Running } from './harness.ts';

const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;

interface KeyView {
  id: string;
  name: string;
  scopes: string[];
  state: string;
  createdAt: string;
  expiresAt?: string;
  revokedAt?: string;
  lastUsedAt?: string;
  oldValidUntil?: string;
  key?: string;
}

interface Stage extends AsyncDisposable {
  service: Running;
  world: FrozenWorld;
  make: (fields?: object, key?: string) => Promise<KeyView & { key: string }>;
  get: (id: string) => Promise<KeyView>;
  list: (query?: string) => Promise<{ items: KeyView[]; nextCursor: string | null }>;
  rotate: (id: string, body?: object) => Promise<KeyView & { key: string }>;
  /** Whether the key is accepted by an operation that all these keys may call. */
  opens: (key: string) => Promise<boolean>;
}

async function stage(env: Record<string, string> = {}): Promise<Stage> {
  const world = frozenWorld();
  const service = await start({ env, world });
  const ask = async (status: number, call: Parameters<Running['call']>[0]): Promise<unknown> => {
    const answer = await service.call(call);
    assert.equal(answer.status, status, answer.text);
    return answer.json;
  };
  type Fresh = KeyView & { key: string };
  return {
    service,
    world,
    make: async (fields = {}, key = service.key) => {
      const body = { name: 'a key', scopes: ['read'], ...fields };
      return (await ask(201, { method: 'POST', path: '/keys', key, body })) as Fresh;
    },
    get: async (id) => (await ask(200, { path: `/keys/${id}` })) as KeyView,
    list: async (query = '') =>
      (await ask(200, { path: `/keys${query}` })) as {
        items: KeyView[];
        nextCursor: string | null;
      },
    rotate: async (id, body) =>
      (await ask(200, { method: 'POST', path: `/keys/${id}/rotate`, body })) as Fresh,
    opens: async (key) => {
      const { status } = await service.call({ path: '/subscriptions', key });
      assert.ok(status === 200 || status === 401, `answered ${status}`);
      return status === 200;
    },
    [Symbol.asyncDispose]: async () => service[Symbol.asyncDispose](),
  };
}

/** The cookie of a console session. */
async function signIn(service: Running, key: string): Promise<string> {
  const call = { method: 'POST', path: '/console/session', key: null, body: { key } };
  const answer = await service.call(call);
  assert.equal(answer.status, 201, answer.text);
  return answer.headers.getSetCookie()[0]?.split(';')[0] ?? '';
}

function assertProblem(answer: Answer, status: number, code: string): void {
  assert.equal(answer.status, status, answer.text);
  assert.equal(answer.json['code'], code);
}

describe('createKey', () => {
  it('creates a key that works at once, and shows its scopes', async () => {
    await using on = await stage();
    const made = await on.make({ name: 'reader', scopes: ['admin', 'read'] });
    assert.match(made.key, /^rbk_[0-9A-Za-z]{57}$/);
    assert.equal(made.id, made.key.slice(0, 12));
    assert.deepEqual(made.scopes, ['read', 'admin']);
    assert.equal(made.state, 'active');
    assert.equal(made.createdAt, '2026-03-01T12:00:00.000Z');
    assert.equal(made.expiresAt, undefined);
    assert.ok(await on.opens(made.key));
  });

  it('refuses an expiry that is not in the future', async () => {
    await using on = await stage();
    for (const expiresAt of [
      '2026-03-01T12:00:00Z',
      '2026-03-01T13:00:00+01:00',
      '1970-01-01T00:00:00Z',
    ]) {
      const body = { name: 'late', scopes: ['read'], expiresAt };
      assertProblem(
        await on.service.call({ method: 'POST', path: '/keys', body }),
        400,
        'invalid_request',
      );
    }
    assert.equal((await on.list()).items.length, 1);
  });

  it('refuses unknown scopes, no scopes, and the same scope twice', async () => {
    await using on = await stage();
    for (const scopes of [['root'], [], ['read', 'read'], ['read', 'root'], 'read', undefined]) {
      const body = { name: 'odd', scopes };
      const answer = await on.service.call({ method: 'POST', path: '/keys', body });
      assertProblem(answer, 400, 'invalid_request');
    }
    assert.equal((await on.list()).items.length, 1);
  });

  it('grants only scopes that the calling key has', async () => {
    await using on = await stage();
    const { key: admin } = await on.make({ scopes: ['read', 'admin'] });
    for (const scopes of [['read', 'operator'], ['publish'], ['subscribe', 'admin']]) {
      const body = { name: 'up', scopes };
      const refused = await on.service.call({ method: 'POST', path: '/keys', key: admin, body });
      assertProblem(refused, 403, 'missing_scope');
      assert.deepEqual((await on.make(body)).scopes, scopes);
    }
    assert.deepEqual((await on.make({ scopes: ['admin'] }, admin)).scopes, ['admin']);
  });
});

describe('a secret', () => {
  it('is shown by the call that created it and never again', async () => {
    await using on = await stage();
    const made = await on.make();
    const rotated = await on.rotate(made.id);
    const app = await on.service.call({ method: 'POST', path: '/apps', body: { name: 'shop' } });
    const secrets = [on.service.key, made.key, rotated.key, String(app.json['key'])];
    assert.equal(new Set(secrets).size, 4);
    const { id } = app.json;
    const paths = ['/keys', `/keys/${made.id}`, '/apps', `/apps/${String(id)}`];
    const texts = await Promise.all(
      paths.map(async (path) => (await on.service.call({ path })).text),
    );
    const theirs = await on.service.call({ path: '/keys', key: String(app.json['key']) });
    const everything = [...texts, theirs.text, on.service.logged()].join('\n');
    for (const secret of secrets) {
      assert.ok(everything.includes(secret.slice(4, 12)), 'its id is shown');
      assert.ok(!everything.includes(secret.slice(12)), 'its secret is not');
    }
    assert.ok(!/hash/i.test(everything));
  });
});

describe('listKeys', () => {
  it('pages through all keys, newest first', async () => {
    await using on = await stage();
    const made: string[] = [];
    for (let index = 0; index < 5; index += 1)
      made.unshift((await on.make({ name: `k${index}` })).id);
    const everything = [...made, on.service.key.slice(0, 12)];
    for (const limit of [1, 2, 3, 6, 7, 500]) {
      const seen: string[] = [];
      let cursor: string | null = null;
      do {
        const after: string = cursor === null ? '' : `&cursor=${cursor}`;
        const page = await on.list(`?limit=${limit}${after}`);
        assert.ok(page.items.length <= limit);
        seen.push(...page.items.map(({ id }) => id));
        cursor = page.nextCursor;
      } while (cursor !== null);
      assert.deepEqual(seen, everything, `limit ${limit}`);
    }
  });

  it('does not skip or repeat a key if others are created between two pages', async () => {
    await using on = await stage();
    const [older, newer] = [(await on.make()).id, (await on.make()).id];
    const first = await on.list('?limit=1');
    await on.make();
    const second = await on.list(`?limit=1&cursor=${first.nextCursor}`);
    assert.deepEqual(
      [...first.items, ...second.items].map(({ id }) => id),
      [newer, older],
    );
  });

  it('refuses an invalid limit or cursor', async () => {
    await using on = await stage();
    for (const query of [
      'limit=0',
      'limit=501',
      'limit=x',
      'limit=',
      'cursor=',
      'cursor=abc',
      'cursor=-1',
      'cursor=1e3',
    ]) {
      const answer = await on.service.call({ path: `/keys?${query}` });
      assertProblem(answer, 400, 'invalid_request');
    }
  });
});

describe('getKey', () => {
  it('finds a key by its first 12 characters, and by nothing else', async () => {
    await using on = await stage();
    const { key, ...made } = await on.make({ name: 'one' });
    assert.deepEqual(await on.get(made.id), made);
    const others = [key, made.id.slice(4), made.id.slice(0, 11), `${made.id}0`, 'rbk_00000000'];
    for (const id of others) {
      assertProblem(await on.service.call({ path: `/keys/${id}` }), 404, 'not_found');
    }
    const whole = await on.service.call({ path: `/keys/${key}` });
    assert.ok(!whole.text.includes(key.slice(12)), 'a whole key is not quoted back');
  });
});

describe('rotateKey', () => {
  it('accepts both keys for 24 hours, then only the new one', async () => {
    await using on = await stage();
    const old = await on.make();
    assert.ok(await on.opens(old.key), 'now it is cached');
    const fresh = await on.rotate(old.id);
    assert.equal(fresh.id, old.id);
    assert.notEqual(fresh.key, old.key);
    assert.equal(fresh.oldValidUntil, '2026-03-02T12:00:00.000Z');
    const both = async (): Promise<boolean[]> => [
      await on.opens(old.key),
      await on.opens(fresh.key),
    ];
    assert.deepEqual(await both(), [true, true]);
    on.world.advance(dayMs - 1);
    assert.deepEqual(await both(), [true, true]);
    assert.equal((await on.get(old.id)).oldValidUntil, '2026-03-02T12:00:00.000Z');
    on.world.advance(1);
    assert.deepEqual(await both(), [false, true]);
    assert.equal((await on.get(old.id)).oldValidUntil, undefined);
  });

  it('ends the old key at once with an overlap of 0', async () => {
    await using on = await stage();
    const old = await on.make();
    assert.ok(await on.opens(old.key));
    const fresh = await on.rotate(old.id, { overlapSeconds: 0 });
    assert.deepEqual([await on.opens(old.key), await on.opens(fresh.key)], [false, true]);
    assert.equal(fresh.oldValidUntil, undefined);
  });

  it('keeps at most two secrets: a second rotation ends the first one', async () => {
    await using on = await stage();
    const first = await on.make();
    const second = await on.rotate(first.id);
    const third = await on.rotate(first.id, { overlapSeconds: 60 });
    const open = await Promise.all([first, second, third].map(async ({ key }) => on.opens(key)));
    assert.deepEqual(open, [false, true, true]);
  });

  it('keeps name, scopes and expiry', async () => {
    await using on = await stage();
    const old = await on.make({ name: 'kept', expiresAt: '2026-03-01T13:00:00Z' });
    const fresh = await on.rotate(old.id);
    assert.deepEqual(
      [fresh.name, fresh.scopes, fresh.expiresAt, fresh.createdAt],
      [old.name, old.scopes, old.expiresAt, old.createdAt],
    );
    on.world.advance(hourMs);
    assert.deepEqual([await on.opens(old.key), await on.opens(fresh.key)], [false, false]);
  });

  it('can rotate the calling key', async () => {
    await using on = await stage();
    const fresh = await on.rotate(on.service.key.slice(0, 12), { overlapSeconds: 0 });
    assert.deepEqual([await on.opens(on.service.key), await on.opens(fresh.key)], [false, true]);
  });

  it('refuses a revoked key, an unknown one, and an overlap out of range', async () => {
    await using on = await stage();
    const { id } = await on.make();
    const rotate = async (path: string, body?: object): Promise<Answer> =>
      on.service.call({ method: 'POST', path: `/keys/${path}/rotate`, body });
    for (const overlapSeconds of [-1, 2_592_001, 1.5, '60', null]) {
      assertProblem(await rotate(id, { overlapSeconds }), 400, 'invalid_request');
    }
    assertProblem(await rotate('rbk_00000000'), 404, 'not_found');
    await on.service.call({ method: 'DELETE', path: `/keys/${id}` });
    assertProblem(await rotate(id), 409, 'conflict');
  });

  it('refuses to rotate a key with scopes that the calling key does not have', async () => {
    await using on = await stage();
    const { key: admin } = await on.make({ scopes: ['read', 'admin'] });
    const path = `/keys/${on.service.key.slice(0, 12)}/rotate`;
    const refused = await on.service.call({ method: 'POST', path, key: admin });
    assertProblem(refused, 403, 'missing_scope');
    assert.ok(await on.opens(on.service.key));
    assert.equal((await on.get(on.service.key.slice(0, 12))).oldValidUntil, undefined);
    const { id } = await on.make({ scopes: ['read'] });
    const path2 = `/keys/${id}/rotate`;
    assert.equal((await on.service.call({ method: 'POST', path: path2, key: admin })).status, 200);
    const publisher = await on.make({ scopes: ['read', 'publish'] });
    const path3 = `/keys/${publisher.id}/rotate`;
    const beyond = await on.service.call({ method: 'POST', path: path3, key: admin });
    assertProblem(beyond, 403, 'missing_scope');
  });
});

describe('revokeKey', () => {
  it('takes effect at once, and answers the same when repeated', async () => {
    await using on = await stage();
    const { id, key } = await on.make();
    const { key: fresh } = await on.rotate(id);
    assert.ok((await on.opens(key)) && (await on.opens(fresh)), 'now it is cached');
    const revoke = async (): Promise<number> =>
      (await on.service.call({ method: 'DELETE', path: `/keys/${id}` })).status;
    assert.equal(await revoke(), 204);
    assert.deepEqual([await on.opens(key), await on.opens(fresh)], [false, false]);
    on.world.advance(hourMs);
    assert.equal(await revoke(), 204);
    const { state, revokedAt } = await on.get(id);
    assert.deepEqual([state, revokedAt], ['revoked', '2026-03-01T12:00:00.000Z']);
  });

  it('refuses a key with scopes that the calling key does not have', async () => {
    await using on = await stage();
    const admin = await on.make({ scopes: ['read', 'admin'] });
    const others = [on.service.key.slice(0, 12), (await on.make({ scopes: ['publish'] })).id];
    const session = await signIn(on.service, admin.key);
    for (const id of others) {
      const path = `/keys/${id}`;
      const refused = await on.service.call({ method: 'DELETE', path, key: admin.key });
      assertProblem(refused, 403, 'missing_scope');
      assert.match(refused.text, /it has the scope .*which the calling key does not hold/);
      const headers = { cookie: session, origin: on.service.url };
      const byConsole = await on.service.call({ method: 'DELETE', path, key: null, headers });
      assertProblem(byConsole, 403, 'missing_scope');
      assert.equal((await on.get(id)).state, 'active');
    }
    const own = { method: 'DELETE', path: `/keys/${admin.id}`, key: admin.key };
    assert.equal((await on.service.call(own)).status, 204, 'a key can always revoke itself');
  });

  it('answers 404 to an unknown key', async () => {
    await using on = await stage();
    const answer = await on.service.call({ method: 'DELETE', path: '/keys/rbk_00000000' });
    assertProblem(answer, 404, 'not_found');
  });
});

describe('the expiry of a key', () => {
  it('ends it to the millisecond', async () => {
    await using on = await stage();
    const { id, key } = await on.make({ expiresAt: '2026-03-01T12:00:10.5Z' });
    on.world.advance(10_499);
    assert.ok(await on.opens(key));
    assert.equal((await on.get(id)).state, 'active');
    on.world.advance(1);
    assert.ok(!(await on.opens(key)));
    assert.equal((await on.get(id)).state, 'expired');
  });
});

describe('the last use of a key', () => {
  it('is recorded at most once a minute, and only for accepted requests', async () => {
    await using on = await stage();
    const { id, key } = await on.make();
    const lastUsed = async (): Promise<string | undefined> => (await on.get(id)).lastUsedAt;
    await on.opens(makeKey(on.world, id.slice(4)).key);
    assert.equal(await lastUsed(), undefined);
    await on.opens(key);
    assert.equal(await lastUsed(), '2026-03-01T12:00:00.000Z');
    on.world.advance(59_999);
    await on.opens(key);
    assert.equal(await lastUsed(), '2026-03-01T12:00:00.000Z');
    on.world.advance(1);
    await on.opens(key);
    assert.equal(await lastUsed(), '2026-03-01T12:01:00.000Z');
  });
});

describe('the first start', () => {
  it('creates the app "default" and one key with every scope', async () => {
    await using on = await stage();
    const { json } = await on.service.call({ path: '/apps' });
    const apps = json['items'] as { id: string; name: string }[];
    assert.deepEqual(
      apps.map(({ id, name }) => [id, name]),
      [[on.service.appId, 'default']],
    );
    const { items } = await on.list();
    assert.deepEqual(
      items.map(({ id, scopes }) => [id, scopes]),
      [[on.service.key.slice(0, 12), [...allScopes]]],
    );
  });

  it('keeps the app and the key for later starts, whether generated or configured', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ringback-keys-'));
    try {
      const env = {
        RINGBACK_DATA: folder,
        RINGBACK_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
      };
      const chosen = 'a key that an operator chose for us'.replaceAll(' ', '-');
      let appId = '';
      let first = '';
      {
        await using on = await stage(env);
        first = on.service.key;
        appId = on.service.appId;
      }
      for (let starts = 0; starts < 2; starts += 1) {
        await using on = await stage({ ...env, RINGBACK_API_KEY: chosen });
        assert.equal(on.service.appId, appId);
        assert.equal((await on.list()).items.length, 2, 'the first key and the configured one');
        assert.ok((await on.opens(first)) && (await on.opens(chosen)));
      }
      await using on = await stage(env);
      assert.equal(on.service.key, '', 'no key was created');
      assert.ok((await on.opens(first)) && (await on.opens(chosen)));
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('ensureDefaultApp', () => {
  const chosen = 'a-key-that-an-operator-chose-for-us';

  it('reports that the configured key is no longer valid', async () => {
    const world = frozenWorld();
    const store = memoryStore({ world, onFatal: (error) => assert.fail(error) });
    const deps = { world, store, newId: idMaker(world) };
    const first = await ensureDefaultApp(deps, chosen);
    assert.deepEqual([first.secret, first.isChosenKeyDead], [undefined, false]);
    const again = await ensureDefaultApp(deps, chosen);
    assert.deepEqual(again, first);
    const page = { limit: 10, after: undefined };
    const { items } = await store.read('keys', { appNo: first.app.no, page });
    assert.equal(items.length, 1);
    await store.edit('revokeKey', { appNo: first.app.no, id: items[0]?.id ?? '' });
    assert.equal((await ensureDefaultApp(deps, chosen)).isChosenKeyDead, true);
    const without = await ensureDefaultApp(deps, undefined);
    assert.deepEqual([without.secret, without.isChosenKeyDead], [undefined, false]);
    await store.close();
  });

  it('creates one app and one key if several nodes start at the same time', async () => {
    const world = frozenWorld();
    const store = memoryStore({ world, onFatal: (error) => assert.fail(error) });
    const deps = { world, store, newId: idMaker(world) };
    const starts = await Promise.all(
      Array.from({ length: 4 }, async () => ensureDefaultApp(deps, chosen)),
    );
    assert.equal(new Set(starts.map(({ app }) => app.id)).size, 1);
    assert.ok(starts.every(({ isChosenKeyDead }) => !isChosenKeyDead));
    const page = { limit: 10, after: undefined };
    const appNo = starts[0]?.app.no ?? 0;
    assert.equal((await store.read('keys', { appNo, page })).items.length, 1);
    await store.close();
  });

  it('generates one key, known to one node, if nodes start at the same time without a configured one', async () => {
    const world = frozenWorld();
    const store = memoryStore({ world, onFatal: (error) => assert.fail(error) });
    const deps = { world, store, newId: idMaker(world) };
    const starts = await Promise.all(
      Array.from({ length: 3 }, async () => ensureDefaultApp(deps, undefined)),
    );
    assert.equal(new Set(starts.map(({ app }) => app.id)).size, 1);
    assert.equal(starts.filter(({ secret }) => secret !== undefined).length, 1);
    const page = { limit: 10, after: undefined };
    const appNo = starts[0]?.app.no ?? 0;
    assert.equal((await store.read('keys', { appNo, page })).items.length, 1);
    await store.close();
  });
});
