// The settings of the gateway, one describe each: who authenticates, whether requests must be valid, and what happens
// while the store is down.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { request as requestOverTls } from 'node:https';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Resolver } from '../../src/egress/guard/resolve.ts';
import { openStore } from '../../src/store/open/open.ts';
import { StoreUnavailable, type EditVerb, type Store } from '../../src/store/port/store.ts';
import { makeCertificate } from '../egress/certificate.ts';
import { newFolder } from '../cli/ringback-process.ts';
import { until } from '../e2e/stage.ts';
import type { StartOptions } from '../api/harness.ts';
import { sleepyWorld, type SleepyWorld } from '../engine/sleepy-world.ts';
import {
  callbackUrl,
  post,
  problemIn,
  send,
  startPrinting,
  subscription,
  type Sent,
} from './printing.ts';
import { bodyOf, startGateway, valuesOf, type Gateway } from './stage.ts';

const job = { copies: 1, callbackUrl };

async function newKey({ service }: Gateway, name: string): Promise<{ appId: string; key: string }> {
  const answer = await service.call({ method: 'POST', path: '/ringback/apps', body: { name } });
  assert.equal(answer.status, 201, answer.text);
  const { id, key } = answer.json as { id: string; key: string };
  return { appId: id, key };
}

function get(path: string, lines: readonly string[] = [], method = 'GET'): string {
  return [`${method} ${path} HTTP/1.1`, 'Host: a', 'Connection: close', ...lines, '', ''].join(
    '\n',
  );
}

describe('RINGBACK_UPSTREAM_AUTH=passthrough', () => {
  it('leaves credentials to the API, and registers for the app of RINGBACK_UPSTREAM_APP', async () => {
    await using folder = await newFolder();
    const env = {
      RINGBACK_DATA: folder.path,
      RINGBACK_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    };
    let other: { appId: string; key: string };
    {
      await using first = await startPrinting(env);
      other = await newKey(first, 'printing');
    }
    await using gateway = await startPrinting({ ...env, RINGBACK_UPSTREAM_APP: other.appId });
    const { request, id } = await send(gateway, post('/jobs', job, ['Authorization: Bearer x']));
    assert.deepEqual(valuesOf(request, 'authorization'), ['Bearer x']);
    assert.doesNotMatch(request, /^ringback-(?:app|key):/im);
    const path = `/ringback/subscriptions/${id}`;
    assert.equal((await gateway.service.call({ path, key: other.key })).status, 200);
  });

  it('does not start with an app that does not exist', async () => {
    const id = `app_01${'jc'.repeat(12)}`;
    await assert.rejects(
      startPrinting({ RINGBACK_UPSTREAM_APP: id }),
      new RegExp(`Cannot use RINGBACK_UPSTREAM_APP "${id}": there is no such app`),
    );
  });
});

