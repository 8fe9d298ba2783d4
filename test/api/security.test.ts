// Access control of openapi.yaml over real sockets (docs/openapi-semantics.md rules 22–25, 28, 29, 31).
// Requirements of other documents are in security-documents.test.ts.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Operation } from '../../src/contract/model/contract.ts';
import { loadContract } from '../../src/contract/compile/load.ts';
import { makeKey, scopes } from '../../src/core/domain/key.ts';
import { buildConsole } from '../../tools/build-console.ts';
import { frozenWorld } from './frozen-world.ts';
import { start, type Running } from './harness.ts';
import { rawClient, type RawAnswer, type RawCall, type RawClient } from './raw-client.ts';

const contract = await loadContract(join(import.meta.dirname, '..', '..', 'openapi.yaml'));
/** These require a session: see sessions.test.ts and portal.test.ts. */
const ofSession = ['getSession', 'signOut', 'getPortalSession', 'closePortal'];
const guarded = contract.operations.filter(
  ({ security, operationId }) => security.length > 0 && !ofSession.includes(operationId),
);
const open = contract.operations.filter(({ security }) => security.length === 0);
const challenges = [
  'ApiKey realm="ringback", in="header", name="X-API-Key"',
  'ApiKey realm="ringback", in="query", name="api_key"',
  'ApiKey realm="ringback", in="cookie", name="X-API-KEY"',
];

type Lines = [string, string][];
/** The part of a request with the key in each of its three places. */
const places: Record<string, (key: string) => Pick<RawCall, 'path'> & { headers: Lines }> = {
  header: (key) => ({ path: '/subscriptions', headers: [['X-API-Key', key]] }),
  query: (key) => ({ path: `/subscriptions?api_key=${encodeURIComponent(key)}`, headers: [] }),
  cookie: (key) => ({ path: '/subscriptions', headers: [['Cookie', `X-API-KEY=${key}`]] }),
};

/** A path of the operation, with ids that do not exist. */
function pathOf({ path }: Operation): string {
  const names = { '{id}': 'none', '{title}': 'Ringback', '{page}': 'keys', '{file}': 'none' };
  return Object.entries(names).reduce((made, [name, value]) => made.replace(name, value), path);
}

interface Stage extends AsyncDisposable {
  service: Running;
  client: RawClient;
  world: ReturnType<typeof frozenWorld>;
  makeKey: (fields: object) => Promise<{ id: string; key: string }>;
}

async function stage(env: Record<string, string> = {}): Promise<Stage> {
  const world = frozenWorld();
  const service = await start({ env, world });
  const client = rawClient(service.url);
  return {
    service,
    client,
    world,
    makeKey: async (fields) => {
      const body = { name: 'k', scopes: ['read'], ...fields };
      const { status, text, json } = await service.call({ method: 'POST', path: '/keys', body });
      assert.equal(status, 201, text);
      return { id: String(json['id']), key: String(json['key']) };
    },
    [Symbol.asyncDispose]: async () => {
      client[Symbol.dispose]();
      await service[Symbol.asyncDispose]();
    },
  };
}

