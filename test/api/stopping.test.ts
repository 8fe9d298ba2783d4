// How the service stops: what is under way is answered, and nobody can hold it up for ever.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { limits } from '../../src/core/limits/limits.ts';
import { sleepyWorld, type Nap, type SleepyWorld } from '../engine/sleepy-world.ts';
import { start, type Running } from './harness.ts';
import { startRequest } from './request-in-progress.ts';

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
    const request = await startRequest(service.url, service.key);
    const { stopped } = await stop(service, sleepy);
    const answer = await request.finish();
    assert.match(answer, /^HTTP\/1\.1 201 /);
    assert.match(answer, /^connection: close\r$/im);
    await stopped; // Nobody woke the sleeper: the time limit had no part in it.
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
