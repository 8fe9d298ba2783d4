// Real callbacks from a real Ringback, through the library in real web frameworks.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import express from 'express';
import {
  createReceiver,
  ForgeryError,
  gone,
  rememberIds,
  type Callback,
  type Gone,
  type Receiver,
} from '../../src/receiver/receiver.ts';
import { start, type Started } from '../api/harness.ts';
import { get, inState, onlyDelivery, publish, subscribe, until } from '../e2e/stage.ts';
import { genuine, hmacSigner, nowS } from './genuine-callbacks.ts';
import { listening, servers } from './servers.ts';

const payload = '{"message":"Grüße, 10 €"}';

describe('callbacks of a real Ringback', () => {
  let service: Started;
  before(async () => {
    service = await start({ env: { RINGBACK_RETRY: '10ms,10ms' } });
  });
  after(async () => service[Symbol.asyncDispose]());

  for (const [name, listen] of Object.entries(servers)) {
    for (const signing of ['hmac', 'ed25519']) {
      it(`signed with ${signing} are received with ${name}`, async () => {
        const handled: Callback[] = [];
        const told: unknown[] = [];
        let failures = 1;
        const handler = (callback: Callback): void | Gone => {
          handled.push(callback);
          if (callback.event === 'leave') return gone();
          if (callback.event === 'fail' && failures-- > 0) throw new Error('not now');
        };
        // The subscription is made before its secret is known, as in real life. Somebody listens.
        let receiver = createReceiver({ secret: hmacSigner(9).secret });
        let heard: Record<string, string> = {};
        const tapped: Receiver = {
          verify: async (callback) => receiver.verify(callback),
          node: (given) => (request, response) => {
            heard = plain(request.headers);
            receiver.node(given)(request, response);
          },
          handle: async (request, given) => {
            heard = plain(Object.fromEntries(request.headers));
            return receiver.handle(request, given);
          },
          answer: async (request, given) => {
            heard = plain({ ...request.headers });
            return receiver.answer(request, given);
          },
        };
        await using server = await listen(tapped, handler);
        const body = { callbackUrl: server.url, 'x-ringback': { signing } };
        const { id, secret } = await subscribe(service, { body });
        assert.match(secret, signing === 'hmac' ? /^whsec_/ : /^whpk_/);
        receiver = createReceiver({ secret, seen: rememberIds(), report: (e) => told.push(e) });

        // Delivered, with its bytes.
        const first = await publish(service, 'order.paid', { payload, subscriberId: id });
        const delivered = await inState(service, await onlyDelivery(service, first), 'delivered');
        const [attempt] = delivered.attempts;
        assert.deepEqual([attempt?.status, attempt?.warning, told], [200, undefined, []]);
        const [one] = handled;
        assert.deepEqual(
          [one?.id, one?.event, one?.subscription, one?.attempt, one?.text()],
          [first.eventId, 'order.paid', id, 1, payload],
        );

        // Sent once more by somebody who has heard it: as it was, with another body, unsigned.
        const send = async (headers: Record<string, string>, sent: string): Promise<number> => {
          const answer = await fetch(server.url, { method: 'POST', headers, body: sent });
          assert.equal(await answer.text(), '');
          return answer.status;
        };
        const genuineHeaders = heard;
        assert.equal(await send(genuineHeaders, payload), 200);
        assert.equal(await send(genuineHeaders, payload.replace('10', '99')), 401);
        assert.equal(await send({ 'content-type': 'application/json' }, payload), 401);
        assert.equal(handled.length, 1, 'none of them reached the handler');
        assert.deepEqual(
          told.map((error) => error instanceof ForgeryError && error.code),
          ['signature_wrong', 'header_missing'],
        );

        // A failure is tried again.
        const failed = await onlyDelivery(
          service,
          await publish(service, 'fail', { subscriberId: id }),
        );
        const { attempts } = await inState(service, failed, 'delivered');
        assert.deepEqual(
          attempts.map(({ status }) => status),
          [500, 200],
        );
        assert.match(String(told[2]), /not now/);

        // 410 ends the subscription.
        await publish(service, 'leave', { subscriberId: id });
        await until(
          async () => get<{ state: string }>(service, `/subscriptions/${id}`),
          ({ state }) => state === 'ended',
        );
        assert.deepEqual(
          handled.map(({ event }) => event),
          ['order.paid', 'fail', 'fail', 'leave'],
        );
      });
    }
  }
});

/** What is said of the callback, without what is said of the connection. */
function plain(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  const names = Object.keys(headers).filter((name) => /^(webhook|ringback|content)-/.test(name));
  const kept = names.filter((name) => name !== 'content-length');
  return Object.fromEntries(kept.map((name) => [name, String(headers[name])]));
}

const own = hmacSigner(1);
const given = genuine(own);
const headers = Object.fromEntries(
  Object.entries(given.headers).map(([key, value]) => [key, String(value)]),
);
const sendGenuine = async (url: string, body: Uint8Array = given.body): Promise<number> =>
  (await fetch(url, { method: 'POST', headers, body: Uint8Array.from(body) })).status;

/** What one request of these bytes is answered with. */
async function sendRaw(url: string, bytes: string | Uint8Array): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  await once(socket, 'connect');
  socket.write(bytes);
  return text(socket);
}

/** More than what the system's buffers take on their own. */
const enoughBytes = 64 * 1024 * 1024;

