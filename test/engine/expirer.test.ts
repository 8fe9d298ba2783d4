// Subscriptions that expire, in a world where time passes as the test says.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { noControls } from '../../src/core/domain/controls.ts';
import { limits } from '../../src/core/limits/limits.ts';
import { Expirer } from '../../src/engine/upkeep/expirer.ts';
import { memoryStore } from '../store/migrated-memory.ts';
import { StoreUnavailable, type Store } from '../../src/store/port/store.ts';
import { newApp, newSubscription } from '../store/subject.ts';
import { sleepyWorld, type SleepyWorld } from './sleepy-world.ts';

interface Stage extends AsyncDisposable, SleepyWorld {
  store: Store;
  ended: string[];
  errors: unknown[];
  faults: { edits: boolean };
  start: (isShared?: boolean) => Expirer;
  /** Subscribes until then; returns the bare id. */
  until: (ms: number | undefined) => Promise<string>;
}

async function stage(): Promise<Stage> {
  const sleepy = sleepyWorld();
  const { world, clock } = sleepy;
  const inner = memoryStore({ world, onFatal: (error) => assert.fail(error) });
  const faults = { edits: false };
  const store: Store = {
    ...inner,
    edit: async (verb, input) => {
      if (faults.edits) throw new StoreUnavailable('away');
      return inner.edit(verb, input);
    },
  };
  const app = await newApp(store);
  const ended: string[] = [];
  const errors: unknown[] = [];
  let expirer: Expirer | undefined;
  return {
    ...sleepy,
    store,
    ended,
    errors,
    faults,
    start: (isShared = false) => {
      expirer = new Expirer({
        store: { ...store, isShared },
        world,
        onExpired: ({ id }) => ended.push(id),
        onError: (error) => errors.push(error),
      });
      return expirer;
    },
    until: async (ms) => {
      const expiresMs = ms === undefined ? undefined : clock.ms + ms;
      const subscription = newSubscription(app, { controls: { ...noControls, expiresMs } });
      await store.edit('subscribe', { subscription, idempotency: undefined });
      return subscription.id;
    },
    [Symbol.asyncDispose]: async () => {
      await expirer?.[Symbol.asyncDispose]();
      await inner.close();
    },
  };
}

describe('Expirer', () => {
  it('ends each subscription at its time, and sleeps until then', async () => {
    await using on = await stage();
    const [late, soon] = [await on.until(30_000), await on.until(10_000)];
    await on.until(undefined);
    on.start();
    const first = await on.nextNap();
    assert.equal(first.ms, 10_000);
    on.clock.ms += 9_999;
    first.wake(); // Too early, by some clock.
    const second = await on.nextNap();
    assert.deepEqual([second.ms, on.ended], [1, []]);
    on.clock.ms += 1;
    second.wake();
    const third = await on.nextNap();
    assert.deepEqual([third.ms, on.ended], [20_000, [soon]]);
    on.clock.ms += 20_000;
    third.wake();
    const last = await on.nextNap();
    assert.deepEqual([last.ms, on.ended], [limits.retentionEveryMs, [soon, late]]);
  });

  it('is woken by an earlier expiry time, and not by any other', async () => {
    await using on = await stage();
    await on.until(10_000);
    const expirer = on.start();
    await on.nextNap();
    const id = await on.until(500);
    expirer.expires(on.clock.ms + 20_000);
    expirer.expires(on.clock.ms + 500);
    const nap = await on.nextNap();
    assert.equal(nap.ms, 500);
    on.clock.ms += 500;
    nap.wake();
    await on.nextNap();
    assert.deepEqual(on.ended, [id]);
  });

  it('misses no expiry time that is announced during a look', async () => {
    await using on = await stage();
    const expirer = on.start();
    const told = on.until(500).then(() => expirer.expires(on.clock.ms + 500));
    await told;
    let nap = await on.nextNap();
    if (nap.ms !== 500) nap = await on.nextNap();
    assert.equal(nap.ms, 500);
  });

  it('ends many in steps, without a rest', async () => {
    await using on = await stage();
    const ids = await Promise.all(
      Array.from({ length: 2 * limits.expiringMax + 1 }, async () => on.until(1)),
    );
    on.clock.ms += 1;
    on.start();
    await on.nextNap();
    assert.deepEqual(on.ended.toSorted(), ids.toSorted());
  });

  it('looks for subscriptions of other nodes, if there are any', async () => {
    await using on = await stage();
    on.start(true);
    assert.equal((await on.nextNap()).ms, limits.expiryPollMs);
  });

  it('goes on after a failure of the store', async () => {
    await using on = await stage();
    const id = await on.until(1);
    on.clock.ms += 1;
    on.faults.edits = true;
    on.start();
    const nap = await on.nextNap();
    assert.equal(nap.ms, limits.expiryAgainMs);
    assert.ok(on.errors[0] instanceof StoreUnavailable);
    on.faults.edits = false;
    nap.wake();
    await on.nextNap();
    assert.deepEqual(on.ended, [id]);
  });
});
