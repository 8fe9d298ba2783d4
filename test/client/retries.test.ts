import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import { createClient, RingbackError, UnreachableError } from '../../src/client/client.ts';
import { start } from '../api/harness.ts';
import {
  cutShort,
  hangUp,
  json,
  problem,
  rawService,
  virtualTime,
  type Behave,
} from './raw-service.ts';

const key = 'rbk_hush_hush_hush';
const accepted = { eventId: 'evt_1', deliveries: 0 };
const event = { event: 'order.created', payload: { message: 'hello' } };

describe('a call', () => {
  it('is repeated with the same idempotency key until a response arrives', async () => {
    await using service = await rawService(
      hangUp,
      cutShort,
      problem(502, 'x'),
      problem(503, 'store_unavailable', { 'retry-after': '7' }),
      json(202, accepted),
    );
    const time = virtualTime();
    const client = createClient({ url: service.url, key, ...time });
    assert.deepEqual(await client.publish(event), accepted);
    const keys = new Set(service.seen.map(({ headers }) => headers['idempotency-key']));
    assert.equal(service.seen.length, 5);
    assert.equal(keys.size, 1);
    assert.match([...keys].join(''), /^[0-9a-f-]{36}$/);
    assert.equal(new Set(service.seen.map(({ body }) => body)).size, 1);
    assert.equal(time.waits.length, 4);
    assert.ok((time.waits[3] ?? 0) >= 7_000);
    await client.publish(event);
    assert.equal(keys.has(service.seen.at(-1)?.headers['idempotency-key']), false);
  });

  it('sends the given idempotency key', async () => {
    await using service = await rawService(hangUp, json(202, accepted));
    const client = createClient({ url: service.url, key, ...virtualTime() });
    await client.publish(event, { idempotencyKey: 'order 42' });
    const keys = service.seen.map(({ headers }) => headers['idempotency-key']);
    assert.deepEqual(keys, ['order 42', 'order 42']);
  });

  it('fails with the last error after the maximum number of tries', async () => {
    await using service = await rawService(hangUp);
    const client = createClient({ url: `${service.url}/`, key, retries: 2, ...virtualTime() });
    await assert.rejects(
      client.publish(event),
      (error) =>
        error instanceof UnreachableError &&
        error.url === service.url &&
        error.message.startsWith(`Cannot POST /events: no response from ${service.url}: `) &&
        !error.message.includes(key),
    );
    assert.equal(service.seen.length, 3);
    await assert.rejects(client.publish(event, { retries: 0 }), UnreachableError);
    assert.equal(service.seen.length, 4);
  });

  it('is not repeated if it may have taken effect and must not do so twice', async () => {
    await using service = await rawService(hangUp);
    const client = createClient({ url: service.url, key, ...virtualTime() });
    await assert.rejects(client.subscriptions.ping('sub_1'), UnreachableError);
    await assert.rejects(client.keys.create({ name: 'x', scopes: ['read'] }), UnreachableError);
    assert.equal(service.seen.length, 2);
    assert.equal(service.seen[0]?.headers['idempotency-key'], undefined);
  });

  it('is repeated after a timeout, each try with its own time limit', async () => {
    const time = virtualTime();
    const hang: Behave = () => time.runOut?.();
    await using service = await rawService(hang, hang, json(200, { status: 'ok' }));
    const client = createClient({ url: service.url, key, ...time });
    assert.deepEqual(await client.health({ retries: 2 }), { status: 'ok' });
    assert.equal(service.seen.length, 3);
    await using silent = await rawService(hang);
    await assert.rejects(
      createClient({ url: silent.url, key, ...time }).health(),
      /UnreachableError: .*it took longer than timeoutMs/,
    );
  });

  it('includes the response body in the time limit', async () => {
    const time = virtualTime();
    await using service = await rawService((response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write('{"status":');
    });
    const client = createClient({
      url: service.url,
      ...time,
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        setImmediate(() => time.runOut()); // The head has arrived, and the body is pending.
        return response;
      },
    });
    await assert.rejects(client.health(), /it took longer/);
  });

  it('ends at once when its signal aborts, while it is sent and while it waits', async () => {
    const reason = new Error('enough');
    const atServer = new AbortController();
    await using service = await rawService(() => atServer.abort(reason));
    const client = createClient({ url: service.url, key, ...virtualTime() });
    await assert.rejects(client.publish(event, { signal: atServer.signal }), reason);
    await assert.rejects(client.publish(event, { signal: atServer.signal }), reason);
    assert.equal(service.seen.length, 1);
    // Waits indefinitely between two tries.
    await using busy = await rawService(problem(503, 'overloaded'));
    const whileWaiting = new AbortController();
    const patient = createClient({
      url: busy.url,
      signal: whileWaiting.signal,
      sleep: async (ms) => {
        if (ms < 1_000) whileWaiting.abort(reason);
        return new Promise(() => undefined);
      },
    });
    await assert.rejects(patient.publish(event), reason);
    assert.equal(busy.seen.length, 1);
  });

  it('does not wait for a very long Retry-After, and reports it', async () => {
    const date = 'Sat, 31 Jan 2026 13:00:00 GMT';
    await using service = await rawService(problem(503, 'overloaded', { 'retry-after': date }));
    const client = createClient({ url: service.url, key, ...virtualTime() });
    await assert.rejects(
      client.publish(event),
      (error) => error instanceof RingbackError && error.retryAfterS === 3_600,
    );
    assert.equal(service.seen.length, 1);
  });

  it('publishes once if the response is lost', async () => {
    await using service = await start();
    const lose: Behave = async (response, { method, path, headers, body }) => {
      const answer = await service.call({
        method,
        path,
        body,
        headers: {
          'content-type': 'application/json',
          'idempotency-key': String(headers['idempotency-key']),
        },
      });
      if (proxy.seen.length === 1) response.destroy();
      else response.writeHead(answer.status).end(answer.text);
    };
    await using proxy = await rawService(lose);
    const client = createClient({ url: proxy.url, key: service.key, ...virtualTime() });
    const { eventId } = await client.publish(event);
    assert.equal(proxy.seen.length, 2);
    const direct = createClient({ url: service.url, key: service.key });
    const ids = (await Array.fromAsync(direct.events.list())).map(({ id }) => id);
    assert.deepEqual(ids, [eventId]);
  });
});