/** A request with no signature and no end: what came back, and what was taken until it was closed. */
async function sendForEver(url: string): Promise<{ answer: string; bytes: number }> {
  const { port, pathname } = new URL(url);
  const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined);
  let [answer, bytes] = ['', 0];
  socket.on('data', (piece) => (answer += piece.toString()));
  socket.write(
    `POST ${pathname} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n` +
      'transfer-encoding: chunked\r\n\r\n',
  );
  const chunk = Buffer.from(`10000\r\n${'x'.repeat(0x1_00_00)}\r\n`);
  const more = (): void => {
    if (bytes >= enoughBytes) socket.destroy();
    else socket.write(chunk, taken);
  };
  const taken = (error?: Error | null): void => {
    if (error) return;
    bytes += chunk.length;
    more();
  };
  more();
  await new Promise((resolve) => socket.on('close', resolve));
  return { answer, bytes };
}

describe('a server with the library', () => {
  for (const [name, listen] of Object.entries(servers)) {
    it(`refuses headers that come twice on the wire (${name})`, async () => {
      const receiver = createReceiver({
        secret: own.secret,
        now: () => nowS * 1000,
        report: () => undefined,
      });
      let calls = 0;
      await using server = await listen(receiver, () => void (calls += 1));
      const lines = Object.entries(headers).map(([key, value]) => `${key}: ${value}\r\n`);
      const answerTo = async (more: string): Promise<string> => {
        const head = `POST /callbacks HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${lines.join('')}`;
        const size = `content-length: ${given.body.length}\r\n\r\n`;
        const request = Buffer.concat([Buffer.from(head + more + size), given.body]);
        return (await sendRaw(server.url, request)).split('\r\n')[0] ?? '';
      };
      assert.match(await answerTo(''), / 200 /);
      for (const header of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
        assert.match(await answerTo(`${header}: ${headers[header]}\r\n`), / 401 /);
        assert.match(await answerTo(`${header.toUpperCase()}: x\r\n`), / 401 /);
      }
      assert.equal(calls, 1);
    });
  }

  it('answers 413 on node:http to a body that never ends, and closes the connection', async () => {
    const receiver = createReceiver({
      secret: own.secret,
      now: () => nowS * 1000,
      bodyBytesMax: 1_000,
      report: () => undefined,
    });
    const listener = receiver.node(() => assert.fail('never called'));
    await using server = await listening(createServer(listener).listen(0, '127.0.0.1'));
    const lines = Object.entries(headers).map(([key, value]) => `${key}: ${value}\r\n`);
    const chunk = `3e9\r\n${'x'.repeat(1_001)}\r\n`; // And no last one.
    const answer = await sendRaw(
      server.url,
      `POST / HTTP/1.1\r\nhost: x\r\n${lines.join('')}transfer-encoding: chunked\r\n\r\n${chunk}`,
    );
    assert.match(answer, /^HTTP\/1\.1 413 /);
    assert.match(answer, /connection: close/i);
  });

  for (const [name, listen] of Object.entries(servers)) {
    // Express reads all before it says that its parser failed; Hono closes by itself, after 64 MiB.
    if (name === 'Express with express.raw' || name === 'Hono') continue;
    it(`does not listen to a body without end (${name})`, async () => {
      const receiver = createReceiver({ secret: own.secret, report: () => undefined });
      await using server = await listen(receiver, () => assert.fail('never called'));
      const { answer, bytes } = await sendForEver(server.url);
      assert.match(answer, /^(HTTP\/1\.1 4(01|13) |$)/);
      assert.ok(bytes < enoughBytes, `${bytes} bytes were taken`);
    });
  }

  it('keeps the connection when it refuses a body that is here', async () => {
    const receiver = createReceiver({ secret: own.secret, report: () => undefined });
    const listener = receiver.node(() => assert.fail('never called'));
    await using server = await listening(createServer(listener).listen(0, '127.0.0.1'));
    const one = 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n';
    const answer = await sendRaw(server.url, `${one}\r\n{}${one}connection: close\r\n\r\n{}`);
    assert.equal(answer.match(/HTTP\/1\.1 401 /g)?.length, 2);
  });

  it('tells an Express that has parsed the body what to do', async () => {
    const told: unknown[] = [];
    const receiver = createReceiver({
      secret: own.secret,
      now: () => nowS * 1000,
      report: (error) => told.push(error),
    });
    const app = express();
    app.use(express.json());
    app.post(
      '/callbacks',
      receiver.node(() => assert.fail('never called')),
    );
    await using server = await listening(app.listen(0, '127.0.0.1'));
    assert.equal(await sendGenuine(server.url), 500);
    assert.match(String(told), /already parsed: it is of type object.*express\.raw/);
  });

  it('tells an Express that has read the body away what to do', async () => {
    const told: unknown[] = [];
    const receiver = createReceiver({
      secret: own.secret,
      now: () => nowS * 1000,
      report: (error) => told.push(error),
    });
    const app = express();
    app.use(async (request, _response, next) => {
      await text(request);
      next();
    });
    app.post(
      '/callbacks',
      receiver.node(() => assert.fail('never called')),
    );
    await using server = await listening(app.listen(0, '127.0.0.1'));
    assert.equal(await sendGenuine(server.url), 500);
    assert.match(String(told), /was already read/);
  });
});
