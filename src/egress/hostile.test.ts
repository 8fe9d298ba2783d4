import assert from 'node:assert/strict';
import { createServer as createHttpServer } from 'node:http';
import type { Server, Socket } from 'node:net';
import { after, describe, it } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { behaviours, type Expected } from '../../test/egress/receiver-behaviours.ts';
import { neverAccept, neverListen } from '../../test/egress/unreachable-receivers.ts';
import {
  answering,
  makeSender,
  ok,
  post,
  startReceiver,
  stopReceivers,
} from '../../test/egress/receiver.ts';
import {
  makeCertificates,
  secureBehaviours,
  shownBy,
  trusted,
} from '../../test/egress/tls-behaviours.ts';
import { limits } from '../core/limits/limits.ts';
import type { SenderOptions } from './http/send.ts';

/** For receivers that run into the deadline; all others get more time than they can need. */
const timeoutMs = 1_000;
const plentyMs = 60_000;
/**
 * A request that ignores its deadline never ends, so the margin need not be tight on a busy
 * machine.
 */
const marginMs = 10_000;

after(stopReceivers);

/** Sends one request, and checks the deadline, bounded memory and that nothing is left behind. */
async function meet(
  serve: (socket: Socket) => void,
  expected: Expected,
  parts: { server?: Server; sender?: Partial<SenderOptions>; name?: string } = {},
): Promise<void> {
  const receiver = await startReceiver(serve, parts.server);
  const sender = makeSender(parts.sender);
  const scheme = parts.name === undefined ? 'http' : 'https';
  const host = parts.name ?? 'hooks.example.com';
  const url = `${scheme}://${host}:${receiver.port}/`;
  const patienceMs = expected.is === 'timeout' ? timeoutMs : plentyMs;
  const result = await inTime(async () => sender.send(post(url, { timeoutMs: patienceMs })));
  switch (result.kind) {
    case 'answered':
      assert.equal(`${result.status} ${result.cut ? 'cut' : 'whole'}`, expected.is);
      assert(result.body.length <= limits.responseBytesMax);
      if (expected.body !== undefined) {
        assert.equal(Buffer.from(result.body).toString(), expected.body);
      }
      break;
    case 'failed':
      assert.equal(result.error, expected.is, result.message);
      assert.match(result.message, expected.message ?? /./);
      assert(result.message.includes(host), result.message);
      assert.doesNotMatch(result.message, /127\.0\.0\.1|:\d{4}|\n|Error/);
      break;
    case 'aborted':
    case 'not_started':
      assert.fail(JSON.stringify(result));
  }
  // A connection whose response was not read to its end is closed at once.
  if (!expected.is.endsWith('whole')) {
    await receiver.empty();
    assert.deepEqual(sender.count(), { sending: 0, origins: 0, open: 0, idle: 0 });
  }
  await sender.close();
  await receiver.empty();
  if (parts.name === undefined) assert.equal(receiver.seen.requests, expected.requests ?? 1);
  await receiver.stop();
}

/** Checks the deadline plus margin, relative to a timer that is as late as this machine is busy. */
async function inTime<T>(send: () => Promise<T>): Promise<T> {
  const startMs = performance.now();
  const due = Promise.withResolvers<number>();
  const timer = setTimeout(() => due.resolve(performance.now() - startMs), timeoutMs);
  const result = await send();
  const tookMs = performance.now() - startMs;
  // A timer that has not fired yet is even later.
  const dueMs = tookMs < timeoutMs ? timeoutMs : await due.promise;
  clearTimeout(timer);
  assert(tookMs < dueMs + marginMs, `it took ${tookMs} ms, the timer ${dueMs} ms`);
  return result;
}

describe('send to a receiver on http that', { concurrency: 8 }, () => {
  for (const behaviour of behaviours) {
    it(behaviour.does, async () => meet(behaviour.serve, behaviour));
  }

  for (const status of [301, 302, 303, 307, 308]) {
    it(`redirects to another server with ${status}, which is never followed`, async () => {
      const target = await startReceiver(answering(ok()));
      const location = `HTTP/1.1 ${status} Go\r\nlocation: ${target.url}\r\ncontent-length: 0\r\n\r\n`;
      await meet(answering(location), { is: `${status} whole` });
      assert.equal(target.seen.accepted, 0);
    });
  }

  it('never accepts', async () => {
    await using deaf = await neverAccept(1);
    const sender = makeSender();
    const url = `http://127.0.0.1:${deaf.ports[0]}/`;
    const result = await inTime(async () => sender.send(post(url, { timeoutMs })));
    assert(result.kind === 'failed');
    assert.equal(result.error, 'timeout');
    assert.match(result.message, /Could not connect/);
    await sender.close();
  });

  it('does not listen', async () => {
    await using absent = await neverListen(1);
    const sender = makeSender();
    const url = `http://hooks.example.com:${absent.ports[0]}/`;
    assert.deepEqual(await sender.send(post(url)), {
      kind: 'failed',
      error: 'refused',
      message: 'hooks.example.com refused the connection',
    });
    await sender.close();
  });

  it('responds normally, with node:http', async () => {
    const server = createHttpServer((_request, response) => response.end('fine'));
    await meet(() => undefined, { is: '200 whole', body: 'fine' }, { server });
  });
});

describe('send to a receiver on https that', { concurrency: 8 }, () => {
  const name = 'hooks.example.com';
  const certificates = makeCertificates(name);

  for (const behaviour of secureBehaviours) {
    it(behaviour.does, async () => {
      const { shows, serve } = behaviour;
      const sender = { tls: { ca: trusted(certificates) } };
      const server = shows && createTlsServer(shownBy(certificates, shows));
      await meet(serve, behaviour, { sender, name, ...(server === undefined ? {} : { server }) });
    });
  }
});
