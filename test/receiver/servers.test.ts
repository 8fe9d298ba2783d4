// Real callbacks of a real Ringback, received by the library in real web frameworks.
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
        // The server starts before the secret is known, as in practice. `tapped` records the headers.
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

        // Replayed by an eavesdropper: unchanged, with another body, unsigned.
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

/** The headers of the callback, without those of the connection. */
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

/** Sends these bytes; returns the response. */
async function sendRaw(url: string, bytes: string | Uint8Array): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  await once(socket, 'connect');
  socket.write(bytes);
  return text(socket);
}

/** More than the system's buffers hold. */
const enoughBytes = 64 * 1024 * 1024;

/** Sends an unsigned request without end; returns the response, and the bytes sent until it was closed. */
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
    it(`refuses headers that are repeated on the wire (${name})`, async () => {
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

  it('answers an endless body on node:http with 413, and closes the connection', async () => {
    const receiver = createReceiver({
      secret: own.secret,
      now: () => nowS * 1000,
      bodyBytesMax: 1_000,
      report: () => undefined,
    });
    const listener = receiver.node(() => assert.fail('never called'));
    await using server = await listening(createServer(listener).listen(0, '127.0.0.1'));
    const lines = Object.entries(headers).map(([key, value]) => `${key}: ${value}\r\n`);
    const chunk = `3e9\r\n${'x'.repeat(1_001)}\r\n`; // Without a final chunk.
    const answer = await sendRaw(
      server.url,
      `POST / HTTP/1.1\r\nhost: x\r\n${lines.join('')}transfer-encoding: chunked\r\n\r\n${chunk}`,
    );
    assert.match(answer, /^HTTP\/1\.1 413 /);
    assert.match(answer, /connection: close/i);
  });

  for (const [name, listen] of Object.entries(servers)) {
    // Express reads the whole body before its parser fails; Hono closes by itself, after 64 MiB.
    if (name === 'Express with express.raw' || name === 'Hono') continue;
    it(`stops reading an endless body (${name})`, async () => {
      const receiver = createReceiver({ secret: own.secret, report: () => undefined });
      await using server = await listen(receiver, () => assert.fail('never called'));
      const { answer, bytes } = await sendForEver(server.url);
      assert.match(answer, /^(HTTP\/1\.1 4(01|13) |$)/);
      assert.ok(bytes < enoughBytes, `${bytes} bytes were read`);
    });
  }

  it('keeps the connection open when it refuses a body that was read completely', async () => {
    const receiver = createReceiver({ secret: own.secret, report: () => undefined });
    const listener = receiver.node(() => assert.fail('never called'));
    await using server = await listening(createServer(listener).listen(0, '127.0.0.1'));
    const one = 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n';
    const answer = await sendRaw(server.url, `${one}\r\n{}${one}connection: close\r\n\r\n{}`);
    assert.equal(answer.match(/HTTP\/1\.1 401 /g)?.length, 2);
  });

  it('explains what to do if Express has parsed the body', async () => {
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

  it('explains what to do if Express has consumed the body', async () => {
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
