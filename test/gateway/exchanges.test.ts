// What the gateway registers of the exchanges that pass through it, over real sockets: the API's answers stay as they
// are, what it accepted is registered before its answer leaves, and what cannot be registered does not reach it.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startPrinting } from './printing.ts';
import { answering, bodyOf, talk, valuesOf, type Gateway } from './stage.ts';

const callbackUrl = 'http://127.0.0.1:9000/done';

function post(path: string, body: object, lines: readonly string[] = []): string {
  const text = JSON.stringify(body);
  const head = ['Host: api.test', 'Connection: close', 'Content-Type: application/json', ...lines];
  return `POST ${path} HTTP/1.1\n${head.join('\n')}\nContent-Length: ${Buffer.byteLength(text)}\n\n${text}`;
}

interface SubscriptionView {
  id: string;
  state: string;
  subject?: string;
  expiresAt?: string;
  endReason?: string;
  createdAt: string;
  callbacks: { url?: string; inactive?: string }[];
}

async function subscription({ service }: Gateway, id: string): Promise<SubscriptionView> {
  const { status, json, text } = await service.call({ path: `/ringback/subscriptions/${id}` });
  assert.equal(status, 200, text);
  return json as unknown as SubscriptionView;
}

async function subscriptions({ service }: Gateway, query = ''): Promise<SubscriptionView[]> {
  const { json } = await service.call({ path: `/ringback/subscriptions?${query}` });
  return json['items'] as SubscriptionView[];
}

/** What the API was told, and what the caller was. */
function namedIn(text: string): string {
  const [id = '', ...others] = valuesOf(text, 'ringback-subscription');
  assert.deepEqual(others, []);
  return id;
}

function problemIn(answer: string): [number, unknown] {
  const problem = JSON.parse(bodyOf(answer)) as Record<string, unknown>;
  return [Number(answer.split(' ')[1]), problem['code']];
}

describe('a request with a callback URL', () => {
  let gateway: Gateway;
  before(async () => {
    gateway = await startPrinting();
  });
  after(async () => gateway[Symbol.asyncDispose]());

  async function send(text: string): Promise<{ answer: string; request: string; id: string }> {
    const { api, service } = gateway;
    api.requests.length = 0;
    const answer = await talk(service.url, text);
    const [request = ''] = api.requests;
    return { answer, request, id: namedIn(request) };
  }

  it('is registered when the API accepts it, and its answer has one more header', async () => {
    const { answer, request, id } = await send(post('/jobs', { copies: 1, callbackUrl }));
    assert.equal(bodyOf(request), JSON.stringify({ copies: 1, callbackUrl }));
    const found = await subscription(gateway, id);
    assert.deepEqual([found.state, found.subject], ['active', 'job_17']);
    assert.equal(found.callbacks[0]?.url, callbackUrl);
    assert.deepEqual(
      answer.replaceAll(/^(?:Date|Keep-Alive): .*\r\n/gim, ''),
      [
        'HTTP/1.1 201 Created',
        'Content-Type: application/json',
        'Content-Length: 18',
        `Ringback-Subscription: ${id}`,
        'Connection: close',
        '',
        '{"jobId":"job_17"}',
      ].join('\r\n'),
    );
  });

  it('is known to Ringback before the API gets it', async () => {
    const { api } = gateway;
    const { script } = api;
    const seen: Promise<SubscriptionView>[] = [];
    api.script = (request, socket) => {
      const found = subscription(gateway, namedIn(request));
      seen.push(found);
      void found.then(() => script(request, socket));
    };
    const { id } = await send(post('/jobs', { copies: 1, callbackUrl }));
    api.script = script;
    assert.equal((await seen[0])?.state, 'unconfirmed');
    assert.equal((await subscription(gateway, id)).state, 'active');
  });

  it('is refused before the API gets it if its URL is not allowed', async () => {
    const { answer, request } = await send(
      post('/jobs', { copies: 1, callbackUrl: 'http://10.0.0.1/' }),
    );
    assert.deepEqual(problemIn(answer), [422, 'target_refused']);
    assert.equal(request, '');
  });

  it('registers nothing without a URL, and gets the answer as it is', async () => {
    const known = (await subscriptions(gateway)).length;
    const { answer, request } = await send(post('/jobs', { copies: 1 }));
    assert.match(request, /^POST \/jobs /);
    assert.match(answer, /^HTTP\/1\.1 201 Created/);
    assert.doesNotMatch(answer + request, /ringback-subscription/i);
    assert.equal((await subscriptions(gateway)).length, known);
  });

  it('ends when the API does not accept it', async () => {
    const { api } = gateway;
    const { script } = api;
    api.script = answering('{"jobId":"job_18"}', ['Content-Type: application/json']);
    const { answer, id } = await send(post('/jobs', { copies: 1, callbackUrl }));
    api.script = script;
    assert.equal(bodyOf(answer), '{"jobId":"job_18"}');
    assert.doesNotMatch(answer, /ringback-subscription/i);
    const found = await subscription(gateway, id);
    assert.deepEqual([found.state, found.endReason], ['ended', 'refused']);
  });

  it('gets what the answer says into its target', async () => {
    const { id } = await send(post('/orders', { copies: 1, callbackUrl }));
    const found = await subscription(gateway, id);
    assert.equal(found.callbacks[0]?.url, `${callbackUrl}/paid?ref=a%20b`);
  });
});
