// The rules of exchanges through the gateway, over real sockets: one row for each.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { limits } from '../../src/core/limits/limits.ts';
import { newFolder } from '../cli/ringback-process.ts';
import { movableWorld } from '../e2e/movable-world.ts';
import { receive } from '../e2e/receiver.ts';
import { get, until } from '../e2e/stage.ts';
import { sleepyWorld } from '../engine/sleepy-world.ts';
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
} from './printing.ts';
import { bodyOf, headOf, sendRaw, valuesOf, type Gateway, type Script } from './stage.ts';

const job = { copies: 1, callbackUrl };
const json = 'Content-Type: application/json';

function raw(lines: readonly string[], body: string): Script {
  return (_request, socket) => socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`, 'latin1');
}

interface AnswerRow {
  says: string;
  lines: readonly string[];
  body: string;
  /** The subject if it is registered; null: it is registered without one. */
  subject?: string | null;
}

/** Answers of the API to an operation with callbacks. */
const answers: AnswerRow[] = [
  {
    says: 'a head in any spelling, with repeated and unusual headers',
    lines: [
      'HTTP/1.1 201 Made It',
      'x-B: \xe9',
      'content-TYPE: application/json; charset=utf-8',
      'Set-Cookie: a=1',
      'set-cookie: b=2',
      'Content-Length: 16',
    ],
    body: '{"jobId": "one"}',
    subject: 'one',
  },
  {
    says: 'chunks with trailers',
    lines: ['HTTP/1.1 201 Created', json, 'Trailer: X-Sum', 'Transfer-Encoding: chunked'],
    body: 'f\r\n{"jobId":"two"}\r\n0\r\nX-Sum: 1\r\n\r\n',
    subject: 'two',
  },
  {
    says: 'a body that is no JSON',
    lines: ['HTTP/1.1 201 Created', 'Content-Type: text/plain', 'Content-Length: 4'],
    body: '\x00\xff\r\n',
    subject: null,
  },
  {
    says: 'no body',
    lines: ['HTTP/1.1 201 Created', 'Content-Length: 0'],
    body: '',
    subject: null,
  },
  {
    says: 'a status with a body that is not declared',
    lines: ['HTTP/1.1 200 OK', json, 'Content-Length: 14'],
    body: '{"jobId":"no"}',
  },
  ...['204 No Content', '304 Not Modified'].map((status) => ({
    says: `${status}, which is not declared`,
    lines: [`HTTP/1.1 ${status}`, 'ETag: "1"'],
    body: '',
  })),
  ...['303 See Other', '400 Bad Request', '401 Who', '404 Not Found', '500 Broken'].map(
    (status) => ({
      says: `${status}, which is no acceptance`,
      lines: [`HTTP/1.1 ${status}`, json, 'Retry-After: 3', 'Location: /x', 'Content-Length: 14'],
      body: '{"jobId":"no"}',
    }),
  ),
];

const registrations: {
  says: string;
  text: string;
  script: Script;
  subject: string;
  days: number;
}[] = [
  {
    says: 'what x-ringback-subject names, for as long as x-ringback-expires says',
    text: post('/reports', { ...job, order: 'order_9' }),
    script: raw(['HTTP/1.1 206 Partly', 'Content-Length: 0'], ''),
    subject: 'order_9',
    days: 7,
  },
  {
    says: 'what a link of the response names',
    text: post('/things', job),
    script: raw(['HTTP/1.1 200 OK', json, 'Content-Length: 21'], '{"made":{"key":"k1"}}'),
    subject: 'k1',
    days: 30,
  },
  {
    says: 'what the path below the operation names',
    text: post('/jobs', job),
    script: raw(['HTTP/1.1 201 Created', json, 'Content-Length: 14'], '{"jobId":"j1"}'),
    subject: 'j1',
    days: 30,
  },
  {
    says: 'the same, if the path is spelled in another way',
    text: post('/%6Aobs/?x=1', job),
    script: raw(['HTTP/1.1 201 Created', json, 'Content-Length: 14'], '{"jobId":"j2"}'),
    subject: 'j2',
    days: 30,
  },
];

describe('an exchange through the gateway', () => {
  let gateway: Gateway;
  before(async () => {
    gateway = await startPrinting();
  });
  after(async () => gateway[Symbol.asyncDispose]());

  for (const { says, lines, body, subject } of answers) {
    it(`leaves the answer as it is, but for one header: ${says}`, async () => {
      const { answer, id } = await answeredBy(gateway, raw(lines, body), () =>
        send(gateway, post('/jobs', job)),
      );
      const isAdded = (line: string): boolean => line.startsWith('Ringback-');
      const head = headOf(answer);
      assert.deepEqual(
        head.filter((line) => !isAdded(line)),
        lines,
      );
      assert.equal(bodyOf(answer), body);
      const { state, endReason, subject: about } = await subscription(gateway, id);
      const isRegistered = subject !== undefined;
      const added = isRegistered ? [`Ringback-Subscription: ${id}`] : [];
      assert.deepEqual(head.filter(isAdded), added);
      const expected = isRegistered ? ['active', undefined] : ['ended', 'refused'];
      assert.deepEqual([state, endReason], expected);
      if (isRegistered) assert.equal(about, subject ?? id);
    });
  }

  for (const { says, text, script, subject, days } of registrations) {
    it(`is about ${says}`, async () => {
      const { id } = await answeredBy(gateway, script, () => send(gateway, text));
      const found = await subscription(gateway, id);
      assert.deepEqual([found.state, found.subject], ['active', subject]);
      const keptMs = Date.parse(found.expiresAt ?? '') - Date.parse(found.createdAt);
      assert.equal(Math.round(keptMs / 86_400_000), days);
    });
  }

  it('returns early hints before the answer', async () => {
    const hint = 'HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n';
    const script: Script = (request, socket) => {
      socket.write(hint);
      raw(['HTTP/1.1 201 Created', 'Content-Length: 0'], '')(request, socket);
    };
    const { answer, id } = await answeredBy(gateway, script, () =>
      send(gateway, post('/jobs', job)),
    );
    assert.match(answer, /^HTTP\/1\.1 103 .*\r\nLink: [^\r]*\r\n\r\nHTTP\/1\.1 201 Created\r\n/i);
    assert.equal((await subscription(gateway, id)).state, 'active');
  });

  it('does not repeat the header if the API has sent it', async () => {
    const script: Script = (request, socket) => {
      const own = `RINGBACK-subscription: ${namedIn(request)}`;
      raw(['HTTP/1.1 201 Created', own, 'Content-Length: 0'], '')(request, socket);
    };
    const { answer, id } = await answeredBy(gateway, script, () =>
      send(gateway, post('/jobs', job)),
    );
    assert.deepEqual(valuesOf(answer, 'ringback-subscription'), [id]);
  });

  it('may begin with Expect: 100-continue', async () => {
    const { answer, request, id } = await send(
      gateway,
      post('/jobs', job, ['Expect: 100-continue']),
    );
    assert.match(answer, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 Created\r\n/);
    assert.doesNotMatch(request, /expect/i);
    assert.equal((await subscription(gateway, id)).state, 'active');
  });

  it('is refused before the API gets it if the host of a URL that the answer completes is not allowed', async () => {
    const text = post('/orders', { copies: 1, callbackUrl: 'http://10.0.0.1/' });
    const { answer, request } = await send(gateway, text);
    assert.deepEqual(problemIn(answer), [422, 'target_refused']);
    assert.equal(request, '');
  });

  it('is registered only for operations with callbacks, and only their bodies are kept', async () => {
    const known = (await subscriptions(gateway)).length;
    const large = { callbackUrl, more: 'x'.repeat(2 * limits.bodyBytesMax) };
    for (const text of [
      post('/files', large),
      post('/other', large),
      post('/jobs/job_17', large),
      post('/jobs', large).replace('POST', 'PATCH'),
    ]) {
      const { request, id } = await send(gateway, text);
      assert.equal(bodyOf(request).length, JSON.stringify(large).length);
      assert.equal(id, '');
    }
    assert.equal((await subscriptions(gateway)).length, known);
  });

  it('is refused before the API gets it if its body stops', async () => {
    const sleepy = sleepyWorld();
    await using slow = await startPrinting({}, { world: sleepy.world });
    const text = post('/jobs', job).replaceAll('\n', '\r\n');
    const sent = sendRaw(slow.service.url, text.slice(0, -5));
    const progress = { isAnswered: false };
    void sent.finally(() => (progress.isAnswered = true));
    while (!progress.isAnswered) {
      const nap = await Promise.race([sleepy.nextNap(), sent]);
      if (typeof nap === 'string' || nap.ms !== limits.requestTimeoutMs) continue;
      sleepy.clock.ms += nap.ms;
      nap.wake();
      await setImmediate(); // Others sleep as long, and again at once.
    }
    assert.deepEqual(problemIn(await sent), [408, 'request_timeout']);
    assert.deepEqual(slow.api.requests, []);
  });

  it('does not switch protocols', async () => {
    const lines = ['Connection: Upgrade', 'Upgrade: websocket'];
    const { answer, request } = await send(gateway, post('/jobs', job, lines));
    assert.deepEqual(problemIn(answer), [501, 'upgrade_not_supported']);
    assert.equal(request, '');
  });

  it('ends its subscription once a final callback is delivered, and not before', async () => {
    await using receiver = await receive();
    const text = post('/reports', { copies: 1, order: 'order_1', callbackUrl: receiver.url });
    const { id } = await send(gateway, text);
    const publish = async (event: string): Promise<void> => {
      const body = { event, subject: 'order_1', payload: {} };
      const answer = await gateway.service.call({ method: 'POST', path: '/ringback/events', body });
      assert.deepEqual([answer.status, answer.json['deliveries']], [202, 1]);
    };
    await publish('onPage');
    await receiver.answered(1);
    assert.equal((await subscription(gateway, id)).state, 'active');
    await publish('onReport');
    const found = await until(
      async () => subscription(gateway, id),
      ({ state }) => state !== 'active',
    );
    assert.deepEqual([found.state, found.endReason], ['ended', 'final']);
    assert.equal(receiver.requests.length, 2);
    const path = '/ringback/deliveries?subject=order_1';
    const { items } = await get<{ items: unknown[] }>(gateway.service, path);
    assert.equal(items.length, 2);
  });

  it('is not confirmed by an event about a subject of the request, which the API may not have accepted', async () => {
    const seen: Promise<[number, unknown, string]>[] = [];
    const script: Script = (request, socket) => {
      const attempt = async (): Promise<[number, unknown, string]> => {
        const body = { event: 'onPage', subject: 'order_2', payload: {} };
        const path = '/ringback/events';
        const { status, json: shown } = await gateway.service.call({ method: 'POST', path, body });
        const { state } = await subscription(gateway, namedIn(request));
        raw(['HTTP/1.1 403 No', 'Content-Length: 0'], '')(request, socket);
        return [status, shown['deliveries'], state];
      };
      seen.push(attempt());
    };
    const text = post('/reports', { ...job, order: 'order_2' });
    const { id } = await answeredBy(gateway, script, () => send(gateway, text));
    assert.deepEqual(await seen[0], [202, 0, 'unconfirmed']);
    assert.equal((await subscription(gateway, id)).endReason, 'refused');
  });
});

describe('an exchange whose answer is lost', () => {
  const list = async (gateway: Gateway, state: string): Promise<string[]> =>
    (await subscriptions(gateway, `state=${state}`)).map(({ id }) => id);
  const breaking: Script = (_request, socket) => socket.destroy();

  it('is listed as unconfirmed, and confirmed by a request', async () => {
    await using gateway = await startPrinting();
    gateway.api.script = breaking;
    const { answer, id } = await send(gateway, post('/jobs', job));
    assert.deepEqual(problemIn(answer), [502, 'bad_gateway']);
    assert.deepEqual(
      [await list(gateway, 'unconfirmed'), await list(gateway, 'active')],
      [[id], []],
    );
    const path = `/ringback/subscriptions/${id}/confirm`;
    const { status, json: shown } = await gateway.service.call({ method: 'POST', path, body: {} });
    assert.deepEqual([status, shown['state']], [200, 'active']);
    assert.deepEqual(
      [await list(gateway, 'unconfirmed'), await list(gateway, 'active')],
      [[], [id]],
    );
  });

  it('is confirmed by an event whose subject is the id, and gets it', async () => {
    await using gateway = await startPrinting();
    gateway.api.script = breaking;
    const { id } = await send(gateway, post('/jobs', job));
    const body = { event: 'onDone', subject: id, payload: {} };
    const { json: shown } = await gateway.service.call({
      method: 'POST',
      path: '/ringback/events',
      body,
    });
    assert.equal(shown['deliveries'], 1);
    assert.deepEqual(await list(gateway, 'active'), [id]);
  });

  it('stays unconfirmed if the API does not answer in time', async () => {
    const sleepy = sleepyWorld();
    const env = { RINGBACK_UPSTREAM_TIMEOUT: '777ms' };
    await using gateway = await startPrinting(env, { world: sleepy.world });
    const { promise: asked, resolve } = Promise.withResolvers<void>();
    gateway.api.script = () => resolve();
    const sent = send(gateway, post('/jobs', job));
    await asked;
    let nap = await sleepy.nextNap();
    while (nap.ms !== 777) nap = await sleepy.nextNap();
    sleepy.clock.ms += nap.ms;
    nap.wake();
    const { answer, id } = await sent;
    assert.deepEqual(problemIn(answer), [504, 'gateway_timeout']);
    assert.deepEqual(await list(gateway, 'unconfirmed'), [id]);
  });

  it('ends after 24 hours, and says so', async () => {
    await using folder = await newFolder();
    const env = {
      RINGBACK_DATA: folder.path,
      RINGBACK_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
      RINGBACK_API_KEY: 'k'.repeat(40),
    };
    const lose = async (): Promise<string> => {
      await using gateway = await startPrinting(env);
      gateway.api.script = breaking;
      return (await send(gateway, post('/jobs', job))).id;
    };
    const id = await lose();
    const world = movableWorld();
    world.moveOn(limits.confirmWithinMs);
    await using later = await startPrinting(env, { world });
    const found = await until(
      async () => subscription(later, id),
      ({ state }) => state !== 'unconfirmed',
    );
    assert.deepEqual([found.state, found.endReason], ['ended', 'unconfirmed']);
    assert.match(later.service.logged(), /subscription expired/);
  });
});
