// Security requirements of foreign documents, executed over real sockets
// (docs/openapi-semantics.md rules 4, 22–25, 28).
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ContractError } from '../../src/contract/document/document.ts';
import { loadDocument, mountContract, type Mounted } from './mount-contract.ts';
import { rawClient, type RawClient } from './raw-client.ts';

type Requirement = Readonly<Record<string, readonly string[]>>;
type Lines = [string, string][];

const securitySchemes = {
  H: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
  Q: { type: 'apiKey', in: 'query', name: 'api_key' },
  C: { type: 'apiKey', in: 'cookie', name: 'X-API-KEY' },
  A: { type: 'apiKey', in: 'header', name: 'X-APP-ID' },
  Bearer: { type: 'http', scheme: 'bearer' },
  Basic: { type: 'http', scheme: 'Basic' },
  OAuth: { type: 'oauth2', flows: {} },
  OpenId: { type: 'openIdConnect', openIdConnectUrl: 'https://id.example/' },
  Mtls: { type: 'mutualTLS' },
  Digest: { type: 'http', scheme: 'digest' },
};

/** Each becomes the operation `GET /<name>`; undefined applies the list of the document. */
const requirements: Record<string, readonly Requirement[] | undefined> = {
  global: undefined,
  none: [],
  anonymous: [{}],
  'anonymous-or-header': [{}, { H: [] }],
  query: [{ Q: [] }],
  'header-or-query': [{ H: [] }, { Q: [] }],
  'header-and-query': [{ H: [], Q: [] }],
  'header-and-query-or-cookie': [{ H: [], Q: [] }, { C: [] }],
  'header-and-app': [{ H: [], A: [] }],
  'query-and-app-or-bearer': [{ Q: [], A: [] }, { Bearer: [] }],
  'header-and-query-and-app': [{ H: [], Q: [], A: [] }],
  bearer: [{ Bearer: [] }],
  basic: [{ Basic: [] }],
  'basic-or-bearer': [{ Basic: [] }, { Bearer: [] }],
  oauth: [{ OAuth: ['read:things'] }],
  'open-id': [{ OpenId: [] }],
  mtls: [{ Mtls: [] }],
  'mtls-and-header': [{ Mtls: [], H: [] }],
  'mtls-or-header': [{ Mtls: [] }, { H: [] }],
  'mtls-or-anonymous': [{ Mtls: [] }, {}],
  digest: [{ Digest: [] }],
  'app-alone': [{ A: [] }],
};
const global: Requirement[] = [{ H: [] }];

function documentOf(
  lists: Readonly<Record<string, readonly Requirement[] | undefined>>,
  more: Record<string, unknown> = {},
): Record<string, unknown> {
  const operation = (name: string, list: readonly Requirement[] | undefined): object => ({
    operationId: name,
    ...(list === undefined ? {} : { security: list }),
    responses: { 200: { description: 'ok' } },
  });
  return {
    openapi: '3.1.1',
    info: { title: 'Requirements', version: '1' },
    components: { securitySchemes },
    paths: Object.fromEntries(
      Object.entries(lists).map(([name, list]) => [`/${name}`, { get: operation(name, list) }]),
    ),
    ...more,
  };
}

const tries = ['absent', 'wrong', 'right'] as const;
type Try = (typeof tries)[number];
const authorizations = ['absent', 'wrong bearer', 'bearer', 'wrong basic', 'basic'] as const;

interface Sent {
  H: Try;
  Q: Try;
  C: Try;
  A: Try;
  authorization: (typeof authorizations)[number];
}

/** All 405 combinations of credentials in a request. */
const combinations: Sent[] = tries.flatMap((H) =>
  tries.flatMap((Q) =>
    tries.flatMap((C) =>
      tries.flatMap((A) => authorizations.map((authorization) => ({ H, Q, C, A, authorization }))),
    ),
  ),
);

