// The one-second rule, versions and polling: changes by one node, as seen by another that is not
// notified.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { noControls } from '../../src/core/domain/controls.ts';
import type { Leased } from '../../src/core/domain/delivery.ts';
import { limits } from '../../src/core/limits/limits.ts';
import type { Context } from '../../src/engine/context.ts';
import { Dispatcher, type Start } from '../../src/engine/deliver/dispatcher.ts';
import { changeSubscription, unsubscribe } from '../../src/engine/subscribe/subscriptions.ts';
import { noChoice } from '../../src/core/domain/read-controls.ts';
import { createTargetCache } from '../../src/engine/targets/target-cache.ts';
import type { Delivery, Target, Worker } from '../../src/store/port/delivery-verbs.ts';
import {
  apiContext,
  clusterPollMs,
  openDatabase,
  publishOne,
  startEngine,
  type Engine,
  type FakeSend,
  type Sqlite,
} from './harness.ts';
import { ok, quickNetwork, slowNetwork } from './network.ts';
import { virtualWorld, type VirtualWorld } from './virtual-world.ts';

interface Stage extends AsyncDisposable {
  world: VirtualWorld;
  engine: Engine;
  /** Another node, which changes subscriptions without notifying the first. */
  other: Context;
  /** How many reads of targets were requested. */
  targetReads: () => number;
  state: (event: string) => Promise<Pick<Delivery, 'state' | 'attempts'>>;
}

async function stage(send: FakeSend, world = virtualWorld(), isShared = true): Promise<Stage> {
  const database = openDatabase();
  let reads = 0;
  const counting: Sqlite = {
    ...database,
    read: (call) => {
      if (call.verb === 'targets') reads += 1;
      return database.read(call);
    },
  };
  const engine = await startEngine(world, counting, send, { isShared });
  return {
    world,
    engine,
    other: apiContext(engine, database),
    targetReads: () => reads,
    state: async (event) => {
      const found = await engine.context.store.read('delivery', { appNo: 1, event, n: 0 });
      assert(found, 'the delivery is there');
      return { state: found.state, attempts: found.attempts };
    },
    [Symbol.asyncDispose]: async () => engine[Symbol.asyncDispose](),
  };
}

async function set(
  other: Context,
  id: string,
  change: { state?: 'active' | 'paused'; url?: string },
) {
  const { state, url } = change;
  const callbacks = url === undefined ? [] : [{ position: 0, url, events: undefined }];
  await changeSubscription(other, other.defaultApp, {
    id,
    change: { state, callbacks, choice: noChoice },
  });
}

