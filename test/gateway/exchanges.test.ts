// What the gateway registers of the exchanges that pass through it, over real sockets: the API's answers stay as they
// are, what it accepted is registered before its answer leaves, and what cannot be registered does not reach it.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { limits } from '../../src/core/limits/limits.ts';
import { get, until } from '../e2e/stage.ts';
import {
  answeredBy,
  callbackUrl,
  namedIn,
  post,
  problemIn,
  send,
  startPrinting,
  subscription,
  subscriptions,
  type SubscriptionView,
} from './printing.ts';
import { answering, bodyOf, type Gateway, type Script } from './stage.ts';

const json = 'Content-Type: application/json';

/** An answer of the status, whose body is one byte for each character. */
function answerOf(status: string, body: string, lines: readonly string[] = [json]): Script {
  const head = [`HTTP/1.1 ${status}`, ...lines, `Content-Length: ${body.length}`];
  return (_request, socket) => socket.write(`${head.join('\r\n')}\r\n\r\n${body}`, 'latin1');
}

const job = post('/jobs', { copies: 1, callbackUrl });

describe('a request with a callback URL', () => {
  let gateway: Gateway;
  before(async () => {
    gateway = await startPrinting();
  });
  after(async () => gateway[Symbol.asyncDispose]());

  it('is registered when the API accepts it, and its answer has one more header', async () => {
    const { answer, request, id } = await send(gateway, post('/jobs', { copies: 1, callbackUrl }));
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
    const { id } = await send(gateway, post('/jobs', { copies: 1, callbackUrl }));
    api.script = script;
    assert.equal((await seen[0])?.state, 'unconfirmed');
    assert.equal((await subscription(gateway, id)).state, 'active');
  });

  it('is refused before the API gets it if its URL is not allowed', async () => {
    const { answer, request } = await send(
      gateway,
      post('/jobs', { copies: 1, callbackUrl: 'http://10.0.0.1/' }),
    );
    assert.deepEqual(problemIn(answer), [422, 'target_refused']);
    assert.equal(request, '');
  });

  it('registers nothing without a URL, and gets the answer as it is', async () => {
    const known = (await subscriptions(gateway)).length;
    const { answer, request } = await send(gateway, post('/jobs', { copies: 1 }));
    assert.match(request, /^POST \/jobs /);
    assert.match(answer, /^HTTP\/1\.1 201 Created/);
    assert.doesNotMatch(answer + request, /ringback-subscription/i);
    assert.equal((await subscriptions(gateway)).length, known);
  });

  it('ends when the API does not accept it', async () => {
    const accepted = post('/jobs', { copies: 1, callbackUrl });
    const { answer, id } = await answeredBy(gateway, answering('{"jobId":"job_18"}', [json]), () =>
      send(gateway, accepted),
    );
    assert.equal(bodyOf(answer), '{"jobId":"job_18"}');
    assert.doesNotMatch(answer, /ringback-subscription/i);
    const found = await subscription(gateway, id);
    assert.deepEqual([found.state, found.endReason], ['ended', 'refused']);
  });

  it('gets what the answer says into its target', async () => {
    const { id } = await send(gateway, post('/orders', { copies: 1, callbackUrl }));
    const found = await subscription(gateway, id);
    assert.equal(found.callbacks[0]?.url, `${callbackUrl}/paid?ref=a%20b`);
  });

  it('reads a compressed answer, whose bytes stay as they are', async () => {
    const zipped = gzipSync('{"jobId":"zipped"}').toString('latin1');
    const script = answerOf('201 Created', zipped, [json, 'Content-Encoding: gzip']);
    const { answer, id } = await answeredBy(gateway, script, () => send(gateway, job));
    assert.equal(bodyOf(answer), zipped);
    assert.equal((await subscription(gateway, id)).subject, 'zipped');
  });

  it('may have a body of unknown length', async () => {
    const text = JSON.stringify({ copies: 1, callbackUrl });
    const head = `POST /jobs HTTP/1.1\nHost: a\nConnection: close\n${json}\nTransfer-Encoding: chunked\n\n`;
    const sent = `${head}${text.length.toString(16)}\n${text}\n0\n\n`;
    const { request, id } = await send(gateway, sent);
    assert.equal(bodyOf(request), text);
    assert.equal((await subscription(gateway, id)).state, 'active');
  });

  it('is refused before the API gets it if its body is too large to keep', async () => {
    const large = post('/jobs', { copies: 1, more: 'x'.repeat(limits.bodyBytesMax) });
    const chunked = large.replace(
      /Content-Length: \d+\n\n/,
      'Transfer-Encoding: chunked\n\n200000\n',
    );
    const [announced = ''] = large.split('\n\n', 1);
    for (const text of [large, chunked, `${announced}\n\n`]) {
      const { answer, request } = await send(gateway, text);
      assert.deepEqual(problemIn(answer), [413, 'body_too_large']);
      assert.equal(request, '');
    }
  });

  it('gets an answer that is too large to read as it is, and has no subject then', async () => {
    const body = `{"jobId":"large","more":"${'x'.repeat(limits.bodyBytesMax)}"}`;
    const { answer, id } = await answeredBy(gateway, answerOf('201 Created', body), () =>
      send(gateway, job),
    );
    assert.equal(bodyOf(answer), body);
    assert.equal((await subscription(gateway, id)).state, 'active');
    assert.match(gateway.service.logged(), /subscription has no subject/);
  });

  it('is registered even if the caller leaves before the answer', async () => {
    const { service } = gateway;
    const arrived = Promise.withResolvers<string>();
    const left = Promise.withResolvers<void>();
    const script: Script = (request, socket) => {
      arrived.resolve(request);
      void left.promise.then(() => answerOf('201 Created', '{"jobId":"late"}')(request, socket));
    };
    await answeredBy(gateway, script, async () => {
      const { hostname, port } = new URL(service.url);
      const client = connect({ host: hostname, port: Number(port) });
      client.write(job.replaceAll('\n', '\r\n'));
      const id = namedIn(await arrived.promise);
      client.destroy();
      await until(
        async () => service.logged(),
        (lines) => lines.includes('"status":499'),
      );
      left.resolve();
      const found = await until(
        async () => subscription(gateway, id),
        ({ state }) => state !== 'unconfirmed',
      );
      assert.deepEqual([found.state, found.subject], ['active', 'late']);
    });
  });

  it('stays unconfirmed if the API breaks off, and a publish that names it confirms it', async () => {
    const { answer, id } = await answeredBy(
      gateway,
      (_request, socket) => socket.destroy(),
      () => send(gateway, job),
    );
    assert.deepEqual(problemIn(answer), [502, 'bad_gateway']);
    assert.equal((await subscription(gateway, id)).state, 'unconfirmed');
    const event = { event: 'onDone', subscriberId: id, payload: {}, subject: 'named' };
    const { status, text } = await gateway.service.call({
      method: 'POST',
      path: '/ringback/events',
      body: event,
    });
    assert.equal(status, 202, text);
    assert.equal((await subscription(gateway, id)).state, 'active');
  });

  it('ends if the API cannot have received it', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    await using lonely = await startPrinting({ RINGBACK_UPSTREAM: `http://127.0.0.1:${port}` });
    const { answer } = await send(lonely, job);
    assert.deepEqual(problemIn(answer), [502, 'bad_gateway']);
    const [found] = await subscriptions(lonely);
    assert.deepEqual([found?.state, found?.endReason], ['ended', 'refused']);
  });

  it('ends after 30 days by itself', async () => {
    const { id } = await send(gateway, job);
    const { createdAt, expiresAt = '' } = await subscription(gateway, id);
    const days = (Date.parse(expiresAt) - Date.parse(createdAt)) / 86_400_000;
    assert.equal(Math.round(days), 30);
  });

  it('gets the events of its subject, and an event must name one', async () => {
    const { id } = await answeredBy(gateway, answerOf('201 Created', '{"jobId":"mine"}'), () =>
      send(gateway, job),
    );
    const publish = async (more: object): Promise<[number, unknown]> => {
      const body = { event: 'onDone', payload: {}, ...more };
      const answer = await gateway.service.call({ method: 'POST', path: '/ringback/events', body });
      return [answer.status, answer.json['deliveries'] ?? answer.json['code']];
    };
    assert.deepEqual(await publish({ subject: 'mine' }), [202, 1]);
    assert.deepEqual(await publish({ subject: 'other' }), [202, 0]);
    assert.deepEqual(await publish({}), [422, 'subject_missing']);
    const path = `/ringback/deliveries?subscriberId=${id}`;
    const { items } = await get<{ items: unknown[] }>(gateway.service, path);
    assert.equal(items.length, 1);
  });

  it('may replace what the same PUT registered, or end it', async () => {
    const put = (body: object): string => post('/hook', body).replace('POST', 'PUT');
    const ok = answerOf('200 OK', '{}');
    const [first, second] = await answeredBy(gateway, ok, async () => [
      await send(gateway, put({ copies: 1, callbackUrl })),
      await send(gateway, put({ copies: 2, callbackUrl })),
    ]);
    const stateOf = async ({ id }: { id: string }): Promise<unknown[]> => {
      const { state, endReason } = await subscription(gateway, id);
      return [state, endReason];
    };
    assert.deepEqual(await stateOf(first), ['ended', 'replaced']);
    assert.deepEqual(await stateOf(second), ['active', undefined]);
    const refused = answerOf('500 No', '{}');
    await answeredBy(gateway, refused, () => send(gateway, put({ copies: 1 })));
    assert.deepEqual(await stateOf(second), ['active', undefined]);
    await answeredBy(gateway, ok, () => send(gateway, put({ copies: 1 })));
    assert.equal((await stateOf(second))[0], 'ended');
  });
});

