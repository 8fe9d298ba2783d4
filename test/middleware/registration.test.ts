// APIs with the middleware beside a real Ringback, from the request that names a URL to the callback.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { RingbackError } from '../../src/client/client.ts';
import type { MiddlewareOptions } from '../../src/middleware/middleware.ts';
import { start, type Started } from '../api/harness.ts';
import { newFolder } from '../cli/ringback-process.ts';
import { receive } from '../e2e/receiver.ts';
import { get } from '../e2e/stage.ts';
import { answerOf, apis, type Api, type Given } from './apis.ts';

const startsJob = {
  requestBody: {
    content: {
      'application/json': { schema: { properties: { callbackUrl: { type: 'string' } } } },
    },
  },
  responses: { '2XX': { description: 'The job' } },
  'x-ringback-subject': '{$response.body#/jobId}',
  callbacks: { done: { '{$request.body#/callbackUrl}': { post: {} } } },
};
const jobId = { name: 'jobId', in: 'path', required: true, schema: { type: 'string' } };
const how = { name: 'how', in: 'path', required: true, schema: { type: 'string' } };
const document = {
  openapi: '3.1.0',
  info: { title: 'Jobs', version: '1' },
  security: [{}],
  paths: {
    '/jobs': { post: { operationId: 'startJob', ...startsJob } },
    '/packed/{how}': { post: { operationId: 'packed', parameters: [how], ...startsJob } },
    '/jobs/{jobId}': {
      delete: {
        operationId: 'dropJob',
        parameters: [jobId],
        responses: { 204: { description: 'Gone' } },
      },
    },
  },
};

const operations = ['POST /jobs', 'POST /packed/{how}', 'DELETE /jobs/{jobId}'];

interface View {
  id: string;
  state: string;
  subject: string;
  operation: string;
}

for (const [name, startApi] of Object.entries(apis)) {
  describe(`an API with ${name}, beside Ringback`, () => {
    let service: Started;
    let api: Api;
    let errors: Error[] = [];
    before(async () => {
      await using folder = await newFolder();
      const path = join(folder.path, 'jobs.json');
      writeFileSync(path, JSON.stringify(document));
      service = await start({
        env: { RINGBACK_CONTRACT: path, RINGBACK_OPERATIONS: 'register' },
      });
      const { url, key } = service;
      const onError: MiddlewareOptions['onError'] = (error) => void errors.push(error);
      api = await startApi({ url, key, operations, onError });
    });
    after(async () => {
      for (const one of [api, service]) await one[Symbol.asyncDispose]();
    });
    /** The id of the subscription in the answer; undefined if there is none. */
    const subscribed = async (path: string, given: Given = {}): Promise<string | undefined> => {
      errors = [];
      const { headers } = await answerOf(api.url + path, given);
      const line = headers.find((one) => one.startsWith('ringback-subscription: '));
      return line?.replace('ringback-subscription: ', '');
    };
    const bodyFor = (callbackUrl: string): string => JSON.stringify({ callbackUrl });
    const view = async (id: string | undefined): Promise<View> =>
      get<View>(service, `/subscriptions/${id}`);
    const active = async (): Promise<string[]> => {
      const { items } = await get<{ items: View[] }>(service, '/subscriptions?state=active');
      return items.map(({ id }) => id);
    };
    const drop = async (): Promise<void> => {
      await answerOf(`${api.url}/jobs/job_17`, { method: 'DELETE', body: '' });
    };

    it('gets its callbacks sent, until it ends them', async () => {
      await using receiver = await receive();
      const id = await subscribed('/jobs', { body: bodyFor(receiver.url) });
      const { state, subject, operation } = await view(id);
      assert.deepEqual([state, subject, operation], ['active', 'job_17', 'startJob']);
      const publish = async (about: string): Promise<unknown> => {
        const body = { event: 'done', subject: about, payload: { message: about } };
        const { json } = await service.call({ method: 'POST', path: '/events', body });
        return json['deliveries'];
      };
      assert.deepEqual([await publish('job_18'), await publish('job_17')], [0, 1]);
      const [callback] = await receiver.waitFor(1);
      assert.equal(callback?.headers['ringback-subscription'], id);
      await drop();
      assert.equal((await view(id)).state, 'ended');
      assert.deepEqual(errors, []);
    });

    it('registers a compressed answer', async () => {
      const id = await subscribed('/packed/gzip');
      assert.equal((await view(id)).subject, 'job_17');
      await service.call({ method: 'DELETE', path: `/subscriptions/${id}` });
    });

    it('registers nothing without a URL', async () => {
      assert.equal(await subscribed('/jobs', { body: '{}' }), undefined);
      assert.deepEqual([await active(), errors], [[], []]);
    });

    it('reports a URL that must not be called', async () => {
      assert.equal(await subscribed('/jobs', { body: bodyFor('http://10.0.0.1/') }), undefined);
      const [error] = errors;
      assert(error?.cause instanceof RingbackError);
      assert.deepEqual([error.cause.code, await active()], ['target_refused', []]);
    });

    it('registers a request that its caller repeats once', async () => {
      const headers = { 'idempotency-key': 'job-17' };
      const id = await subscribed('/jobs', { headers });
      assert.deepEqual(await active(), [id]);
      assert.equal(await subscribed('/jobs', { headers }), id);
      const traced = { ...headers, traceparent: `00-${'1'.repeat(32)}-${'1'.repeat(16)}-01` };
      assert.equal(await subscribed('/jobs', { headers: traced }), undefined);
      assert.deepEqual([await active(), errors], [[id], []]);
      await drop();
    });
  });
}
