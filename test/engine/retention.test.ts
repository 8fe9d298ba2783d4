// Retention in a world where a minute lasts as long as the test says.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { idMaker, withoutPrefix } from '../../src/core/base/id.ts';
import { limits } from '../../src/core/limits/limits.ts';
import type { World } from '../../src/core/base/world.ts';
import { createApp } from '../../src/engine/access/apps.ts';
import { memoryStore } from '../store/migrated-memory.ts';
import { Retention, type RetentionCounts } from '../../src/engine/upkeep/retention.ts';
import { StoreUnavailable, type Store } from '../../src/store/port/store.ts';
import { openDatabase, retentionMs, startEngine, type Engine, type FakeSend } from './harness.ts';
import { sleepyWorld } from './sleepy-world.ts';
import { virtualWorld } from './virtual-world.ts';

interface Stage {
  store: Store;
  /** How many rows each step deleted. */
  steps: number[];
  faults: { edits: boolean };
  /** Subscribes this many times, each with its own idempotency key. */
  remember: (count: number) => Promise<void>;
  /** Publishes this many events without subscribers. */
  publish: (count: number) => Promise<void>;
}

type Deps = ConstructorParameters<typeof Retention>[0];

/** Retention that must not fail, unless the test says otherwise. */
function keep(deps: Pick<Deps, 'store' | 'world'> & Partial<Deps>): Retention {
  return new Retention({
    retentionMs,
    auditRetentionMs: retentionMs,
    finals: [],
    onFinal: () => undefined,
    onError: (error) => assert.fail(String(error)),
    onRetained: () => undefined,
    onEnded: () => undefined,
    ...deps,
  });
}

async function stage(world: World): Promise<Stage> {
  const inner = memoryStore({ world, onFatal: (error) => assert.fail(error) });
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
        if (verb === 'forget' && 'deleted' in output) steps.push(output.deleted);
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
    publish: async (count) => {
      const payload = Buffer.from('1');
      const events = Array.from({ length: count }, () => ({ id: newId(), name: 'a', payload }));
      await inner.edit('publish', {
        appNo: app.no,
        contract: 'c',
        events,
        audience: { kind: 'everyone' },
        idempotency: undefined,
      });
    },
  };
}

describe('Retention', () => {
  it('deletes expired rows in small steps, then rests for a minute', async () => {
    const { world, clock, nextNap } = sleepyWorld();
    const { store, steps, remember } = await stage(world);
    await remember(2 * limits.retentionRowsMax + 7);
    clock.ms += limits.idempotencyKeepMs + 1;
    await remember(3);
    const retention = keep({ store, world });
    assert.equal((await nextNap()).ms, limits.retentionEveryMs);
    assert.deepEqual(steps, [limits.retentionRowsMax, limits.retentionRowsMax, 7]);
    await retention[Symbol.asyncDispose]();
    await store.close();
  });

  it('keeps rows that are not expired, to the millisecond, and returns for them', async () => {
    const { world, clock, nextNap } = sleepyWorld();
    const { store, steps, remember } = await stage(world);
    await remember(5);
    clock.ms += limits.idempotencyKeepMs;
    const retention = keep({ store, world });
    const nap = await nextNap();
    assert.deepEqual(steps, [0]);
    clock.ms += 1;
    nap.wake();
    await nextNap();
    assert.deepEqual(steps, [0, 5]);
    await retention[Symbol.asyncDispose]();
    await store.close();
  });

  it('reports a failure of the store, and goes on after its rest', async () => {
    const { world, clock, nextNap } = sleepyWorld();
    const { store, steps, faults, remember } = await stage(world);
    await remember(5);
    clock.ms += limits.idempotencyKeepMs + 1;
    const errors: unknown[] = [];
    faults.edits = true;
    const retention = keep({ store, world, onError: (error) => void errors.push(error) });
    const first = await nextNap();
    first.wake();
    const second = await nextNap();
    assert.equal(errors.length, 2, 'once for each try, and it rests in between');
    assert.ok(errors[0] instanceof StoreUnavailable);
    faults.edits = false;
    second.wake();
    await nextNap();
    assert.deepEqual(steps, [5]);
    await retention[Symbol.asyncDispose]();
    await store.close();
  });

  it('sweeps in between for subscriptions that ended on other nodes, if there are any', async () => {
    const { world, nextNap } = sleepyWorld();
    const { store, steps } = await stage(world);
    let sweeps = 0;
    const edit: Store['edit'] = async (verb, input) => {
      if (verb === 'sweep') sweeps += 1;
      return store.edit(verb, input);
    };
    const retention = keep({ store: { ...store, edit, isShared: true }, world });
    const times = limits.retentionEveryMs / limits.sweepEveryMs;
    for (let i = 1; i <= times; i += 1) {
      const nap = await nextNap();
      assert.deepEqual([nap.ms, sweeps], [limits.sweepEveryMs, i]);
      assert.deepEqual(steps, [0], 'everything else waits for its minute');
      nap.wake();
    }
    await nextNap();
    assert.deepEqual(steps, [0, 0]);
    await retention[Symbol.asyncDispose]();
    await store.close();
  });

  it('stops during its rest', async () => {
    const { world, nextNap } = sleepyWorld();
    const { store, steps } = await stage(world);
    const retention = keep({ store, world });
    await nextNap();
    await retention[Symbol.asyncDispose]();
    assert.deepEqual(steps, [0]);
    await store.close();
  });

  it('finishes the current step before it stops', async () => {
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
    const retention = keep({ store: slow, world });
    await asked.promise;
    const stopping = retention[Symbol.asyncDispose]().then(() => {
      hasStopped = true;
    });
    await store.read('health', {});
    assert.equal(hasStopped, false);
    gate.resolve();
    await stopping;
    await store.close();
  });

  it('deletes rows past the retention, to the millisecond, and reports how many at the end', async () => {
    const { world, clock, nextNap } = sleepyWorld();
    const { store, publish } = await stage(world);
    await publish(limits.retentionRowsMax + 7);
    clock.ms += 1;
    await publish(3);
    clock.ms += retentionMs;
    const told: RetentionCounts[] = [];
    const retention = keep({ store, world, onRetained: (retained) => void told.push(retained) });
    const nap = await nextNap();
    assert.equal(nap.ms, limits.retentionEveryMs);
    assert.deepEqual(told, [{ expired: 0, deleted: limits.retentionRowsMax + 7 }]);
    nap.wake();
    (await nextNap()).wake();
    assert.equal(told.length, 1, 'and nothing when there was nothing');
    await nextNap();
    clock.ms += 1;
    await retention[Symbol.asyncDispose]();
    await store.close();
  });

  it('rests after each step for as long as it took, even if woken', async () => {
    const { world, clock, nextNap } = sleepyWorld();
    const { store, publish } = await stage(world);
    await publish(2 * limits.retentionRowsMax + 7);
    clock.ms += retentionMs + 1;
    let steps = 0;
    const slow = slowed(store, () => {
      clock.ms += 40;
      steps += 1;
    });
    const retention = keep({ store: slow, world });
    for (let step = 0; step < 2; step += 1) {
      const nap = await nextNap();
      assert.equal(nap.ms, 40);
      retention.wake();
      nap.wake();
    }
    assert.equal((await nextNap()).ms, limits.retentionEveryMs);
    assert.equal(steps, 4, 'three of them were needed, and one looks why it was woken');
    await retention[Symbol.asyncDispose]();
    await store.close();
  });

  it('reports every minute during a long round, and when it is stopped', async () => {
    const { world, clock, nextNap } = sleepyWorld();
    const { store, publish } = await stage(world);
    for (let step = 0; step < 6; step += 1) await publish(limits.retentionRowsMax);
    clock.ms += retentionMs + 1;
    const told: RetentionCounts[] = [];
    const retention = keep({
      store: slowed(store, () => (clock.ms += limits.retentionEveryMs / 2)),
      world,
      onRetained: (retained) => void told.push(retained),
    });
    for (let step = 0; step < 4; step += 1) (await nextNap()).wake();
    await nextNap();
    assert.deepEqual(
      told.map(({ deleted }) => deleted / limits.retentionRowsMax),
      [2, 2],
    );
    await retention[Symbol.asyncDispose]();
    assert.deepEqual(told[2], { expired: 0, deleted: limits.retentionRowsMax });
    await store.close();
  });
});