/**
 * A short model of docs/openapi-semantics.md rules 22 and 23. An app id that is sent with a key must be
 * that of the key.
 */
function statusFor(list: readonly Requirement[], sent: Sent): number {
  const holds: Record<string, boolean> = {
    ...Object.fromEntries((['H', 'Q', 'C', 'A'] as const).map((at) => [at, sent[at] === 'right'])),
    ...Object.fromEntries(
      ['Bearer', 'OAuth', 'OpenId'].map((at) => [at, sent.authorization === 'bearer']),
    ),
    Basic: sent.authorization === 'basic',
  };
  const alternatives = list.map((one) => Object.keys(one)).filter((one) => one.join() !== 'A');
  const passed = alternatives.filter((one) => one.every((name) => holds[name] === true));
  if (list.length > 0 && passed.length === 0) return 401;
  return sent.A === 'wrong' && passed.some((one) => one.length > 0) ? 403 : 200;
}

describe('the security requirements of any document', () => {
  let on: Mounted;
  let client: RawClient;
  before(async () => {
    on = await mountContract(documentOf(requirements, { security: global }));
    client = rawClient(on.url);
  });
  after(async () => {
    client[Symbol.dispose]();
    await on[Symbol.asyncDispose]();
  });

  const callOf = (name: string, sent: Sent): { path: string; headers: Lines } => {
    const value = { absent: '', wrong: 'wrong-key-that-nobody-has', right: on.key };
    const headers: Lines = [];
    if (sent.H !== 'absent') headers.push(['X-API-Key', value[sent.H]]);
    if (sent.C !== 'absent') headers.push(['Cookie', `X-API-KEY=${value[sent.C]}`]);
    if (sent.A !== 'absent') {
      headers.push(['X-APP-ID', sent.A === 'right' ? on.appId : 'app_00000000000000000000000000']);
    }
    const secret = sent.authorization.startsWith('wrong') ? value.wrong : on.key;
    if (sent.authorization.endsWith('bearer')) headers.push(['Authorization', `Bearer ${secret}`]);
    if (sent.authorization.endsWith('basic')) headers.push(['Authorization', basic(secret)]);
    return { path: `/${name}${sent.Q === 'absent' ? '' : `?api_key=${value[sent.Q]}`}`, headers };
  };

  for (const [name, list = global] of Object.entries(requirements)) {
    it(`"${name}" is enforced for all ${combinations.length} combinations of credentials`, async () => {
      const wrong = await Promise.all(
        combinations.map(async (sent) => {
          const { status } = await client.send(callOf(name, sent));
          const expected = statusFor(list, sent);
          return status === expected ? [] : [{ ...sent, status, expected }];
        }),
      );
      assert.deepEqual(wrong.flat(), []);
    });
  }

  it('identify the caller by a valid key, even if none is required', async () => {
    const who = async (path: string, headers: Lines): Promise<unknown> =>
      (await client.send({ path, headers })).json['key'];
    const key = on.key.slice(0, 12);
    assert.equal(await who('/anonymous-or-header', [['X-API-Key', on.key]]), key);
    assert.equal(await who('/anonymous-or-header', [['X-API-Key', 'wrong']]), null);
    assert.equal(await who('/anonymous-or-header', []), null);
    assert.equal(await who('/header-and-app', [...app(on.appId), ['X-API-Key', on.key]]), key);
  });

  it('require two keys of one alternative to belong to one app', async () => {
    const other = await on.newApp('two keys');
    const path = `/header-and-query?api_key=${other.key}`;
    assert.equal((await client.send({ path, headers: [['X-API-Key', on.key]] })).status, 401);
    assert.equal((await client.send({ path, headers: [['X-API-Key', other.key]] })).status, 200);
    const third = `/header-and-query-and-app?api_key=${other.key}`;
    const theirs: Lines = [['X-API-Key', other.key]];
    const ours = await client.send({ path: third, headers: [...theirs, ...app(on.appId)] });
    assert.equal(ours.status, 401);
    const right = await client.send({ path: third, headers: [...theirs, ...app(other.appId)] });
    assert.equal(right.status, 200);
  });

  it('accept the key as a bearer token, whatever the case of the scheme', async () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      const headers: Lines = [['Authorization', `${scheme} ${on.key}`]];
      assert.equal((await client.send({ path: '/bearer', headers })).status, 200, scheme);
    }
    for (const value of [on.key, `Bearer${on.key}`, `Token ${on.key}`, 'Bearer', 'Bearer ']) {
      const headers: Lines = [['Authorization', value]];
      assert.equal((await client.send({ path: '/bearer', headers })).status, 401, value);
    }
    const twice: Lines = [
      ['Authorization', `Bearer ${on.key}`],
      ['Authorization', `Bearer ${on.key}`],
    ];
    assert.equal((await client.send({ path: '/bearer', headers: twice })).status, 401, 'twice');
  });

  it('accept the key as the password of basic authentication, with any user name', async () => {
    for (const user of ['', 'anyone', 'ü']) {
      const headers: Lines = [['Authorization', basic(on.key, user)]];
      assert.equal((await client.send({ path: '/basic', headers })).status, 200, user);
    }
    const asUser: Lines = [['Authorization', basic('', on.key)]];
    assert.equal((await client.send({ path: '/basic', headers: asUser })).status, 401);
    const bare: Lines = [['Authorization', `Basic ${Buffer.from(on.key).toString('base64')}`]];
    assert.equal((await client.send({ path: '/basic', headers: bare })).status, 401);
  });

  it('send one challenge for each supported alternative', async () => {
    const wanted = {
      'header-or-query':
        'ApiKey realm="ringback", in="header", name="X-API-Key", ' +
        'ApiKey realm="ringback", in="query", name="api_key"',
      'header-and-app': 'ApiKey realm="ringback", in="header", name="X-API-Key", and="X-APP-ID"',
      'header-and-query-and-app':
        'ApiKey realm="ringback", in="header", name="X-API-Key", and="api_key X-APP-ID"',
      'basic-or-bearer': 'Basic realm="ringback", Bearer realm="ringback"',
      oauth: 'Bearer realm="ringback"',
      'mtls-or-header': 'ApiKey realm="ringback", in="header", name="X-API-Key"',
      mtls: 'ApiKey realm="ringback"',
    };
    for (const [name, challenge] of Object.entries(wanted)) {
      const { status, headers } = await client.send({ path: `/${name}` });
      assert.equal(status, 401);
      assert.equal(headers['www-authenticate'], challenge, name);
    }
  });

  it('cause a warning on loading for each unsupported alternative', () => {
    const pointers = on.contract.warnings.map(({ pointer }) => pointer);
    for (const name of ['mtls', 'mtls-or-header', 'digest', 'app-alone']) {
      assert.ok(
        pointers.some((pointer) => pointer.startsWith(`#/paths/~1${name}/get/security`)),
        `no warning for ${name}`,
      );
    }
  });
});