describe('a key in its three places', () => {
  let on: Stage;
  before(async () => {
    on = await stage();
  });
  after(async () => on[Symbol.asyncDispose]());
  const status = async (path: string, headers: Lines): Promise<number> =>
    (await on.client.send({ path, headers })).status;

  for (const [name, place] of Object.entries(places)) {
    it(`is accepted from the ${name} alone`, async () => {
      assert.equal((await on.client.send(place(on.service.key))).status, 200);
    });

    it(`is refused if it is given twice in the ${name}, equal or not`, async () => {
      const { key } = on.service;
      const twice: Record<string, [string, Lines][]> = {
        header: [['/subscriptions', [...header(key), ...header(key)]]],
        query: [
          [`/subscriptions?api_key=${key}&api_key=${key}`, []],
          [`/subscriptions?api_key=${key}&api_key=other`, []],
          [`/subscriptions?api_key=${key}&api%5Fkey=`, []],
        ],
        cookie: [
          ['/subscriptions', [['Cookie', `X-API-KEY=${key}; X-API-KEY=${key}`]]],
          ['/subscriptions', [['Cookie', `X-API-KEY=${key}; a=b; X-API-KEY=`]]],
          ['/subscriptions', [...cookie(key), ...cookie('other')]],
        ],
      };
      for (const [path, headers] of twice[name] ?? []) {
        assert.equal(await status(path, headers), 401, JSON.stringify([path, headers]));
      }
    });

    it(`counts as missing if the ${name} is empty`, async () => {
      assert.equal((await on.client.send(place(''))).status, 401);
    });

    it(`is accepted from the ${name} even with a wrong key elsewhere`, async () => {
      const { key } = on.service;
      const right = place(key);
      for (const [other, wrongPlace] of Object.entries(places)) {
        if (other === name) continue;
        for (const wrong of ['', 'wrong', `${key}x`]) {
          const added = wrongPlace(wrong);
          const path = added.path.includes('?') ? added.path : right.path;
          const headers = [...added.headers, ...right.headers];
          assert.equal(await status(path, headers), 200, `${other} is "${wrong}"`);
        }
      }
    });
  }

  it('is accepted from all three at once, as swagger-client sends it', async () => {
    const { key } = on.service;
    const path = `/subscriptions?api_key=${key}`;
    assert.equal(await status(path, [...header(key), ...cookie(key)]), 200);
  });

  it('is accepted whatever the case of the header name', async () => {
    for (const name of ['x-api-key', 'X-API-KEY', 'x-Api-kEy']) {
      assert.equal(await status('/subscriptions', [[name, on.service.key]]), 200, name);
    }
  });

  it('is refused in a query or cookie name of another case', async () => {
    const { key } = on.service;
    assert.equal(await status(`/subscriptions?API_KEY=${key}`, []), 401);
    assert.equal(await status(`/subscriptions?Api_Key=${key}`, []), 401);
    assert.equal(await status('/subscriptions', [['Cookie', `x-api-key=${key}`]]), 401);
    assert.equal(await status('/subscriptions', [['Cookie', `X-API-Key=${key}`]]), 401);
  });

  it('is found among other cookies, on one line or several, quoted or not', async () => {
    const { key } = on.service;
    const others = `a=1; X-API-KEY=${key}; b="2"`;
    assert.equal(await status('/subscriptions', [['Cookie', others]]), 200);
    assert.equal(await status('/subscriptions', [['Cookie', 'a=1'], ...cookie(key)]), 200);
    assert.equal(await status('/subscriptions', cookie(`"${key}"`)), 200);
  });

  it('is refused in places that the document does not name', async () => {
    const { key } = on.service;
    assert.equal(await status('/subscriptions', [['Authorization', `Bearer ${key}`]]), 401);
    assert.equal(await status('/subscriptions', [['X-API-Key-Id', key]]), 401);
    assert.equal(await status('/subscriptions', [['Cookie', `api_key=${key}`]]), 401);
    assert.equal(await status(`/subscriptions?X-API-Key=${key}`, []), 401);
  });
});

