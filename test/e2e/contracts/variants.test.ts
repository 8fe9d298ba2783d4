// The three variants of Ringback's own subscribe operation, each served as a separate document: their behaviour must
// follow from the document, not from the program.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { header, receive, type Receiver } from '../receiver.ts';
import { quiet } from '../stage.ts';
import { serve, type CallbackView } from './stage.ts';

function read(name: string): string {
  return readFileSync(join(import.meta.dirname, 'documents', name), 'utf8');
}

/** The same document without x-ringback-event, so that every callback matches its label. */
function withoutEvents(text: string): string {
  const bare = text.replaceAll(/^ *x-ringback-event: .*\n/gmu, '');
  assert.notEqual(bare, text);
  return bare;
}

const message = { message: 'hello' };

function came(receiver: Receiver): string[] {
  return receiver.requests
    .map(
      (one) => `${header(one, 'ringback-event')} ${one.method} ${one.url} ${one.body.toString()}`,
    )
    .toSorted();
}

function views(callbacks: readonly CallbackView[]): string[] {
  return callbacks.map(
    ({ label, event, method, url, inactive }) =>
      `${label} hears ${event}: ${method} ${url ?? `(${inactive ?? ''})`}`,
  );
}

describe('body.yaml', () => {
  const document = read('body.yaml');

  it('responds with 201 and calls the URL for every event', async () => {
    await using service = await serve(document);
    await using receiver = await receive();
    const { id, answer } = await service.subscribe({
      path: '/subscribe',
      body: { callbackUrl: receiver.url },
    });
    assert.deepEqual(answer.json, { subscriberId: id });
    assert.deepEqual(views(await service.callbacksOf(id)), [
      `myEvent hears *: POST ${receiver.url}`,
    ]);
    for (const event of ['order.created', 'myEvent', 'a']) {
      assert.equal(await service.deliveries(event, { payload: message }), 1);
    }
    await quiet(service);
    assert.deepEqual(came(receiver), [
      'a POST /hook {"message":"hello"}',
      'myEvent POST /hook {"message":"hello"}',
      'order.created POST /hook {"message":"hello"}',
    ]);
    for (const one of receiver.requests)
      assert.equal(header(one, 'content-type'), 'application/json');
  });

  it('requires callbackUrl, and a message in the payload', async () => {
    await using service = await serve(document);
    const missing = await service.call({ method: 'POST', path: '/subscribe', body: {} });
    assert.equal(missing.status, 400);
    assert.match(missing.text, /body#\/callbackUrl is required/);
    assert.equal((await service.call({ method: 'POST', path: '/subscribe' })).status, 400);
    const broken = await service.publish('a', { payload: { message: 1 } });
    assert.equal(broken.status, 422);
    assert.match(broken.text, /body#\/payload\/message must be a string.*callback \\"myEvent\\"/);
  });

  it('ends by 410', async () => {
    await using service = await serve(document);
    await using receiver = await receive(() => 410);
    const body = { callbackUrl: receiver.url };
    const { id } = await service.subscribe({ path: '/subscribe', body });
    await service.deliveries('a', { payload: message });
    await quiet(service);
    assert.equal(await service.stateOf(id), 'ended');
  });

  it('without the extension matches its label', async () => {
    await using service = await serve(withoutEvents(document));
    await using receiver = await receive();
    await service.subscribe({ path: '/subscribe', body: { callbackUrl: receiver.url } });
    assert.equal(await service.deliveries('a', { payload: message }), 0);
    assert.equal(await service.deliveries('myEvent', { payload: message }), 1);
    await quiet(service);
    assert.deepEqual(came(receiver), ['myEvent POST /hook {"message":"hello"}']);
  });
});

describe('query.yaml', () => {
  const document = read('query.yaml');
  const path = (callbackUrl: string, event: string): string =>
    `/subscribe?${new URLSearchParams({ callbackUrl, event }).toString()}`;

  it('responds with 201 and the id, and calls …?event=… for that event', async () => {
    await using service = await serve(document);
    await using receiver = await receive();
    const { id, answer } = await service.subscribe({ path: path(receiver.url, 'order.created') });
    assert.deepEqual(answer.json, { subscriberId: id });
    const other = await service.subscribe({ path: path(`${receiver.url}?x=1`, 'order.paid') });
    assert.deepEqual(views(await service.callbacksOf(id)), [
      `myEvent hears order.created: POST ${receiver.url}?event=order.created`,
    ]);
    assert.deepEqual(views(await service.callbacksOf(other.id)), [
      `myEvent hears order.paid: POST ${receiver.url}?x=1&event=order.paid`,
    ]);
    for (const event of ['order.created', 'order.paid', 'order', 'myEvent']) {
      const count = await service.deliveries(event, { payload: message });
      assert.equal(count, event.startsWith('order.') ? 1 : 0);
    }
    await quiet(service);
    assert.deepEqual(came(receiver), [
      'order.created POST /hook?event=order.created {"message":"hello"}',
      'order.paid POST /hook?x=1&event=order.paid {"message":"hello"}',
    ]);
  });

  it('requires both parameters', async () => {
    await using service = await serve(document);
    for (const query of ['', '?callbackUrl=http://127.0.0.1:9000/', '?event=a']) {
      const answer = await service.call({ method: 'POST', path: `/subscribe${query}` });
      assert.equal(answer.status, 400, query);
      assert.match(answer.text, /query\.(?:event|callbackUrl) is required/);
    }
  });

  it('ends by the operation that its link names', async () => {
    await using service = await serve(document);
    const { id } = await service.subscribe({ path: path('http://127.0.0.1:9000/', 'a') });
    const end = await service.call({ method: 'POST', path: `/unsubscribe?Id=${id}` });
    assert.deepEqual([end.status, end.json], [200, { subscriberId: id }]);
    assert.equal(await service.stateOf(id), 'ended');
    assert.equal(await service.deliveries('a', { payload: message }), 0);
    assert.equal((await service.call({ method: 'POST', path: '/unsubscribe' })).status, 400);
    const unknown = '/unsubscribe?Id=sub_00000000000000000000000000';
    assert.equal((await service.call({ method: 'POST', path: unknown })).status, 404);
  });

  it('without the extension matches its label, with the same URL', async () => {
    await using service = await serve(withoutEvents(document));
    await using receiver = await receive();
    await service.subscribe({ path: path(receiver.url, 'order.created') });
    assert.equal(await service.deliveries('order.created', { payload: message }), 0);
    assert.equal(await service.deliveries('myEvent', { payload: message }), 1);
    await quiet(service);
    assert.deepEqual(came(receiver), [
      'myEvent POST /hook?event=order.created {"message":"hello"}',
    ]);
  });
});

describe('multi.yaml', () => {
  const document = read('multi.yaml');

  it('responds with 200 and calls each URL for its own event', async () => {
    await using service = await serve(document);
    await using receiver = await receive();
    const urls = {
      inProgressUrl: `${receiver.url}/1`,
      failedUrl: `${receiver.url}/2`,
      successUrl: `${receiver.url}/3`,
    };
    const { id, answer } = await service.subscribe({
      path: '/subscribe',
      body: urls,
      status: 200,
    });
    assert.deepEqual(answer.json, { subscriberId: id });
    assert.deepEqual(views(await service.callbacksOf(id)), [
      `inProgress hears inProgress: POST ${urls.inProgressUrl}`,
      `inProgress hears failed: POST ${urls.failedUrl}`,
      `inProgress hears success: POST ${urls.successUrl}`,
    ]);
    for (const event of ['inProgress', 'failed', 'success']) {
      assert.equal(await service.deliveries(event, { payload: { message: event } }), 1);
    }
    assert.equal(await service.deliveries('other', { payload: 'anything' }), 0);
    await quiet(service);
    assert.deepEqual(came(receiver), [
      'failed POST /hook/2 {"message":"failed"}',
      'inProgress POST /hook/1 {"message":"inProgress"}',
      'success POST /hook/3 {"message":"success"}',
    ]);
    assert.equal((await service.publish('success', { payload: {} })).status, 422);
  });

  it('has the same events without the extension, and validates a payload only for its own', async () => {
    const plain = withoutEvents(document).replace(
      /(callbackMessage2:\n.*schema: ).*/u,
      '$1{ type: object, required: [reason] } } }',
    );
    await using service = await serve(plain);
    await using receiver = await receive();
    const [inProgressUrl, failedUrl] = [`${receiver.url}/1`, `${receiver.url}/2`];
    const body = { inProgressUrl, failedUrl };
    const { id } = await service.subscribe({ path: '/subscribe', body, status: 200 });
    const events = (await service.callbacksOf(id)).map(({ event }) => event);
    assert.deepEqual(events, ['inProgress', 'failed', 'success']);
    const types = await service.call({ path: '/event-types' });
    for (const event of events) assert.match(types.text, new RegExp(`"${event}"`, 'u'));
    assert.equal(await service.deliveries('failed', { payload: { reason: 'r' } }), 1);
    assert.equal((await service.publish('failed', { payload: { message: 'm' } })).status, 422);
    assert.equal(await service.deliveries('inProgress', { payload: { message: 'm' } }), 1);
    await quiet(service);
    assert.deepEqual(came(receiver), [
      'failed POST /hook/2 {"reason":"r"}',
      'inProgress POST /hook/1 {"message":"m"}',
    ]);
  });

  it('accepts any of the three URLs, but at least one', async () => {
    await using service = await serve(document);
    const hook = 'http://127.0.0.1:9000/';
    const { id } = await service.subscribe({
      path: '/subscribe',
      body: { failedUrl: hook },
      status: 200,
    });
    assert.deepEqual(views(await service.callbacksOf(id)), [
      'inProgress hears inProgress: POST (the request body has nothing at "/inProgressUrl")',
      `inProgress hears failed: POST ${hook}`,
      'inProgress hears success: POST (the request body has nothing at "/successUrl")',
    ]);
    const none = await service.call({ method: 'POST', path: '/subscribe', body: {} });
    assert.deepEqual([none.status, none.json['code']], [400, 'no_callback']);
    const bad = { failedUrl: hook, successUrl: 'mailto:me' };
    const refused = await service.call({ method: 'POST', path: '/subscribe', body: bad });
    assert.equal(refused.status, 422);
    assert.match(refused.text, /"field":"body#\/successUrl"/);
  });
});
