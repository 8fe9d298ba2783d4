// The dispatcher's poll timer at the edge of a millisecond: a delivery that becomes due just while
// the timer is restarted must not wait for the next poll.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Dispatcher } from '../../src/engine/deliver/dispatcher.ts';
import type { Worker } from '../../src/store/port/delivery-verbs.ts';
import { sleepyWorld, type SleepyWorld } from './sleepy-world.ts';

interface Idle extends SleepyWorld {
  dispatcher: Dispatcher;
  worker: Worker;
  works: () => number;
}

/** A dispatcher that has found nothing to claim, and sleeps until the next poll. */
async function idleDispatcher(): Promise<Idle> {
  const sleepy = sleepyWorld();
  let works = 0;
  let worker: Worker | undefined;
  const dispatcher = new Dispatcher({
    world: sleepy.world,
    store: {
      pollMs: 10_000,
      isShared: false,
      handOut: (body) => body(),
      work: () => void (works += 1),
      attach: (given) => void (worker = given),
      settle: async () => ({ kind: 'settled' }),
    },
    self: { no: () => 1, mayWork: () => true },
    deliver: async () => Promise.reject(new Error('Nothing is delivered here.')),
    onGone: () => undefined,
    onOverdue: async () => undefined,
    onMoved: () => undefined,
    onError: assert.ifError,
  });
  assert(worker);
  assert(worker.claim());
  worker.worked(
    {
      claimed: [],
      fannedOut: { deliveries: [], isMore: false },
      readyMs: undefined,
    },
    { claim: true, fanOut: true },
  );
  await sleepy.nextNap();
  return { ...sleepy, dispatcher, worker, works: () => works };
}

describe('the poll timer of Dispatcher', () => {
  it('asks for deliveries that become due during a restart', async () => {
    const { dispatcher, worker, works, clock, nextNap } = await idleDispatcher();
    const before = works();
    worker.take([], { readyMs: clock.ms + 1, isFanningOut: false });
    assert.equal(works(), before, 'it is not due yet');
    clock.ms += 1; // Before the timer has fired.
    await nextNap();
    assert.equal(works(), before + 1);
    await dispatcher.stop(() => 0);
  });

  it('fires when the first delivery is due, or at the next poll', async () => {
    const { dispatcher, worker, clock, nextNap } = await idleDispatcher();
    const waits: number[] = [];
    for (const dueInMs of [20_000, 9_000, 1]) {
      worker.take([], { readyMs: clock.ms + dueInMs, isFanningOut: false });
      if (dueInMs < 10_000) waits.push((await nextNap()).ms);
    }
    assert.deepEqual(waits, [9_000, 1]);
    await dispatcher.stop(() => 0);
  });
});