describe('a refused key', () => {
  it('gets the same answer whatever is wrong with it, in every place', async () => {
    await using on = await stage();
    const { id, key: right } = await on.makeKey({});
    const { key: expired } = await on.makeKey({ expiresAt: '2026-03-01T12:01:00Z' });
    const revoked = await on.makeKey({});
    const rotated = await on.makeKey({});
    await on.service.call({ method: 'DELETE', path: `/keys/${revoked.id}` });
    const body = { overlapSeconds: 60 };
    await on.service.call({ method: 'POST', path: `/keys/${rotated.id}/rotate`, body });
    on.world.advance(60_000);
    const wrongSecret = makeKey(on.world, id.slice(4)).key;
    assert.equal(wrongSecret.slice(0, 12), right.slice(0, 12));

    const wrong = {
      empty: '',
      short: 'x',
      'of another kind': 'correct horse battery staple correct horse',
      'with a broken checksum': `${right.slice(0, -1)}${right.endsWith('0') ? '1' : '0'}`,
      'cut off': right.slice(0, -1),
      'too long': `${right}0`,
      'only a prefix': 'rbk_',
      unknown: makeKey(on.world).key,
      'of a known id with another secret': wrongSecret,
      expired,
      revoked: revoked.key,
      'past its overlap': rotated.key,
      huge: 'k'.repeat(8000),
    };
    const answers = new Map<string, RawAnswer>();
    const ask = async (name: string, { path, headers }: RawCall): Promise<void> => {
      const lines = [...(headers ?? []), ['X-Request-Id', 'fixed'] as const];
      answers.set(name, await on.client.send({ path, headers: lines }));
    };
    await ask('missing', { path: '/subscriptions' });
    for (const [fault, key] of Object.entries(wrong)) {
      for (const [name, place] of Object.entries(places))
        await ask(`${fault}: ${name}`, place(key));
    }

    assert.equal(answers.size, 1 + 13 * 3);
    const seen = [...answers].map(([name, { status, headers, text }]) => {
      const { date: _date, ...others } = headers;
      return { name, answer: { status, text, headers: others } };
    });
    for (const { name, answer } of seen) assert.deepEqual(answer, seen[0]?.answer, name);
    assert.equal(seen[0]?.answer.status, 401);
    assert.match(seen[0]?.answer.headers['content-type'] ?? '', /^application\/problem\+json/);
    assert.equal((await on.client.send(places['header']?.(right) ?? { path: '' })).status, 200);
  });

  it('gets one challenge for each alternative', async () => {
    await using on = await stage();
    const { headers } = await on.client.send({ path: '/keys' });
    assert.equal(headers['www-authenticate'], challenges.join(', '));
  });

  it('is always 401, never 429, and does not affect other callers', async () => {
    await using on = await stage();
    const guesses = Array.from({ length: 600 }, (_, index) => [
      index % 2 === 0 ? makeKey(on.world).key : `guess-number-${index}-of-a-chosen-key`,
    ]);
    const statuses = await Promise.all(
      guesses.flat().map(async (key) => {
        const { status, headers } = await on.client.send({ path: '/keys', headers: header(key) });
        assert.equal(headers['retry-after'], undefined);
        return status;
      }),
    );
    assert.deepEqual([...new Set(statuses)], [401]);
    const right = { path: '/keys', headers: header(on.service.key) };
    assert.equal((await on.client.send(right)).status, 200);
  });

  it('is refused before the body is parsed', async () => {
    await using on = await stage();
    const body = '{"not json';
    const answer = await on.client.send({ method: 'POST', path: '/subscribe', body });
    assert.equal(answer.status, 401);
  });
});

describe('the scopes of openapi.yaml', () => {
  let on: Stage;
  const keys = new Map<string, string>();
  before(async () => {
    await buildConsole();
    on = await stage();
    for (const scope of scopes) keys.set(scope, (await on.makeKey({ scopes: [scope] })).key);
  });
  after(async () => on[Symbol.asyncDispose]());

  /** A model of docs/openapi-semantics.md rule 28. Nodes and metrics concern all apps: see
   * docs/decisions/0015-metrics-are-an-operators.md. */
  const expectedScope = ({ path, method }: Operation): string => {
    if (path.startsWith('/apps') || path === '/nodes' || path === '/metrics') return 'operator';
    if (path.startsWith('/keys') || ['/portal-links', '/audit'].includes(path)) return 'admin';
    const isReplaying = path.startsWith('/replays') && method === 'POST';
    if (path.endsWith('/retry') || isReplaying) return 'retry';
    if (path.startsWith('/event-types/') && method !== 'GET') return 'admin';
    if (method === 'GET' && !path.endsWith('/secret')) return 'read';
    return path.startsWith('/events') ? 'publish' : 'subscribe';
  };

  it('are those of OpenAPI semantics, rule 28', () => {
    assert.ok(guarded.length >= 16);
    for (const one of guarded) assert.equal(one.scope, expectedScope(one), one.operationId);
  });

  for (const operation of guarded) {
    const { operationId, method, scope: needed } = operation;
    for (const scope of scopes) {
      const may = scope === needed || (needed === 'retry' && scope === 'admin');
      it(`${operationId} ${may ? 'accepts' : 'refuses'} "${scope}"`, async () => {
        const key = keys.get(scope) ?? '';
        const call = { method, path: pathOf(operation), headers: header(key) };
        const { status, json } = await on.client.send(call);
        if (may) {
          assert.ok(status !== 401 && status !== 403 && status < 500, `answered ${status}`);
        } else {
          assert.equal(status, 403);
          assert.equal(json['code'], 'missing_scope');
          assert.match(String(json['detail']), new RegExp(`"${needed}".* the key has: ${scope}$`));
        }
      });
    }

    it(`${operationId} answers 401 without a key, also to HEAD`, async () => {
      for (const verb of method === 'GET' ? ['GET', 'HEAD'] : [method]) {
        const { status, headers } = await on.client.send({
          method: verb,
          path: pathOf(operation),
        });
        assert.equal(status, 401, verb);
        assert.equal(headers['www-authenticate'], challenges.join(', '));
      }
    });
  }

  for (const operation of open) {
    it(`${operation.operationId} needs no key, and ignores a wrong one`, async () => {
      const { method } = operation;
      if (method === 'POST') on.world.advance(60_000); // Otherwise it waits for its turn.
      const path = pathOf(operation);
      const isMissing = path.endsWith('/none') || path === '/portal/logo'; // No logo is set.
      const expected = method === 'POST' ? 400 : isMissing ? 404 : 200;
      assert.equal((await on.client.send({ method, path })).status, expected);
      const wrong = await on.client.send({ method, path, headers: header('wrong') });
      assert.equal(wrong.status, expected);
    });
  }

  it('leave only the operations without security open', () => {
    const contracts = ['/contracts', '/contracts/{title}', '/contracts/{title}/report'];
    const documents = ['/openapi.json', '/openapi.yaml', ...contracts];
    const console = ['/console', '/console/{page}', '/console/assets/{file}', '/console/session'];
    const portal = ['', '/assets/{file}', '/embed.js', '/logo', '/session'].map(
      (path) => `/portal${path}`,
    );
    const paths = ['/healthz', '/readyz', ...documents, '/docs', ...console, ...portal];
    assert.deepEqual(
      open.map(({ path }) => path),
      paths,
    );
  });

  it('allow "operator" only for keys of the app default', async () => {
    on.world.advance(60_000);
    const made = await on.service.call({ method: 'POST', path: '/apps', body: { name: 'other' } });
    const key = String(made.json['key']);
    const list = await on.service.call({ path: '/keys', key });
    const [first] = list.json['items'] as { scopes: string[] }[];
    assert.deepEqual(first?.scopes, ['subscribe', 'publish', 'read', 'retry', 'admin']);
    const body = { name: 'up', scopes: ['operator'] };
    const refused = await on.service.call({ method: 'POST', path: '/keys', key, body });
    assert.equal(refused.status, 403);
    assert.equal(refused.json['code'], 'missing_scope');
    assert.equal((await on.service.call({ path: '/apps', key })).status, 403);
  });
});