describe('an attempt', () => {
  it('starts after a freeze only after reading its target again', async () => {
    const network = slowNetwork(async () => ok);
    await using on = await stage(network.send);
    await on.engine.subscribe();
    const event = await on.engine.publish();
    await on.world.settle();
    const before = on.targetReads();
    on.world.freeze(10_000);
    network.open(); // The attempt declines this connection.
    await on.world.settle();
    assert.deepEqual(network.starts, []);
    assert.equal(on.targetReads(), before + 1);
    network.open();
    await on.world.settle();
    assert.equal(network.starts.length, 1);
    assert.deepEqual(await on.state(event), { state: 'delivered', attempts: 1 });
  });

  it('does not start after a freeze if another node has ended the subscription', async () => {
    const network = slowNetwork(async () => ok);
    await using on = await stage(network.send);
    const id = await on.engine.subscribe();
    const event = await on.engine.publish();
    await on.world.settle();
    await unsubscribe(on.other, on.other.defaultApp, id);
    on.world.freeze(10_000);
    network.open();
    await on.world.settle();
    assert.equal(network.connecting(), 0, 'it asked before it looked for another connection');
    assert.deepEqual(network.starts, []);
    assert.deepEqual(await on.state(event), { state: 'cancelled', attempts: 0 });
  });

  it('does not start after a suspension if another node has ended the subscription', async () => {
    const network = slowNetwork(async () => ok);
    await using on = await stage(network.send);
    const id = await on.engine.subscribe();
    const event = await on.engine.publish();
    await on.world.settle();
    await unsubscribe(on.other, on.other.defaultApp, id);
    on.world.suspend(10_000);
    network.open();
    await on.world.settle();
    assert.equal(network.connecting(), 0, 'it asked before it looked for another connection');
    assert.deepEqual(network.starts, []);
    assert.deepEqual(await on.state(event), { state: 'cancelled', attempts: 0 });
  });

  it('does not start after a suspension that follows a wall clock set back', async () => {
    const network = slowNetwork(async () => ok);
    await using on = await stage(network.send);
    const id = await on.engine.subscribe();
    await on.engine.publish();
    await on.world.settle();
    on.world.suspend(-3_600_000);
    await on.world.pass(limits.confirmKeepMs);
    await unsubscribe(on.other, on.other.defaultApp, id);
    on.world.suspend(10_000);
    network.open();
    await on.world.settle();
    assert.deepEqual(network.starts, []);
  });

  it('starts when the wall clock is set forward, after reading its target again', async () => {
    const network = slowNetwork(async () => ok);
    await using on = await stage(network.send);
    await on.engine.subscribe();
    const event = await on.engine.publish();
    await on.world.settle();
    const before = on.targetReads();
    on.world.suspend(10_000);
    network.open();
    await on.world.settle();
    network.open();
    await on.world.settle();
    assert.equal(on.targetReads(), before + 1);
    assert.equal(network.starts.length, 1);
    assert.deepEqual(await on.state(event), { state: 'delivered', attempts: 1 });
  });

  it('does not start after a freeze if another node has paused it, but starts when resumed', async () => {
    const network = slowNetwork(async () => ok);
    await using on = await stage(network.send);
    const id = await on.engine.subscribe();
    const event = await on.engine.publish();
    await on.world.settle();
    await set(on.other, id, { state: 'paused' });
    on.world.freeze(10_000);
    network.open();
    await on.world.pass(60_000);
    assert.deepEqual([network.starts, network.connecting()], [[], 0]);
    assert.deepEqual(await on.state(event), { state: 'due', attempts: 0 });
    await set(on.other, id, { state: 'active' });
    await on.world.pass(clusterPollMs);
    network.open();
    await on.world.settle();
    assert.deepEqual(await on.state(event), { state: 'delivered', attempts: 1 });
  });

  it('waits for a slow connection without a second one: its confirmation is renewed in time', async () => {
    const world = virtualWorld();
    const network = slowNetwork(async () => {
      await world.sleep(9_000);
      return ok;
    });
    await using on = await stage(network.send, world);
    await on.engine.subscribe();
    const event = await on.engine.publish();
    await world.pass(4_700);
    network.open();
    await world.settle();
    assert.deepEqual([network.starts.length, network.connecting()], [1, 0]);
    const reads = on.targetReads();
    await world.pass(9_000);
    assert.equal(on.targetReads(), reads, 'a started attempt needs no confirmation');
    assert.deepEqual(await on.state(event), { state: 'delivered', attempts: 1 });
  });

  it('shares a read with all attempts that wait for one callback', async () => {
    const network = slowNetwork(async () => ok);
    await using on = await stage(network.send);
    await on.engine.subscribe();
    for (let count = 0; count < 8; count += 1) await on.engine.publish();
    await on.world.settle();
    const before = on.targetReads();
    await on.world.pass(4 * limits.confirmKeepMs);
    assert.equal(on.targetReads(), before + 4);
    network.open();
    await on.world.settle();
    assert.equal(network.starts.length, 8);
  });

  it('does not start a second after another node has ended the subscription', async () => {
    const network = slowNetwork(async () => ok);
    await using on = await stage(network.send);
    const id = await on.engine.subscribe();
    const event = await on.engine.publish();
    await on.world.pass(2_300);
    await unsubscribe(on.other, on.other.defaultApp, id);
    await on.world.pass(limits.confirmedMs);
    network.open();
    await on.world.settle();
    assert.deepEqual(network.starts, []);
    assert.deepEqual(await on.state(event), { state: 'cancelled', attempts: 0 });
  });

  it('is released after some tries, due again soon, with none counted', async () => {
    const world = virtualWorld();
    let isSlow = true;
    let tries = 0;
    // Whenever a connection is ready, the process is frozen for two seconds.
    const send: FakeSend = async (_request, { onStart } = {}) => {
      tries += 1;
      if (isSlow) world.freeze(2_000);
      return onStart?.() === false ? { kind: 'not_started', reason: 'declined' } : ok;
    };
    await using on = await stage(send, world);
    await on.engine.subscribe();
    const event = await on.engine.publish();
    await world.settle();
    assert.equal(tries, limits.confirmTriesMax);
    assert.deepEqual(await on.state(event), { state: 'due', attempts: 0 });
    isSlow = false;
    await world.pass(limits.unconfirmedWaitMs + clusterPollMs);
    assert.deepEqual(await on.state(event), { state: 'delivered', attempts: 1 });
    assert.deepEqual(on.engine.errors, []);
  });

  it('needs no confirmation in a single process: the gate there is exact', async () => {
    const network = slowNetwork(async () => ok);
    await using on = await stage(network.send, virtualWorld(), false);
    await on.engine.subscribe();
    await on.engine.publish();
    await on.world.settle();
    const before = on.targetReads();
    on.world.freeze(10_000);
    network.open();
    await on.world.settle();
    assert.deepEqual([network.starts.length, on.targetReads()], [1, before]);
  });

  it('does not start if it was leased before a pause and looks for its target after it', async () => {
    const { starts, send } = quickNetwork(async () => ok);
    await using on = await stage(send, virtualWorld(), false);
    const id = (await on.engine.subscribe()).slice(4);
    const { context } = on.engine;
    const { store } = context;
    const { version } = (await store.read('subscription', { appNo: 1, id })) ?? assert.fail('none');
    const event = context.newId();
    const payload = Buffer.from('{"message":""}');
    const events = [{ id: event, name: 'a', payload }];
    const audience = { kind: 'everyone' } as const;
    const publish = { appNo: 1, contract: 'Ringback', events, audience, idempotency: undefined };
    const pause = { appNo: 1, id, version, state: 'paused', urls: [], secrets: undefined } as const;
    // While the first edit is written the other two accumulate: they go in one batch.
    await Promise.all([
      store.edit('touchKeys', { ids: [] }),
      store.edit('publish', publish),
      store.edit('editSubscription', pause).then(() => context.changed(id, 'paused')),
    ]);
    await on.world.pass(60_000);
    assert.deepEqual([starts, (await on.state(event)).state], [[], 'due']);
  });
});