describe('a faulty document', () => {
  it('closes operations that require an unknown scheme, globally or themselves', async () => {
    const document = documentOf(
      { open: [{ H: [] }, { Ghost: [] }], both: [{ H: [], Ghost: [] }], outer: undefined },
      { security: [{ Ghost: [] }] },
    );
    await using there = await mountContract(document);
    using ask = rawClient(there.url);
    const key: Lines = [['X-API-Key', there.key]];
    for (const [name, status] of Object.entries({ open: 200, both: 401, outer: 401 })) {
      assert.equal((await ask.send({ path: `/${name}`, headers: key })).status, status, name);
      assert.equal((await ask.send({ path: `/${name}` })).status, 401, name);
    }
    const told = there.contract.warnings.map(({ pointer }) => pointer);
    for (const place of ['#/paths/~1open/get/security/1/Ghost', '#/security/0/Ghost']) {
      assert.ok(told.includes(place), place);
    }
  });

  it('closes operations that require a scheme of an unknown type, or without a location', async () => {
    for (const scheme of [
      { type: 'magic' },
      { type: 'apiKey', name: 'k' },
      { type: 'apiKey' },
      {},
    ]) {
      const components = { securitySchemes: { S: scheme } };
      const document = documentOf({ a: [{ S: [] }] }, { components });
      await using there = await mountContract(document);
      const headers: Lines = [['X-API-Key', there.key]];
      using ask = rawClient(there.url);
      const { status } = await ask.send({ path: '/a', headers });
      assert.equal(status, 401, JSON.stringify(scheme));
    }
  });

  it('does not load with an invalid list or requirement', async () => {
    for (const security of [{ H: [] }, 'H', null, [[]], ['H'], [null]]) {
      const document = documentOf({ a: undefined }, { security });
      await assert.rejects(loadDocument(document), ContractError, JSON.stringify(security));
    }
  });

  it('does not load with an expression that reads a credential', async () => {
    const carriers = ['header.x-api-key', 'header.authorization', 'header.cookie', 'query.api_key'];
    for (const carrier of carriers) {
      const document = subscribing(`{$request.query.url}?x={$request.${carrier}}`);
      await assert.rejects(loadDocument(document), ContractError, carrier);
    }
  });

  it('cannot get a handler from the prototype by naming an operation after its property', async () => {
    const names = ['constructor', 'toString', 'hasOwnProperty', '__proto__'];
    const document = documentOf(Object.fromEntries(names.map((name) => [name, []])));
    await using on = await mountContract(document, { handlers: {} });
    using client = rawClient(on.url);
    for (const name of names) {
      assert.equal((await client.send({ path: `/${name}` })).status, 404, name);
    }
  });
});