describe('RINGBACK_UPSTREAM_AUTH=keys', () => {
  let gateway: Gateway;
  before(async () => {
    gateway = await startPrinting({ RINGBACK_UPSTREAM_AUTH: 'keys' });
  });
  after(async () => gateway[Symbol.asyncDispose]());

  const withKey = (key: string): string[] => [`X-API-Key: ${key}`];

  it('refuses a request without a valid key before the API gets it', async () => {
    const requests = [
      post('/jobs', job),
      post('/jobs', job, withKey('rbk_wrong')),
      get('/jobs'),
      get('/jobs', [], 'HEAD'),
      get('/jobs/job_17', [], 'DELETE'),
      get('/%6Aobs'),
      get('/jobs/'),
    ];
    for (const text of requests) {
      const { answer, request } = await send(gateway, text);
      assert.match(answer, /^HTTP\/1\.1 401 /, text);
      assert.match(valuesOf(answer, 'www-authenticate').join(), /ApiKey .*name="X-API-Key"/);
      assert.equal(request, '');
    }
  });

  it('tells the API whose key it was, whatever the caller says', async () => {
    const { appId, key } = await newKey(gateway, 'customer');
    const forged = ['Ringback-App: app_x', 'Ringback-Key: rbk_x', 'Ringback_App: app_x'];
    const { request, id } = await send(gateway, post('/jobs', job, [...withKey(key), ...forged]));
    assert.deepEqual(valuesOf(request, 'ringback-app'), [appId]);
    assert.deepEqual(valuesOf(request, 'ringback-key'), [key.slice(0, 'rbk_'.length + 8)]);
    assert.deepEqual(valuesOf(request, 'ringback_app'), []);
    const path = `/ringback/subscriptions/${id}`;
    assert.equal((await gateway.service.call({ path, key })).status, 200);
    assert.equal((await gateway.service.call({ path })).status, 404);
    const listed = await send(gateway, get('/jobs', withKey(key)));
    assert.deepEqual(valuesOf(listed.request, 'ringback-app'), [appId]);
  });

  it('ends only subscriptions of the key’s app', async () => {
    const { key } = await newKey(gateway, 'stranger');
    const own = withKey(gateway.service.key);
    const { id } = await send(gateway, post('/jobs', job, own));
    await send(gateway, get('/jobs/job_17', withKey(key), 'DELETE'));
    assert.equal((await subscription(gateway, id)).state, 'active');
    await send(gateway, get('/jobs/job_17', own, 'DELETE'));
    assert.equal((await subscription(gateway, id)).state, 'ended');
  });

  it('passes on what the document does not describe, without these headers', async () => {
    const { request } = await send(gateway, get('/about', ['Ringback-App: app_x']));
    assert.match(request, /^GET \/about /);
    assert.doesNotMatch(request, /ringback-/i);
  });
});

describe('RINGBACK_UPSTREAM_VALIDATE', () => {
  const wrong = post('/jobs', { copies: 'two', callbackUrl }, ['X-Request-Id: wrong']);

  it('warn: passes on and registers an invalid request, logs where it is wrong, and counts it', async () => {
    await using gateway = await startPrinting();
    const { request, id } = await send(gateway, wrong);
    assert.equal(bodyOf(request), JSON.stringify({ copies: 'two', callbackUrl }));
    assert.equal((await subscription(gateway, id)).state, 'active');
    assert.match(gateway.service.logged(), /"requestId":"wrong".*"misfits":"body#\/copies"/);
    const { text } = await gateway.service.call({ path: '/ringback/metrics' });
    assert.match(text, /ringback_exchange_misfits_total\{operation="startJob"\} 1\n/);
    assert.match(text, /ringback_exchanges_total\{operation="startJob",result="registered"\} 1\n/);
  });

  it('enforce: refuses it before the API gets it', async () => {
    await using gateway = await startPrinting({ RINGBACK_UPSTREAM_VALIDATE: 'enforce' });
    const { answer, request } = await send(gateway, wrong);
    assert.deepEqual(problemIn(answer), [400, 'invalid_request']);
    assert.match(answer, /body#\/copies/);
    assert.equal(request, '');
    const unreadable = post('/jobs', job).replace('application/json', 'text/plain');
    assert.deepEqual(problemIn((await send(gateway, unreadable)).answer), [
      415,
      'unsupported_media_type',
    ]);
    assert.match((await send(gateway, post('/jobs', job))).answer, /^HTTP\/1\.1 201 /);
  });

  it('off: passes it on without a word', async () => {
    await using gateway = await startPrinting({ RINGBACK_UPSTREAM_VALIDATE: 'off' });
    const { id } = await send(gateway, wrong);
    assert.equal((await subscription(gateway, id)).state, 'active');
    assert.doesNotMatch(gateway.service.logged(), /misfits/);
  });

  it('passes on a body that it cannot read, if it need not be valid', async () => {
    await using gateway = await startPrinting();
    for (const text of [
      post('/jobs', job).replace('application/json', 'text/plain'),
      post('/jobs', job).replace('{', '['),
      post('/jobs', job, ['Content-Encoding: gzip']),
    ]) {
      const { answer, request, id } = await send(gateway, text);
      assert.match(answer, /^HTTP\/1\.1 201 /);
      assert.equal(bodyOf(request), bodyOf(text.replaceAll('\n', '\r\n')));
      assert.equal(id, '');
    }
  });
});

interface Breakable {
  openStore: NonNullable<StartOptions['openStore']>;
  /** Whether everything, or one verb, fails. */
  broken: 'nothing' | 'everything' | EditVerb;
  /** Does not answer the next edit of this verb. Resolves when there is one. */
  beSilentAbout: (verb: EditVerb) => Promise<void>;
}

function breakable(): Breakable {
  const fail = (verb: string): void => {
    if (store.broken === 'everything' || store.broken === verb) throw new StoreUnavailable('down');
  };
  let silent: { verb: EditVerb; asked: () => void } | undefined;
  const store: Breakable = {
    broken: 'nothing',
    beSilentAbout: async (verb) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      silent = { verb, asked: resolve };
      return promise;
    },
    openStore: async (given) => {
      const opened = await openStore(given);
      const breaking: Store = {
        ...opened,
        edit: async (verb, ...rest) => {
          fail(verb);
          if (verb === silent?.verb) {
            silent.asked();
            silent = undefined;
            return new Promise<never>(() => undefined);
          }
          return opened.edit(verb, ...rest);
        },
        read: async (verb, input) => {
          fail(verb);
          return opened.read(verb, input);
        },
      };
      return breaking;
    },
  };
  return store;
}

