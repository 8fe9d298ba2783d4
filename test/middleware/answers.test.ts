// The middleware changes nothing of an answer but for one header, whatever the answer is and whatever Ringback does.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Exchange, MiddlewareOptions } from '../../src/middleware/middleware.ts';
import { answerOf, apis, job, large, type Api, type Given, type Seen } from './apis.ts';
import { answerWith, fakeRingback, registered, type FakeRingback } from './fake-ringback.ts';

const operations = [
  'POST /jobs',
  'POST /empty',
  'HEAD /head',
  'POST /stream',
  'POST /large',
  'POST /large-stream',
  'POST /packed/{how}',
  'POST /refused',
  'POST /throws',
  'PUT /jobs/{jobId}/hook',
];

const subscription = 'ringback-subscription: sub_1';
const warning = 'ringback-warning: callbacks not registered';

for (const [name, startApi] of Object.entries(apis)) {
  describe(`an API with ${name}`, () => {
    let ringback: FakeRingback;
    let plain: Api;
    let wrapped: Api;
    let errors: { error: Error; exchange: Exchange | undefined }[] = [];
    const optionsFor = (more: Partial<MiddlewareOptions> = {}): MiddlewareOptions => ({
      url: ringback.url,
      operations,
      onError: (error, exchange) => errors.push({ error, exchange }),
      ...more,
    });
    before(async () => {
      ringback = await fakeRingback();
      plain = await startApi(undefined);
      wrapped = await startApi(optionsFor());
    });
    after(async () => {
      for (const one of [wrapped, plain, ringback]) await one[Symbol.asyncDispose]();
    });
    const isAdded = (line: string): boolean => line.startsWith('ringback-');
    /** The answer, after it was compared with that of the API alone. Its headers are those that were added. */
    const added = async (path: string, given: Given = {}): Promise<Seen> => {
      const [expected, actual] = [
        await answerOf(plain.url + path, given),
        await answerOf(wrapped.url + path, given),
      ];
      const headers = actual.headers.filter((line) => !isAdded(line));
      assert.deepEqual({ ...actual, headers }, expected);
      return { ...actual, headers: actual.headers.filter(isAdded) };
    };
    const last = (): Exchange | undefined => ringback.exchanges.at(-1);
    const reset = (answer = registered): void => {
      errors = [];
      ringback.exchanges.length = 0;
      ringback.answer = answer;
    };

    it('adds the id of the subscription, and tells Ringback the request and the answer', async () => {
      reset();
      const headers = { authorization: 'Bearer secret', cookie: 'c=secret', 'x-b': 'b' };
      const { headers: more, body } = await added('/jobs?a=1', { headers });
      assert.deepEqual([more, body.toString()], [[subscription], job]);
      const { request, response } = last() ?? {};
      assert.deepEqual([request?.method, request?.url], ['POST', `${wrapped.url}/jobs?a=1`]);
      assert.deepEqual(request?.body, { callbackUrl: 'http://127.0.0.1:9000/hook' });
      assert.equal(request?.headers?.['x-b'], 'b');
      assert.equal(response?.headers?.['location'], '/jobs/17');
      assert.deepEqual([response?.status, response?.body], [201, JSON.parse(job)]);
      assert.ok(!JSON.stringify(last()).includes('secret'));
      assert.equal(response?.headers?.['set-cookie'], undefined);
    });

    for (const [path, given, body] of [
      ['/empty', {}, undefined],
      ['/head', { method: 'HEAD', body: '' }, undefined],
      ['/stream', {}, JSON.parse(job)],
      ['/packed/gzip', {}, JSON.parse(job)],
      ['/packed/br', {}, JSON.parse(job)],
      ['/packed/zstd', {}, JSON.parse(job)],
      ['/jobs/17/hook', { method: 'PUT' }, JSON.parse(job)],
      ['/jobs/1%2F7/hook', { method: 'PUT' }, JSON.parse(job)],
    ] as [string, Given, unknown][]) {
      it(`registers ${given.method ?? 'POST'} ${path}`, async () => {
        reset();
        assert.deepEqual((await added(path, given)).headers, [subscription]);
        assert.equal(ringback.exchanges.length, 1);
        if (path !== '/head') assert.deepEqual(last()?.response.body, body);
        assert.equal(last()?.request.url, wrapped.url + path);
        assert.deepEqual(errors, []);
      });
    }

    for (const path of ['/refused', '/throws', '/jobs/17/other', '/packed/gzip/more']) {
      it(`leaves POST ${path} alone`, async () => {
        reset();
        assert.deepEqual((await added(path)).headers, []);
        assert.deepEqual(ringback.exchanges, []);
      });
    }

    for (const [path, reason] of [
      ['/large', /a body is larger than 262144 bytes/],
      ['/large-stream', /a body is larger than 262144 bytes/],
      ['/packed/exi', /the content encoding "exi"/],
      ['/packed/no-gzip', /the answer is not gzip, or decodes to more than 262144 bytes/],
      ['/packed/no-zstd', /the answer is not zstd, or decodes to more than 262144 bytes/],
      ['/packed/large-gzip', /the answer is not gzip, or decodes to more than 262144 bytes/],
      ['/packed/large-zstd', /the answer is not zstd, or decodes to more than 262144 bytes/],
    ] as [string, RegExp][]) {
      it(`passes POST ${path} with a warning`, async () => {
        reset();
        const { headers, body } = await added(path);
        assert.deepEqual(headers, [warning]);
        if (path === '/large') assert.equal(body.toString(), large);
        assert.deepEqual(ringback.exchanges, []);
        assert.equal(errors.length, 1);
        assert.match(String(errors[0]?.error), reason);
        assert.match(
          String(errors[0]?.error),
          new RegExp(`^Error: Cannot register the callbacks of POST ${path}: `),
        );
      });
    }

    it('adds nothing if the exchange makes no subscription', async () => {
      reset(answerWith(200, { registered: false, reason: 'no callback URL' }));
      assert.deepEqual((await added('/jobs')).headers, []);
      assert.deepEqual([ringback.exchanges.length, errors], [1, []]);
    });

    it('reports what Ringback warns of', async () => {
      const answer = { registered: true, subscription: { id: 'sub_1' }, warning: 'no subject' };
      reset(answerWith(201, answer));
      assert.deepEqual((await added('/jobs')).headers, [subscription]);
      assert.match(String(errors[0]?.error), /no subject/);
    });

    it('adds nothing if the same request was registered with other headers', async () => {
      reset(answerWith(422, { code: 'idempotency_mismatch', detail: 'Used', status: 422 }));
      assert.deepEqual((await added('/jobs')).headers, []);
      assert.deepEqual(errors, []);
    });

    it('passes the answer with a warning if Ringback refuses the exchange', async () => {
      reset(
        answerWith(422, { code: 'target_refused', detail: 'The host is private', status: 422 }),
      );
      await using strict = await startApi(optionsFor({ whenDown: 'refuse' }));
      for (const api of [wrapped, strict]) {
        const { status, headers } = await answerOf(`${api.url}/jobs`);
        assert.deepEqual([status, headers.filter(isAdded)], [201, [warning]]);
      }
      assert.match(String(errors[0]?.error), /The host is private/);
    });

    it('passes the answer with a warning if Ringback is down, and gives the exchange to onError', async () => {
      reset((response) => response.destroy());
      assert.deepEqual((await added('/jobs')).headers, [warning]);
      assert.equal(ringback.exchanges.length, 3);
      assert.deepEqual(errors[0]?.exchange, last());
      assert.equal(new Set(ringback.idempotencyKeys.slice(-3)).size, 1);
    });

    it('refuses instead, if it is told so', async () => {
      reset((response) => response.destroy());
      await using strict = await startApi(optionsFor({ whenDown: 'refuse' }));
      for (const path of ['/jobs', '/stream', '/packed/gzip']) {
        const { status, headers, body } = await answerOf(strict.url + path);
        assert.equal(status, 503);
        assert.equal(JSON.parse(body.toString()).status, 503);
        assert.ok(headers.includes('content-type: application/problem+json'), headers.join('\n'));
        assert.ok(!headers.some((line) => /^(location|content-encoding|etag)/.test(line)));
      }
      assert.equal(errors.length, 3);
    });

    it('waits no longer than the timeout', async () => {
      reset(() => undefined);
      await using hasty = await startApi(optionsFor({ timeoutMs: 50 }));
      const { status, headers } = await answerOf(`${hasty.url}/jobs`);
      assert.deepEqual([status, headers.filter(isAdded)], [201, [warning]]);
      assert.equal(errors.length, 1);
    });

    it('survives an onError that throws', async (test) => {
      reset(answerWith(500, {}));
      const log = test.mock.method(console, 'error', () => undefined);
      const onError = (): void => assert.fail('on purpose');
      await using api = await startApi(optionsFor({ onError, timeoutMs: 1 }));
      assert.equal((await answerOf(`${api.url}/jobs`)).status, 201);
      assert.equal(log.mock.callCount(), 1);
    });

    it('registers a repeated request with the same answer once', async () => {
      reset();
      const keys: (string | undefined)[] = [];
      for (const key of ['k1', 'k1', 'k2', '']) {
        const headers: Record<string, string> = key === '' ? {} : { 'idempotency-key': key };
        await answerOf(`${wrapped.url}/jobs`, { headers });
        keys.push(ringback.idempotencyKeys.at(-1));
      }
      assert.equal(keys[0], keys[1]);
      assert.equal(new Set(keys).size, 3);
    });
  });
}