describe('RINGBACK_REQUIRE_APP_ID', () => {
  it('requires the key and the id of its app, in every place of the key', async () => {
    await using on = await stage({ RINGBACK_REQUIRE_APP_ID: 'on' });
    const { key, appId } = on.service;
    const headers = { 'X-APP-ID': appId };
    const made = await on.service.call({
      method: 'POST',
      path: '/apps',
      headers,
      body: { name: 'other' },
    });
    assert.equal(made.status, 201);
    const other = { appId: String(made.json['id']), key: String(made.json['key']) };
    const ids: Record<string, [Lines, boolean]> = {
      right: [[['X-APP-ID', appId]], true],
      'right in another case of the name': [[['x-app-id', appId]], true],
      missing: [[], false],
      empty: [[['X-APP-ID', '']], false],
      'without its prefix': [[['X-APP-ID', appId.slice(4)]], false],
      'in another case': [[['X-APP-ID', appId.toUpperCase()]], false],
      'of another app': [[['X-APP-ID', other.appId]], false],
      'of no app': [[['X-APP-ID', 'app_00000000000000000000000000']], false],
      twice: [
        [
          ['X-APP-ID', appId],
          ['X-APP-ID', appId],
        ],
        false,
      ],
    };
    for (const [placeName, place] of Object.entries(places)) {
      for (const [name, [lines, may]] of Object.entries(ids)) {
        const call = place(key);
        const answer = await on.client.send({ ...call, headers: [...call.headers, ...lines] });
        assert.equal(answer.status, may ? 200 : 401, `${placeName}: ${name}`);
        if (!may) assert.equal(answer.json['code'], 'unauthorized');
      }
    }
    const theirs = header(other.key);
    const mixed = await on.client.send({
      path: '/subscriptions',
      headers: [...theirs, ['X-APP-ID', appId]],
    });
    assert.equal(mixed.status, 401, "another app's key with our id");
  });

  it('answers like any other 401, with challenges that name X-APP-ID', async () => {
    await using on = await stage({ RINGBACK_REQUIRE_APP_ID: 'on' });
    const fixed: Lines = [['X-Request-Id', 'fixed']];
    const path = '/subscriptions';
    const keyless = await on.client.send({ path, headers: fixed });
    const idless = await on.client.send({ path, headers: [...fixed, ...header(on.service.key)] });
    assert.equal(idless.text, keyless.text);
    const wanted = challenges.map((challenge) => `${challenge}, and="X-APP-ID"`).join(', ');
    assert.equal(idless.headers['www-authenticate'], wanted);
  });

  it('changes the served document, and keeps open operations open', async () => {
    await using on = await stage({ RINGBACK_REQUIRE_APP_ID: 'on' });
    const { status, json } = await on.client.send({ path: '/openapi.json' });
    assert.equal(status, 200);
    assert.deepEqual(json['security'], [
      { ApiKeyHeader: [], AppId: [] },
      { ApiKeyQuery: [], AppId: [] },
      { ApiKeyCookie: [], AppId: [] },
      { ConsoleSession: [] }, // A session knows its app.
      { PortalSession: [] },
    ]);
    assert.equal((await on.client.send({ path: '/healthz' })).status, 200);
  });

  it('is off by default: no app id is needed, but a wrong one is refused', async () => {
    await using on = await stage();
    const headers = header(on.service.key);
    const wrong: Lines = [...headers, ['X-APP-ID', 'app_wrong']];
    const path = '/subscriptions';
    assert.equal((await on.client.send({ path, headers })).status, 200);
    assert.equal((await on.client.send({ path, headers: wrong })).status, 403);
  });
});

