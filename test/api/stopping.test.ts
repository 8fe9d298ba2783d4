// How the service stops: requests in progress are answered, and none can delay the stop indefinitely.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { limits } from '../../src/core/limits/limits.ts';
import { sleepyWorld, type Nap, type SleepyWorld } from '../engine/sleepy-world.ts';
import { start, type Running } from './harness.ts';
import { startRequest } from './request-in-progress.ts';

/** Starts to stop the service; the nap is the timer of its time limit. */
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
  it('answers the request in progress, closes its connection, and waits for nothing else', async () => {
    const sleepy = sleepyWorld();
    const service = await start({ world: sleepy.world });
    await service.call({ path: '/healthz' }); // Leaves an idle keep-alive connection.
    const request = await startRequest(service.url, service.key);
    const { stopped } = await stop(service, sleepy);
    const answer = await request.finish();
    assert.match(answer, /^HTTP\/1\.1 201 /);
    assert.match(answer, /^connection: close\r$/im);
    await stopped; // The timer was not fired, so the stop did not depend on the time limit.
  });

  it('gives up on a request that does not end', async () => {
    const sleepy = sleepyWorld();
    const service = await start({ world: sleepy.world });
    const request = await startRequest(service.url, service.key);
    const { stopped, nap } = await stop(service, sleepy);
    nap.wake();
    await request.closed;
    await stopped;
  });
});
