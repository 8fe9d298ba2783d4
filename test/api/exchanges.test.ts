// POST /exchanges: what an API reports that is not behind the gateway, and what comes of it.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createClient } from '../../src/client/client.ts';
import { withDocument } from '../gateway/printing.ts';
import { start, type Answer, type Started } from './harness.ts';
import { tenantsOf } from './tenants.ts';

const callbackUrl = 'http://127.0.0.1:9000/done';
const job = { copies: 1, callbackUrl };
const request = { method: 'POST', url: '/jobs', body: job };
const response = { status: 201, body: { jobId: 'job_17' } };

let service: Started;
before(async () => {
  service = await withDocument((path) =>
    start({ env: { RINGBACK_CONTRACT: path, RINGBACK_OPERATIONS: 'register' } }),
  );
});
after(async () => service[Symbol.asyncDispose]());

async function report(body: object, headers: Record<string, string> = {}): Promise<Answer> {
  return service.call({ method: 'POST', path: '/exchanges', body, headers });
}

function reasonOf({ status, json, text }: Answer): unknown {
  assert.deepEqual([status, json['registered']], [200, false], text);
  return json['reason'];
}

function problemOf({ status, json }: Answer): unknown[] {
  const errors = (json['errors'] ?? []) as { field: string }[];
  return [status, json['code'], ...errors.map(({ field }) => field)];
}

interface View {
  id: string;
  state: string;
  subject?: string;
  operation: string;
  callbacks: { url?: string }[];
}

function registered({ status, json, text }: Answer): View {
  assert.deepEqual([status, json['registered']], [201, true], text);
  return json['subscription'] as View;
}

describe('POST /exchanges', () => {
  it('makes the subscription that request and answer describe', async () => {
    const found = registered(await report({ request, response }));
    assert.deepEqual([found.state, found.subject], ['active', 'job_17']);
    assert.equal(found.callbacks[0]?.url, callbackUrl);
    const { json } = await service.call({ path: `/subscriptions/${found.id}` });
    assert.equal(json['operation'], 'startJob');
  });

  it('finds the operation by its name, by its path, or by the request', async () => {
    const elsewhere = { ...request, url: 'https://api.example/v2/print?x=1' };
    const ways = [
      { operationId: 'startJob', request: elsewhere, response },
      { method: 'POST', path: '/jobs', request: elsewhere, response },
      { request: { ...request, url: 'https://api.example/jobs/?x=1' }, response },
    ];
    for (const way of ways) assert.equal(registered(await report(way)).operation, 'startJob');
  });

  it('reads the answer, in its headers and its body', async () => {
    const body = { ...response, status: 202, body: { ref: 'a b' } };
    const found = registered(
      await report({ request: { ...request, url: '/orders' }, response: body }),
    );
    assert.equal(found.callbacks[0]?.url, `${callbackUrl}/paid?ref=a%20b`);
  });

  it('warns if an answer has no subject', async () => {
    const answer = await report({ request, response: { status: 201, body: {} } });
    assert.equal(registered(answer).state, 'active');
    assert.match(String(answer.json['warning']), /the response body has nothing at "\/jobId"/);
  });

  it('makes none of what the API did not accept, or what names no URL', async () => {
    const refused = reasonOf(await report({ request, response: { status: 500 } }));
    assert.equal(refused, 'the API answered 500, expected 201');
    const silent = { ...request, body: { copies: 1 } };
    assert.match(String(reasonOf(await report({ request: silent, response }))), /callback URL/);
    const list = { method: 'GET', url: '/jobs' };
    assert.equal(
      reasonOf(await report({ request: list, response: { status: 200 } })),
      'listJobs has no callbacks',
    );
    const other = { method: 'POST', url: '/other' };
    assert.equal(
      reasonOf(await report({ request: other, response })),
      'no document has POST /other',
    );
  });

  it('refuses a URL that is not allowed, and unknown operations', async () => {
    const inside = { ...request, body: { ...job, callbackUrl: 'http://10.0.0.1/' } };
    assert.deepEqual(problemOf(await report({ request: inside, response })), [
      422,
      'target_refused',
      'body#/callbackUrl',
    ]);
    const unknown = await report({ operationId: 'startJop', request, response });
    assert.deepEqual(problemOf(unknown), [404, 'not_found']);
    assert.match(String(unknown.json['detail']), /did you mean "startJob"\?/);
  });

  it('says what is missing in the report', async () => {
    const { url, body } = request;
    assert.deepEqual(problemOf(await report({ request: { url, body }, response })), [
      400,
      'invalid_request',
      'body#/request/method',
    ]);
    const broken = { ...request, url: 'http://[' };
    assert.deepEqual(problemOf(await report({ request: broken, response })), [
      400,
      'invalid_request',
      'body#/request/url',
    ]);
  });

  it('registers a repeated report once', async () => {
    const key = { 'idempotency-key': 'once' };
    const first = registered(await report({ request, response }, key));
    assert.equal(registered(await report({ request, response }, key)).id, first.id);
    const other = await report({ request, response: { ...response, body: {} } }, key);
    assert.equal(other.json['code'], 'idempotency_mismatch');
  });

  it('has idempotency keys for each app', async () => {
    const { newApp } = tenantsOf(service.call);
    const ids: string[] = [];
    for (const name of ['ours', 'theirs']) {
      const { key } = await newApp(name);
      const headers = { 'idempotency-key': 'of each' };
      const ask = async (): Promise<Answer> =>
        service.call({
          method: 'POST',
          path: '/exchanges',
          key,
          headers,
          body: { request, response },
        });
      const { id } = registered(await ask());
      assert.equal(registered(await ask()).id, id);
      ids.push(id);
    }
    assert.equal(new Set(ids).size, 2);
  });

  it('ends what an unsubscribe operation names', async () => {
    const made = { ...response, body: { jobId: 'job_9' } };
    const { id } = registered(await report({ request, response: made }));
    const drop = { method: 'DELETE', url: '/jobs/job_9' };
    const failed = await report({ request: drop, response: { status: 500 } });
    assert.equal(reasonOf(failed), 'the API answered 500');
    const ended = await report({ request: drop, response: { status: 204 } });
    assert.equal(reasonOf(ended), 'dropJob unsubscribes');
    assert.deepEqual(ended.json['ended'], [id]);
    const { json } = await service.call({ path: `/subscriptions/${id}` });
    assert.equal(json['state'], 'ended');
  });

  it('is a method of the client', async () => {
    const client = createClient({ url: service.url, key: service.key });
    const made = await client.exchanges.register({ request, response });
    assert(made.registered);
    assert.equal(made.subscription.subject, 'job_17');
    const none = await client.exchanges.register({ request, response: { status: 404 } });
    assert.equal(none.registered, false);
  });

  it('needs a service whose operations an API answers', async () => {
    await using other = await start();
    const answer = await other.call({
      method: 'POST',
      path: '/exchanges',
      body: { request, response },
    });
    assert.deepEqual(problemOf(answer), [409, 'conflict']);
  });
});