const timeout = { RINGBACK_STORE_TIMEOUT: '1777ms' };

/** Sends a request that is answered only because the store timeout passes after `asked`. */
async function answeredLate(
  { clock, nextNap, passOver }: SleepyWorld,
  { gateway, text, asked }: { gateway: Gateway; text: string; asked: Promise<void> },
): Promise<Sent> {
  passOver();
  const progress = { isAnswered: false };
  const sent = send(gateway, text).finally(() => (progress.isAnswered = true));
  await asked;
  assert.equal(progress.isAnswered, false);
  while (!progress.isAnswered) {
    const nap = await Promise.race([nextNap(), sent]);
    if (!('wake' in nap) || nap.ms > 1777) continue;
    clock.ms += nap.ms;
    nap.wake();
  }
  return sent;
}

describe('while the store is down', () => {
  const store = breakable();
  const all = [post('/jobs', job), get('/jobs/job_17', [], 'DELETE')];

  async function isDown<T>(work: () => Promise<T>): Promise<T> {
    store.broken = 'everything';
    try {
      return await work();
    } finally {
      store.broken = 'nothing';
    }
  }

  it('passes on everything that it need not register', async () => {
    await using gateway = await startPrinting({}, store);
    for (const text of [get('/jobs'), get('/other'), post('/jobs', { copies: 1 })]) {
      const { answer, request } = await isDown(() => send(gateway, text));
      assert.match(answer, /^HTTP\/1\.1 20[12] /);
      assert.notEqual(request, '');
      assert.deepEqual(valuesOf(answer, 'ringback-warning'), []);
    }
  });

  it('refuses what it would have to register before the API gets it', async () => {
    await using gateway = await startPrinting({}, store);
    for (const text of all) {
      const { answer, request } = await isDown(() => send(gateway, text));
      assert.deepEqual(problemIn(answer), [503, 'store_unavailable']);
      assert.equal(request, '');
    }
  });

  it('passes it on with a warning, if RINGBACK_UPSTREAM_WHEN_DOWN=pass', async () => {
    await using gateway = await startPrinting({ RINGBACK_UPSTREAM_WHEN_DOWN: 'pass' }, store);
    for (const text of all) {
      const { answer, request, id } = await isDown(() => send(gateway, text));
      assert.match(request, /^(?:POST|DELETE) \/jobs/);
      assert.match(answer, /^HTTP\/1\.1 20[12] /);
      assert.equal(id, '');
      assert.deepEqual(valuesOf(answer, 'ringback-warning'), [
        'not registered: the store is unavailable',
      ]);
    }
  });

  it('lets no caller pass without a key, if keys are required', async () => {
    const env = { RINGBACK_UPSTREAM_WHEN_DOWN: 'pass', RINGBACK_UPSTREAM_AUTH: 'keys' };
    await using gateway = await startPrinting(env, store);
    const text = post('/jobs', job, [`X-API-Key: ${gateway.service.key}`]);
    const { answer, request } = await isDown(() => send(gateway, text));
    assert.deepEqual(problemIn(answer), [503, 'store_unavailable']);
    assert.equal(request, '');
  });

  it('lets the answer leave after the store timeout, if the store is silent then', async () => {
    const sleepy = sleepyWorld();
    await using gateway = await startPrinting(timeout, { ...store, world: sleepy.world });
    const asked = store.beSilentAbout('confirmSubscription');
    const { answer, id } = await answeredLate(sleepy, { gateway, text: post('/jobs', job), asked });
    assert.equal(bodyOf(answer), '{"jobId":"job_17"}');
    assert.deepEqual(valuesOf(answer, 'ringback-subscription'), [id]);
    assert.match(gateway.service.logged(), /subscription not confirmed/);
  });

  it('does so if a host name of the callback URL cannot be resolved in time', async () => {
    const sleepy = sleepyWorld();
    const { promise: asked, resolve } = Promise.withResolvers<void>();
    let lookups = 0;
    const resolver: Resolver = {
      resolve: async () => {
        lookups += 1;
        if (lookups === 1) return { kind: 'addresses', addresses: ['127.0.0.1'] };
        resolve();
        return new Promise<never>(() => undefined);
      },
    };
    await using gateway = await startPrinting(timeout, { resolver, world: sleepy.world });
    const text = post('/orders', { copies: 1, callbackUrl: 'http://slow.example' });
    const { answer, id } = await answeredLate(sleepy, { gateway, text, asked });
    assert.deepEqual(valuesOf(answer, 'ringback-subscription'), [id]);
    assert.match(gateway.service.logged(), /subscription not confirmed/);
  });

  it('lets the answer leave, if the store breaks down after the API got the request, and confirms later', async () => {
    await using gateway = await startPrinting({ RINGBACK_STORE_TIMEOUT: '1s' }, store);
    store.broken = 'confirmSubscription';
    const { answer, id } = await send(gateway, post('/jobs', job));
    assert.equal(bodyOf(answer), '{"jobId":"job_17"}');
    assert.deepEqual(valuesOf(answer, 'ringback-subscription'), [id]);
    assert.equal((await subscription(gateway, id)).state, 'unconfirmed');
    assert.match(gateway.service.logged(), /subscription not confirmed/);
    store.broken = 'nothing';
    const found = await until(
      async () => subscription(gateway, id),
      ({ state }) => state !== 'unconfirmed',
    );
    assert.deepEqual([found.state, found.subject], ['active', 'job_17']);
  });
});

describe('a gateway with TLS', () => {
  it('says so to the API', async () => {
    await using folder = await newFolder();
    const { certificate, key } = makeCertificate('localhost');
    const files = { cert: join(folder.path, 'cert.pem'), key: join(folder.path, 'key.pem') };
    writeFileSync(files.cert, certificate);
    writeFileSync(files.key, key);
    const env = { RINGBACK_TLS_CERT: files.cert, RINGBACK_TLS_KEY: files.key };
    await using gateway = await startGateway(env);
    const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
    requestOverTls(`${gateway.service.url}/x`, { ca: certificate }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode));
    })
      .on('error', reject)
      .end();
    assert.equal(await promise, 200);
    const [request = ''] = gateway.api.requests;
    assert.deepEqual(valuesOf(request, 'x-forwarded-proto'), ['https']);
    assert.match(valuesOf(request, 'forwarded').join(), /;proto=https$/);
  });
});