describe('a request that ends a subscription', () => {
  let gateway: Gateway;
  before(async () => {
    gateway = await startPrinting();
  });
  after(async () => gateway[Symbol.asyncDispose]());

  const drop = (id: string): string =>
    `DELETE /jobs/${id} HTTP/1.1\nHost: a\nConnection: close\n\n`;

  for (const { status, state } of [
    { status: '204 No Content', state: 'ended' },
    { status: '200 OK', state: 'ended' },
    { status: '404 Not Found', state: 'ended' },
    { status: '410 Gone', state: 'ended' },
    { status: '500 Failed', state: 'active' },
    { status: '409 Conflict', state: 'active' },
  ]) {
    it(`leaves it ${state} if the API answers ${status}`, async () => {
      const { id } = await send(gateway, job);
      const script: Script = (_request, socket) =>
        socket.write(`HTTP/1.1 ${status}\r\nX-Own: 1\r\nContent-Length: 0\r\n\r\n`);
      const { answer, request } = await answeredBy(gateway, script, () =>
        send(gateway, drop('job_17')),
      );
      assert.match(request, /^DELETE \/jobs\/job_17 /);
      assert.match(answer, new RegExp(`^HTTP/1.1 ${status}\r\nX-Own: 1\r\n`));
      assert.equal((await subscription(gateway, id)).state, state);
    });
  }

  it('takes the id of the subscription, too', async () => {
    const { id } = await send(gateway, job);
    await answeredBy(gateway, answerOf('200 OK', '{}'), () => send(gateway, drop(id)));
    assert.equal((await subscription(gateway, id)).state, 'ended');
  });

  it('leaves other subjects as they are', async () => {
    const { id } = await send(gateway, job);
    await answeredBy(gateway, answerOf('200 OK', '{}'), () => send(gateway, drop('job_18')));
    assert.equal((await subscription(gateway, id)).state, 'active');
  });
});
