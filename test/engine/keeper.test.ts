// The keeper in a world where a minute lasts as long as the test says.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { idMaker } from '../../src/core/id.ts';
import { limits } from '../../src/core/limits.ts';
import type { World } from '../../src/core/world.ts';
import { createApp } from '../../src/engine/apps.ts';
import { Keeper } from '../../src/engine/keeper.ts';
import { openEmbedded } from '../../src/store/open.ts';
import { StoreUnavailable, type Store } from '../../src/store/store.ts';
import { sleepyWorld } from './sleepy-world.ts';

interface Stage {
  store: Store;
  /** How many rows each step deleted. */
  steps: number[];
  faults: { edits: boolean };
  /** Subscribes this many times, each with an idempotency key of its own. */
  remember: (count: number) => Promise<void>;
}

async function stage(world: World): Promise<Stage> {
  const inner = await openEmbedded({
    dataDir: ':memory:',
    world,
    onFatal: (error) => assert.fail(error),
  });
  const steps: number[] = [];
  const faults = { edits: false };
  const newId = idMaker(world);
  const { app } = await createApp({ world, store: inner, newId }, 'app');
  return {
    steps,
    faults,
    store: {
      ...inner,
      edit: async (verb, input) => {
        if (faults.edits) throw new StoreUnavailable('away');
        const output = await inner.edit(verb, input);
        if ('deleted' in output) steps.push(output.deleted);
        return output;
      },
    },
    remember: async (count) => {
      await Promise.all(
        Array.from({ length: count }, async () =>
          inner.edit('subscribe', {
            subscription: {
              id: newId(),
              appNo: app.no,
              contract: 'c',
              operation: 'o',
              callbacks: [],
              secrets: world.randomBytes(40),
            },
            idempotency: { key: world.randomBytes(16), print: world.randomBytes(32) },
          }),
        ),
      );
    },
  };
}

describe('Keeper', () => {
  it('deletes what is past its time in small steps, then rests for a minute', async () => {
    const { world, clock, nextNap } = sleepyWorld();
    const { store, steps, remember } = await stage(world);
    await remember(2 * limits.keeperRowsMax + 7);
    clock.ms += limits.idempotencyKeepMs + 1;
    await remember(3);
    const keeper = new Keeper({ store, world, onError: (error) => assert.fail(String(error)) });
    assert.equal((await nextNap()).ms, limits.keeperEveryMs);
    assert.deepEqual(steps, [limits.keeperRowsMax, limits.keeperRowsMax, 7]);
    await keeper[Symbol.asyncDispose]();
    await store.close();
  });

  it('keeps what is not past its time, to the millisecond, and comes back for it', async () => {
    const { world, clock, nextNap } = sleepyWorld();
    const { store, steps, remember } = await stage(world);
    await remember(5);
    clock.ms += limits.idempotencyKeepMs;
    const keeper = new Keeper({ store, world, onError: (error) => assert.fail(String(error)) });
    const nap = await nextNap();
    assert.deepEqual(steps, [0]);
    clock.ms += 1;
    nap.wake();
    await nextNap();
    assert.deepEqual(steps, [0, 5]);
    await keeper[Symbol.asyncDispose]();
    await store.close();
  });

  it('tells of a failure of the store, and goes on after its rest', async () => {
    const { world, clock, nextNap } = sleepyWorld();
    const { store, steps, faults, remember } = await stage(world);
    await remember(5);
    clock.ms += limits.idempotencyKeepMs + 1;
    const errors: unknown[] = [];
    faults.edits = true;
    const keeper = new Keeper({ store, world, onError: (error) => void errors.push(error) });
    const first = await nextNap();
    first.wake();
    const second = await nextNap();
    assert.equal(errors.length, 2, 'once for each try, and it rests in between');
    assert.ok(errors[0] instanceof StoreUnavailable);
    faults.edits = false;
    second.wake();
    await nextNap();
    assert.deepEqual(steps, [5]);
    await keeper[Symbol.asyncDispose]();
    await store.close();
  });

  it('stops in the middle of its rest', async () => {
    const { world, nextNap } = sleepyWorld();
    const { store, steps } = await stage(world);
    const keeper = new Keeper({ store, world, onError: (error) => assert.fail(String(error)) });
    await nextNap();
    await keeper[Symbol.asyncDispose]();
    assert.deepEqual(steps, [0]);
    await store.close();
  });

  it('finishes the step under way before it has stopped', async () => {
    const { world } = sleepyWorld();
    const { store } = await stage(world);
    const asked = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const slow: Store = {
      ...store,
      edit: async (verb, input) => {
        asked.resolve();
        await gate.promise;
        return store.edit(verb, input);
      },
    };
    let hasStopped = false;
    const keeper = new Keeper({
      store: slow,
      world,
      onError: (error) => assert.fail(String(error)),
    });
    await asked.promise;
    const stopping = keeper[Symbol.asyncDispose]().then(() => {
      hasStopped = true;
    });
    await store.read('health', {});
    assert.equal(hasStopped, false);
    gate.resolve();
    await stopping;
    await store.close();
  });
});