describe('a challenge', () => {
  it('is a valid header, whatever the name of a parameter', async () => {
    const components = {
      securitySchemes: { Odd: { type: 'apiKey', in: 'query', name: 'ключ "1"\\\r\nX: y' } },
    };
    await using on = await mountContract(documentOf({ odd: [{ Odd: [] }] }, { components }));
    using client = rawClient(on.url);
    const { status, headers } = await client.send({ path: '/odd' });
    assert.equal(status, 401);
    assert.equal(headers['x'], undefined);
    assert.match(headers['www-authenticate'] ?? '', /^ApiKey realm="ringback", in="query", name="/);
    const name = encodeURIComponent('ключ "1"\\\r\nX: y');
    assert.equal((await client.send({ path: `/odd?${name}=${on.key}` })).status, 200);
  });
});

describe('$url', () => {
  it('contains no key, however it was spelled, and everything else', async () => {
    await using on = await mountContract(subscribing('{$request.query.url}?from={$url}'));
    using client = rawClient(on.url);
    const target = 'url=http://127.0.0.1:9000/cb';
    const wrong = 'rbk_somebody-elses-key-by-mistake';
    const queries: [string, Lines][] = [
      [`${target}&api_key=${on.key}`, []],
      [`api_key=${on.key}&${target}&a=1`, []],
      [`a=1&api%5Fkey=${on.key}&${target}`, []],
      [`${target}&%61pi_key=${on.key}`, []],
      [`?api_key=${on.key}&${target}`, []],
      [`${target}&api_key=${wrong}`, [['X-API-Key', on.key]]],
      [`${target}&api_key=${wrong}&api_key=${on.key}`, [['X-API-Key', on.key]]],
      [`${target}&api_key`, [['X-API-Key', on.key]]],
    ];
    for (const [query, headers] of queries) {
      const answer = await client.send({ method: 'POST', path: `/hooks?${query}`, headers });
      assert.equal(answer.status, 201, `${query}: ${answer.text}`);
    }
    const page = await on.context.store.read('subscriptions', {
      appNo: on.context.defaultApp.no,
      page: { limit: 100, after: undefined },
      state: undefined,
    });
    assert.equal(page.items.length, queries.length);
    for (const { callbacks } of page.items) {
      const url = callbacks[0]?.url ?? '';
      const from = new URL(url).searchParams.get('from') ?? '';
      assert.equal(from.split('?')[0], `${on.url}/hooks`);
      assert.equal(new URL(from).searchParams.get('url'), 'http://127.0.0.1:9000/cb');
      assert.ok(!decodeURIComponent(url).includes('api_key'), url);
      assert.ok(!url.includes(on.key.slice(12)) && !url.includes('somebody-elses'), url);
    }
    assert.ok(!on.logged().includes(on.key.slice(12)));
  });

  it('has the origin of the service, whatever the request line says', async () => {
    await using on = await mountContract(subscribing('{$request.query.url}?from={$url}'));
    using client = rawClient(on.url);
    const path = 'http://elsewhere.example/hooks?url=http://127.0.0.1:9000/cb';
    const headers: Lines = [['X-API-Key', on.key]];
    const answer = await client.send({ method: 'POST', path, headers });
    assert.equal(answer.status, 201, answer.text);
    const { items } = await on.context.store.read('subscriptions', {
      appNo: on.context.defaultApp.no,
      page: { limit: 1, after: undefined },
      state: undefined,
    });
    const url = new URL(items[0]?.callbacks[0]?.url ?? '');
    assert.equal(url.searchParams.get('from')?.split('?')[0], `${on.url}/hooks`);
  });

  it('does not contain the key of another operation of the document', async () => {
    const document = subscribing('{$request.query.url}?from={$url}');
    const get = { operationId: 'other', security: [{ T: [] }], responses: { 200: {} } };
    const paths = { ...(document['paths'] as object), '/other': { get } };
    const components = {
      securitySchemes: { ...securitySchemes, T: { type: 'apiKey', in: 'query', name: 'token' } },
    };
    await using on = await mountContract({ ...document, components, paths });
    using client = rawClient(on.url);
    const path = `/hooks?url=http://127.0.0.1:9000/&token=${on.key}`;
    const headers: Lines = [['X-API-Key', on.key]];
    assert.equal((await client.send({ method: 'POST', path, headers })).status, 201);
    const page = await on.context.store.read('subscriptions', {
      appNo: on.context.defaultApp.no,
      page: { limit: 1, after: undefined },
      state: undefined,
    });
    assert.ok(!JSON.stringify(page.items).includes('token'));
  });
});

describe('the scope of a foreign subscribe operation', () => {
  it('is "subscribe" if the document names none', async () => {
    await using on = await mountContract(subscribing('{$request.query.url}'));
    using client = rawClient(on.url);
    const ask = async (key: string): Promise<number> => {
      const path = '/hooks?url=http://127.0.0.1:9000/';
      const headers: Lines = [['X-API-Key', key]];
      return (await client.send({ method: 'POST', path, headers })).status;
    };
    assert.equal(await ask(await on.keyWith('subscribe')), 201);
    for (const scope of ['publish', 'read', 'admin', 'operator'] as const) {
      assert.equal(await ask(await on.keyWith(scope)), 403, scope);
    }
  });
});

/** A document with one subscribe operation, with the given callback key. */
function subscribing(key: string): Record<string, unknown> {
  const callback = { post: { responses: { 200: { description: 'ok' } } } };
  const post = {
    operationId: 'subscribe',
    parameters: [{ name: 'url', in: 'query', required: true, schema: { type: 'string' } }],
    security: [{ H: [] }, { Q: [] }],
    responses: { 201: { description: 'ok' } },
    callbacks: { happened: { [key]: callback } },
  };
  return documentOf({}, { paths: { '/hooks': { post } } });
}

function basic(password: string, user = 'user'): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

function app(id: string): Lines {
  return [['X-APP-ID', id]];
}