describe('Dispatcher', () => {
  it('confirms a delivery from the time of the request to the store, not of its response', async () => {
    const world = virtualWorld();
    const workers: Worker[] = [];
    const starts: Start[] = [];
    const dispatcher = new Dispatcher({
      world,
      store: {
        pollMs: 60_000,
        isShared: false,
        handOut: (body) => body(),
        attach: (worker) => void workers.push(worker),
        work: () => undefined,
        settle: async () => ({ kind: 'settled' }),
      },
      self: { no: () => 1, mayWork: () => true },
      deliver: async ({ event, n, lease }, start) => {
        starts.push(start);
        return { event, n, lease, outcome: { kind: 'delivered' }, attempt: undefined };
      },
      onGone: () => undefined,
      onOverdue: async () => undefined,
      onMoved: () => undefined,
      onError: assert.ifError,
    });
    const [worker] = workers;
    assert(worker);
    const payload = new Uint8Array();
    const name = { event: 'e', n: 0, eventName: 'e', payload, appNo: 1, lane: 1, callback: 1 };
    const counts = { version: 1, concurrency: undefined, tries: 0, attempts: 0, trace: undefined };
    const leased = (lease = 0): Leased => ({ ...name, ...counts, lease });
    await world.pass(100);
    const offer = worker.offer();
    await world.pass(100);
    const claim = worker.claim();
    await world.pass(100);
    const fanOut = worker.fanOut();
    world.freeze(5_000);
    const deliveries = [leased(fanOut?.lease)];
    const fannedOut = { deliveries, isMore: false };
    const claimed = [leased(claim?.lease)];
    const asked = { claim: true, fanOut: true };
    worker.worked({ claimed, fannedOut, readyMs: undefined }, asked);
    worker.take([leased(offer?.lease)], { readyMs: undefined, isFanningOut: false });
    worker.take([leased(12_345)], { readyMs: undefined, isFanningOut: false });
    assert.deepEqual(
      starts.map(({ confirmedMs }) => confirmedMs),
      [200, 300, 100, -Infinity],
      'an unknown lease confirms nothing',
    );
    await dispatcher.stop(() => 0);
  });
});