describe('a response', () => {
  it('that is a refusal becomes an error with all its details', async () => {
    for (const status of [401, 403, 404, 409, 422]) {
      await using service = await rawService(problem(status, 'some_code'));
      const client = createClient({ url: service.url, key, ...virtualTime() });
      await assert.rejects(client.events.get('evt_1'), (error) => {
        assert(error instanceof RingbackError);
        assert.equal(
          error.message,
          `Cannot GET /events/evt_1: the service responded ${status} some_code: made up some_code`,
        );
        const { code, detail, requestId, problem: whole } = error;
        assert.deepEqual(
          { status: error.status, code, detail, requestId, title: whole?.title },
          {
            status,
            code: 'some_code',
            detail: 'made up some_code',
            requestId: 'req_1',
            title: 'some_code',
          },
        );
        return true;
      });
      assert.equal(service.seen.length, 1);
    }
  });

  it('that is not from Ringback is quoted in part, without the key', async () => {
    const page =
      (status: number): Behave =>
      (response) =>
        void response
          .writeHead(status, { 'x-request-id': 'req_9' })
          .end(`<h1>${key}</h1>${'x'.repeat(5_000)}`);
    for (const status of [200, 404, 500]) {
      await using service = await rawService(page(status));
      const client = createClient({ url: service.url, key, ...virtualTime() });
      await assert.rejects(client.stats(), (error) => {
        assert(error instanceof RingbackError);
        assert.equal(error.status, status);
        assert.equal(error.code, 'unreadable_answer');
        assert.equal(error.requestId, 'req_9');
        assert.match(error.message, /<h1>\*\*\*<\/h1>/);
        assert.ok(error.message.length < 400);
        return true;
      });
    }
    for (const text of ['', 'null', '[]', '"x"', '{"items":']) {
      await using service = await rawService((response) => void response.end(text));
      const client = createClient({ url: service.url, ...virtualTime() });
      await assert.rejects(client.stats(), /expected a JSON object/);
    }
  });

  it('that does not end is aborted', async () => {
    let pieces = 0;
    const piece = new Uint8Array(4 * 1024 * 1024).fill(32);
    const endless = new ReadableStream({
      pull: (controller) => {
        pieces += 1;
        controller.enqueue(piece);
      },
    });
    const fetchEndless = async (): Promise<Response> => new Response(endless);
    const client = createClient({
      url: 'http://127.0.0.1:1',
      ...virtualTime(),
      fetch: fetchEndless,
    });
    await assert.rejects(
      client.stats(),
      (error) => error instanceof RingbackError && /longer than 67108864 bytes/.test(error.message),
    );
    assert.ok(pieces < 20);
  });

  it('that redirects is not followed, so that the key is not sent elsewhere', async () => {
    await using elsewhere = await rawService(json(200, {}));
    for (const status of [301, 302, 303, 307, 308]) {
      await using service = await rawService(
        (response) =>
          void response.writeHead(status, { location: `${elsewhere.url}/x?key=${key}` }).end(),
      );
      const client = createClient({ url: service.url, key, ...virtualTime() });
      await assert.rejects(client.publish(event), (error) => {
        assert(error instanceof RingbackError);
        assert.equal(error.code, 'redirected');
        assert.ok(
          error.message.includes(`the server redirects to "${elsewhere.url}/x"`),
          error.message,
        );
        assert.ok(!error.message.includes(key));
        return true;
      });
    }
    assert.equal(elsewhere.seen.length, 0);
  });
});

describe('an error', () => {
  it('never contains the key, wherever a response repeats it', async () => {
    const echo = { type: key, title: key, status: 400, code: `no_${key}`, detail: `x ${key}` };
    const errors = [{ field: `/${key}`, message: key }];
    const whole = { ...echo, requestId: key, errors, [key]: { [key]: [key] } };
    const hidden = JSON.stringify(whole).replaceAll('rbk_', '\\u0072bk_');
    for (const text of [JSON.stringify(whole), hidden, key, '']) {
      for (const status of [200, 400]) {
        await using service = await rawService(
          (response) => void response.writeHead(status, { 'x-request-id': key }).end(text),
        );
        const client = createClient({ url: service.url, key, ...virtualTime() });
        await assert.rejects(client.stats(), (error) => {
          assert(error instanceof RingbackError);
          assert.doesNotMatch(inspect(error, { depth: 9 }), new RegExp(key));
          return true;
        });
      }
    }
  });

  it('never contains the key, even if an error of fetch does', async () => {
    const client = createClient({
      url: 'http://127.0.0.1:1',
      key,
      ...virtualTime(),
      fetch: async () => {
        throw new TypeError('failed', { cause: new Error(`header x-api-key: ${key}`) });
      },
    });
    await assert.rejects(client.health(), (error) => {
      assert(error instanceof UnreachableError);
      assert.match(error.message, /failed: header x-api-key: \*\*\*$/);
      assert.equal(error.cause, undefined);
      return true;
    });
  });
});