describe('RINGBACK_API_KEY', () => {
  const chosen = {
    'of 32 letters': 'abcdefghijklmnopqrstuvwxyzabcdef',
    'of punctuation': "!#$%&'()*+,-./0123456789:<=>?@[]^_`{|}~",
    'in our own format': makeKey(frozenWorld()).key,
    'of 1,000 characters': 'x'.repeat(1000),
  };
  for (const [name, key] of Object.entries(chosen)) {
    it(`has every scope with a key ${name}, which needs no checksum`, async () => {
      await using on = await stage({ RINGBACK_API_KEY: key });
      for (const [at, place] of Object.entries(places)) {
        assert.equal((await on.client.send(place(key))).status, 200, at);
        assert.equal((await on.client.send(place(`${key}0`))).status, 401, at);
      }
      const { status } = await on.client.send({ path: '/apps', headers: header(key) });
      assert.equal(status, 200, 'it has every scope');
    });
  }
});

describe('a key in the query', () => {
  it('appears in no log line, whatever the result of the request', async () => {
    await using on = await stage();
    const { key } = on.service;
    const wrong = makeKey(on.world).key;
    const targets = ['/subscriptions', '/subscribe', '/nowhere', '/subscriptions/%ZZ', '/keys/%00'];
    for (const method of ['GET', 'POST', 'PATCH', 'DELETE', 'OPTIONS']) {
      for (const target of targets) {
        for (const query of [`api_key=${key}`, `api_key=${wrong}`, `a=1&api%5fkey=${key}#x`]) {
          await on.client.send({ method, path: `${target}?${query}` });
        }
      }
    }
    await on.client.send({ path: `/keys/${key}?api_key=${key}` });
    const cookies: Lines = [...header(wrong), ...cookie(key), ['Authorization', `Bearer ${key}`]];
    await on.client.send({ path: '/subscriptions', headers: cookies });

    const log = on.service.logged();
    assert.ok(log.split('\n').length > 60, 'requests are logged');
    assert.match(log, new RegExp(`"key":"${key.slice(0, 12)}"`), 'with the id of the key');
    for (const secret of [key, wrong]) assert.ok(!log.includes(secret.slice(12)));
    assert.ok(!/api_key|api%5f|\?/i.test(log), 'no query at all');
  });

  it('is kept out of caches and referrers', async () => {
    await using on = await stage();
    for (const query of [`?api_key=${on.service.key}`, '?api_key=wrong']) {
      const { headers } = await on.client.send({ path: `/subscriptions${query}` });
      assert.equal(headers['cache-control'], 'no-store');
      assert.equal(headers['referrer-policy'], 'no-referrer');
    }
  });
});

function header(key: string): Lines {
  return [['X-API-Key', key]];
}

function cookie(key: string): Lines {
  return [['Cookie', `X-API-KEY=${key}`]];
}
