// How the service stops: what is under way is answered, and nobody can hold it up for ever.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { limits } from '../../src/core/limits.ts';
import { sleepyWorld, type Nap, type SleepyWorld } from '../engine/sleepy-world.ts';
import { start, type Running } from './harness.ts';

const body = '{"callbackUrl":"http://127.0.0.1:9000/"}';

interface UnderWay {
  /** Sends the rest; resolves with the whole answer when the service has closed the connection. */
  finish: () => Promise<string>;
  closed: Promise<void>;
}

/** A request without its body. `100 Continue` proves that the service has begun with it. */
async function startRequest({ url, key }: Running): Promise<UnderWay> {
  const { hostname, port, host } = new URL(url);
  const head = [
    'POST /subscribe HTTP/1.1',
    `Host: ${host}`,
    `X-API-Key: ${key}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    'Expect: 100-continue',
  ];
  const socket = connect(Number(port), hostname);
  let text = '';
  const continued = Promise.withResolvers<void>();
  const closed = new Promise<void>((resolve) => {
    socket.on('error', () => undefined); // A reset is an end too.
    socket.on('close', () => resolve());
  });
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString();
    if (text.startsWith('HTTP/1.1 100 ')) continued.resolve();
  });
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  await continued.promise;
  return {
    finish: async () => {
      text = '';
      socket.write(body);
      await closed;
      return text;
    },
    closed,
  };
}

/** Begins to stop; the sleep is the one that limits how long that may take. */
async function stop(
  service: Running,
  { nextNap, passOver }: SleepyWorld,
): Promise<{ stopped: Promise<void>; nap: Nap }> {
  passOver();
  const stopped = Promise.resolve(service[Symbol.asyncDispose]());
  let nap = await nextNap();
  while (nap.ms !== limits.stopTimeoutMs) nap = await nextNap();
  return { stopped, nap };
}

describe('a stop', () => {
  it('answers the request under way, closes its connection, and waits for nothing else', async () => {
    const sleepy = sleepyWorld();
    const service = await start({ world: sleepy.world });
    await service.call({ path: '/healthz' }); // Leaves a connection that is kept alive.
    const request = await startRequest(service);
    const { stopped } = await stop(service, sleepy);
    const answer = await request.finish();
    assert.match(answer, /^HTTP\/1\.1 201 /);
    assert.match(answer, /^connection: close\r$/im);
    await stopped; // Nobody woke the sleeper: the time limit had no part in it.
  });

  it('gives up on a request that does not end', async () => {
    const sleepy = sleepyWorld();
    const service = await start({ world: sleepy.world });
    const request = await startRequest(service);
    const { stopped, nap } = await stop(service, sleepy);
    nap.wake();
    await request.closed;
    await stopped;
  });
});
