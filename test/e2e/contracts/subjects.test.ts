// Subjects and expiry of subscriptions whose operation declares them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Subscription } from '../../../src/core/domain/subscription.ts';
import { limits } from '../../../src/core/limits/limits.ts';
import { frozenWorld } from '../../api/frozen-world.ts';
import { mountContract, type Mounted } from '../../api/mount-contract.ts';

const world = frozenWorld();
const url = 'http://127.0.0.1:9000/done';

async function mounted(extensions: Record<string, unknown>): Promise<Mounted> {
  const properties = { url: {}, job: {}, 'x-ringback': { type: 'object' } };
  const schema = { type: 'object', required: ['url'], properties };
  const post = {
    requestBody: { content: { 'application/json': { schema } } },
    responses: { 201: { description: 'Made' } },
    callbacks: { done: { '{$request.body#/url}': { post: {} } } },
    ...extensions,
  };
  const document = { openapi: '3.1.0', info: { title: 'T' }, paths: { '/jobs': { post } } };
  return mountContract(document, { world });
}

async function send(on: Mounted, body: object): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  return fetch(`${on.url}/jobs`, { method: 'POST', headers, body: JSON.stringify(body) });
}

async function subscribed(on: Mounted, body: object = {}): Promise<Subscription> {
  const answer = await send(on, { url, ...body });
  const text = await answer.text();
  assert.equal(answer.status, 201, text);
  const { subscriberId } = JSON.parse(text) as { subscriberId: string };
  const { store, defaultApp } = on.context;
  const id = subscriberId.replace(/^sub_/, '');
  const found = await store.read('subscription', { appNo: defaultApp.no, id });
  assert(found);
  return found;
}

describe('a subscribe operation with x-ringback-subject', () => {
  it('takes the subject from the request, and ends after 30 days by default', async () => {
    await using on = await mounted({ 'x-ringback-subject': 'job {$request.body#/job}' });
    const { subject, controls } = await subscribed(on, { job: 17 });
    assert.equal(subject, 'job 17');
    assert.equal(controls.expiresMs, world.nowMs() + limits.subjectKeepMs);
  });

  it('takes the subject from the response', async () => {
    await using on = await mounted({ 'x-ringback-subject': '$response.body#/subscriberId' });
    const { id, subject } = await subscribed(on);
    assert.equal(subject, `sub_${id}`);
  });

  it('refuses a request without a usable subject, and names the field', async () => {
    await using on = await mounted({ 'x-ringback-subject': '$request.body#/job' });
    const cases: [unknown, RegExp][] = [
      [undefined, /the request body has nothing at "\/job"/],
      ['', /is not a subject, expected 1 to 256 characters/],
      ['x'.repeat(257), /is not a subject/],
      [['a', 'b'], /is a list, expected one value/],
    ];
    for (const [job, reason] of cases) {
      const answer = await send(on, { url, job });
      const text = await answer.text();
      assert.equal(answer.status, 400, text);
      const { errors } = JSON.parse(text) as { errors: { field: string; message: string }[] };
      assert.equal(errors[0]?.field, 'body#/job');
      assert.match(errors[0]?.message ?? '', reason);
    }
  });
});

describe('a subscribe operation with x-ringback-expires', () => {
  it('ends its subscriptions after that time, unless they choose another', async () => {
    await using on = await mounted({ 'x-ringback-expires': 'PT1H' });
    const expiresMs = world.nowMs() + 3_600_000;
    assert.equal((await subscribed(on)).controls.expiresMs, expiresMs);
    const reset = { 'x-ringback': { expiresAt: null } };
    assert.equal((await subscribed(on, reset)).controls.expiresMs, expiresMs);
    const chosen = { 'x-ringback': { expiresAt: '2100-01-01T00:00:00Z' } };
    assert.equal((await subscribed(on, chosen)).controls.expiresMs, Date.UTC(2100, 0, 1));
  });
});

describe('a subscribe operation with x-ringback-customer', () => {
  const extension = { 'x-ringback-customer': '$request.body#/job' };

  it('takes the customer from the request', async () => {
    await using on = await mounted(extension);
    assert.equal((await subscribed(on, { job: 'cus_1' })).customer, 'cus_1');
    const same = { job: 'cus_1', 'x-ringback': { customer: 'cus_1' } };
    assert.equal((await subscribed(on, same)).customer, 'cus_1');
  });

  it('refuses a request without a usable customer, or with two, and names the field', async () => {
    await using on = await mounted(extension);
    const cases: [object, RegExp][] = [
      [{}, /gives no customer for the subscription: the request body has nothing at "\/job"/],
      [{ job: '' }, /is not a customer, expected 1 to 128 characters/],
      [{ job: ['a', 'b'] }, /gives no customer/],
      [{ job: 'cus_1', 'x-ringback': { customer: 'cus_2' } }, /"cus_1", expected "cus_2"/],
    ];
    for (const [body, reason] of cases) {
      const answer = await send(on, { url, ...body });
      const text = await answer.text();
      assert.equal(answer.status, 400, text);
      const { errors } = JSON.parse(text) as { errors: { field: string; message: string }[] };
      assert.equal(errors[0]?.field, 'body#/job');
      assert.match(errors[0]?.message ?? '', reason);
    }
  });
});