describe('a change made on another node', () => {
  it('reaches this node with the next lease', async () => {
    const { starts, send } = quickNetwork(async () => ok);
    await using on = await stage(send);
    const id = await on.engine.subscribe('http://127.0.0.1:9000/old');
    await on.engine.publish();
    await on.world.settle();
    await set(on.other, id, { url: 'http://127.0.0.1:9000/new' });
    await on.engine.publish();
    await on.world.settle();
    assert.deepEqual(starts, ['http://127.0.0.1:9000/old', 'http://127.0.0.1:9000/new']);
    const reads = on.targetReads();
    await on.engine.publish();
    await on.world.settle();
    assert.equal(on.targetReads(), reads, 'it is cached');
  });

  it('keeps a subscription whose old receiver answers 410', async () => {
    const changes: (() => Promise<void>)[] = [];
    const { starts, send } = quickNetwork(async (url) => {
      await changes.shift()?.();
      return url.endsWith('/old') ? { ...ok, status: 410 } : ok;
    });
    await using on = await stage(send);
    const id = await on.engine.subscribe('http://127.0.0.1:9000/old');
    changes.push(async () => set(on.other, id, { url: 'http://127.0.0.1:9000/new' }));
    const event = await on.engine.publish();
    await on.world.pass(clusterPollMs);
    assert.deepEqual(starts, ['http://127.0.0.1:9000/old', 'http://127.0.0.1:9000/new']);
    assert.deepEqual(await on.state(event), { state: 'delivered', attempts: 2 });
  });
});

describe('createTargetCache', () => {
  function versioned(versions: number[]): {
    store: { read: () => Promise<readonly Target[]> };
    left: number[];
  } {
    const read = async (): Promise<readonly Target[]> => {
      const version = versions.shift() ?? assert.fail('unexpected read');
      const none = { lane: 1, appNo: 1, appId: '', contract: '', operation: '', definition: '' };
      const sealed = { secrets: new Uint8Array(), headers: undefined };
      const rest = { method: 'POST', url: '', ...sealed, controls: noControls };
      return [{ callback: 1, version, isActive: true, subscription: 's', ...none, ...rest }];
    };
    return { store: { read }, left: versions };
  }

  it('reads targets again that are older than the lease, and none that are newer', async () => {
    const { store, left } = versioned([3, 7]);
    const cache = createTargetCache({ store, world: virtualWorld() });
    assert.equal((await cache.find(1, 3))?.version, 3);
    assert.equal((await cache.find(1, 2))?.version, 3);
    assert.equal((await cache.find(1, 4))?.version, 7);
    assert.equal((await cache.find(1, 7))?.version, 7);
    assert.deepEqual(left, []);
  });

  it('repeats a read that began too early', async () => {
    const { store } = versioned([3, 4]);
    const cache = createTargetCache({ store, world: virtualWorld() });
    const found = await Promise.all([cache.find(1, 3), cache.find(1, 4)]);
    assert.deepEqual(
      found.map((target) => target?.version),
      [3, 4],
    );
  });

  it('throws if the store returns an older version than the lease', async () => {
    const { store } = versioned([3, 3]);
    const cache = createTargetCache({ store, world: virtualWorld() });
    await assert.rejects(cache.find(1, 4), /reads version 3, the lease is of 4/);
  });
});

describe('polling', () => {
  it('finds within a poll what another node made ready without a notification', async () => {
    const { starts, send } = quickNetwork(async () => ok);
    await using on = await stage(send);
    await on.engine.subscribe();
    await on.world.pass(60_000);
    const event = await publishOne(on.other);
    await on.world.settle();
    assert.deepEqual([starts.length, (await on.state(event)).state], [0, 'due']);
    await on.world.pass(clusterPollMs);
    assert.deepEqual([starts.length, (await on.state(event)).state], [1, 'delivered']);
  });

  it('finds a fan-out that another node began', async () => {
    const { starts, send } = quickNetwork(async () => ok);
    await using on = await stage(send);
    const many = limits.targetsAtOnceMax + 10;
    for (let count = 0; count < many; count += 1) await on.engine.subscribe();
    await on.world.pass(60_000);
    await publishOne(on.other);
    await on.world.pass(4 * clusterPollMs); // No heartbeat in between could have revealed it.
    assert.equal(starts.length, many);
  });

  it('polls a store with a single node only every ten seconds', async () => {
    const world = virtualWorld();
    const database = openDatabase();
    let works = 0;
    const counting: Sqlite = {
      ...database,
      work: (work) => {
        works += 1;
        return database.work(work);
      },
    };
    const { send } = quickNetwork(async () => ok);
    await using engine = await startEngine(world, counting, send);
    await world.pass(10_000);
    works = 0;
    await world.pass(100_000);
    assert.equal(works, 10);
    assert.deepEqual(engine.errors, []);
  });
});