/** A store in which a step of the retention takes time. */
function slowed(store: Store, pass: () => void): Store {
  return {
    ...store,
    edit: async (verb, input) => {
      if (verb === 'retain') pass();
      return store.edit(verb, input);
    },
  };
}

describe('the retention of an engine', () => {
  const answer: FakeSend = async (_request, options) => {
    if (options?.onStart?.() === false) return { kind: 'not_started', reason: 'declined' };
    return { kind: 'answered', status: 200, headers: [], body: new Uint8Array(), cut: false };
  };
  const pause = async ({ context: { store, defaultApp } }: Engine, id: string): Promise<void> => {
    const appNo = defaultApp.no;
    const bare = withoutPrefix('sub', id) ?? '';
    const found = await store.read('subscription', { appNo, id: bare });
    const input = { appNo, id: bare, version: found?.version ?? 0, urls: [], secrets: undefined };
    const output = await store.edit('editSubscription', { ...input, state: 'paused' });
    assert.equal(output.kind, 'edited');
  };

  it('ends deliveries that are pending beyond the retention as expired, and reports it', async () => {
    const world = virtualWorld();
    const database = openDatabase();
    {
      await using engine = await startEngine(world, database, answer);
      await pause(engine, await engine.subscribe());
      await engine.subscribe();
      await engine.publish();
      await world.settle();
    }
    const startMs = world.nowMs() + retentionMs - 60_000;
    const later = virtualWorld({ startMs, seed: 2 });
    await using engine = await startEngine(later, database, answer);
    const { store } = engine.context;
    await later.pass(30_000);
    const young = await engine.publish();
    await later.settle();
    assert.deepEqual(engine.retained, []);
    const before = { due: 2, running: 0, delivered: 2, dead: 0, cancelled: 0 };
    assert.deepEqual({ ...(await store.read('tally', {})) }, before);
    await later.pass(120_000);
    // The event, two deliveries, and an attempt.
    assert.deepEqual(engine.retained, [{ expired: 1, deleted: 4 }]);
    const after = { due: 1, running: 0, delivered: 1, dead: 0, cancelled: 0 };
    assert.deepEqual({ ...(await store.read('tally', {})) }, after);
    const appNo = engine.context.defaultApp.no;
    const page = { limit: 9, after: undefined };
    const { items } = await store.read('events', { appNo, page, name: undefined });
    assert.deepEqual(
      items.map(({ id }) => id),
      [young],
    );
    assert.deepEqual(engine.errors, []);
  });
});
