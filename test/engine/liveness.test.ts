// Nodes that lose contact, and the recovery of their work: two real engines over one database.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { limits } from '../../src/core/limits/limits.ts';
import { Liveness, type LivenessDeps } from '../../src/engine/cluster/liveness.ts';
import type { Delivery } from '../../src/store/port/delivery-verbs.ts';
import type { EditVerb } from '../../src/store/port/store.ts';
import { clusterPollMs, openDatabase, startEngine, type Engine, type Sqlite } from './harness.ts';
import { ok, quickNetwork, slowNetwork } from './network.ts';
import { virtualWorld, type VirtualWorld } from './virtual-world.ts';

const off = { kind: 'unavailable', message: 'no route to host', trace: '' } as const;

/** A node's path to the database, which can be cut for all verbs or for some. */
function cuttable(sqlite: Sqlite): {
  way: Sqlite;
  cut: (what: 'all' | EditVerb | 'nothing') => void;
  verbs: () => string[];
} {
  let isCut: 'all' | EditVerb | 'nothing' = 'nothing';
  const asked: string[] = [];
  const way: Sqlite = {
    ...sqlite,
    run: (batch) => {
      asked.push(...batch.edits.map(({ verb }) => verb));
      if (isCut === 'all' || batch.edits.some(({ verb }) => verb === isCut)) return off;
      return sqlite.run(batch);
    },
    work: (work) => (isCut === 'all' ? off : sqlite.work(work)),
    read: (call) => (isCut === 'all' ? off : sqlite.read(call)),
  };
  return {
    way,
    cut: (what) => {
      isCut = what;
    },
    verbs: () => asked.splice(0),
  };
}

async function deliveryOf({ context }: Engine, event: string): Promise<Delivery> {
  const found = await context.store.read('delivery', { appNo: 1, event, n: 0 });
  return found ?? assert.fail(`no delivery of ${event}`);
}

const isShared = true;

describe('a node', () => {
  it('is listed while it is alive, and sends a heartbeat every ten seconds', async () => {
    const world = virtualWorld();
    const { way, verbs } = cuttable(openDatabase());
    const { send } = quickNetwork(async () => ok);
    const engine = await startEngine(world, way, send, { node: 'a' });
    const startedMs = world.nowMs();
    verbs();
    await world.pass(2 * limits.heartbeatEveryMs);
    assert.deepEqual(
      verbs().filter((verb) => verb === 'heartbeat' || verb === 'rescue'),
      ['heartbeat', 'heartbeat'],
      'a single node has no other to rescue',
    );
    const { store } = engine.context;
    const [node, ...others] = await store.read('nodes', {});
    assert.deepEqual([node?.name, node?.role, others], ['a', 'all', []]);
    assert.deepEqual([node?.startedMs, node?.seenMs], [startedMs, world.nowMs()]);
    await engine[Symbol.asyncDispose]();
    const next = await startEngine(world, way, send, { isShared });
    assert.equal(
      (await next.context.store.read('nodes', {})).length,
      1,
      'the stopped node is no longer listed',
    );
    await next[Symbol.asyncDispose]();
  });

  it('rescues leases of other nodes every five seconds in a cluster', async () => {
    const world = virtualWorld();
    const { way, verbs } = cuttable(openDatabase());
    const { send } = quickNetwork(async () => ok);
    await using engine = await startEngine(world, way, send, { isShared });
    await world.settle();
    assert.ok(!verbs().includes('rescue'), 'other nodes get time to send a heartbeat');
    await world.pass(20_000);
    const count = (verb: string, all: string[]): number => all.filter((one) => one === verb).length;
    const all = verbs();
    assert.deepEqual([count('heartbeat', all), count('rescue', all)], [2, 3]);
    assert.deepEqual(engine.errors, []);
  });

  it('starts nothing after 25 seconds without a heartbeat, and goes on after the next one', async () => {
    const world = virtualWorld();
    const { way, cut } = cuttable(openDatabase());
    const { starts, send } = quickNetwork(async () => ok);
    await using engine = await startEngine(world, way, send, { isShared });
    await engine.subscribe();
    cut('heartbeat');
    await world.pass(limits.nodeFreshMs);
    await engine.publish();
    await world.settle();
    assert.equal(starts.length, 1, 'it still counts as alive');
    await world.pass(1);
    const event = await engine.publish();
    await world.pass(60_000);
    assert.equal(engine.self.isFresh(), false);
    assert.deepEqual([starts.length, (await deliveryOf(engine, event)).state], [1, 'due']);
    cut('nothing');
    await world.pass(limits.heartbeatAgainMs + clusterPollMs);
    assert.deepEqual([starts.length, (await deliveryOf(engine, event)).state], [2, 'delivered']);
  });

  it('does not start deliveries that it already holds', async () => {
    const world = virtualWorld();
    const { way, cut } = cuttable(openDatabase());
    const { starts, connecting, open, send } = slowNetwork(async () => ok);
    await using engine = await startEngine(world, way, send, { isShared });
    await engine.subscribe();
    const event = await engine.publish();
    await world.settle();
    assert.equal(connecting(), 1);
    cut('heartbeat');
    await world.pass(limits.nodeFreshMs + 1);
    open();
    await world.settle();
    const { state, attempts } = await deliveryOf(engine, event);
    assert.deepEqual([starts, state, attempts], [[], 'due', 0]);
    cut('nothing');
    await world.pass(limits.heartbeatAgainMs + clusterPollMs);
    open();
    await world.settle();
    assert.equal(starts.length, 1);
  });

  it('goes on as before if it is alone, whatever its heartbeat returns', async () => {
    const world = virtualWorld();
    const { way, cut } = cuttable(openDatabase());
    const { starts, send } = quickNetwork(async () => ok);
    await using engine = await startEngine(world, way, send);
    await engine.subscribe();
    cut('heartbeat');
    await world.pass(10 * limits.nodeSilentMs);
    await engine.publish();
    await world.settle();
    assert.equal(starts.length, 1);
    assert.equal(engine.self.isFresh(), false, 'but it reports that its heartbeat is too old');
  });

  it('is ready again at once after its machine was suspended, although it is alone', async () => {
    const world = virtualWorld();
    const { send } = quickNetwork(async () => ok);
    await using engine = await startEngine(world, openDatabase(), send);
    world.suspend(3_600_000);
    assert.equal(engine.self.isFresh(), false);
    await world.settle();
    assert.equal(engine.self.isFresh(), true);
  });

  it('does not declare itself gone after the machine has slept', async () => {
    const world = virtualWorld();
    const { way, verbs } = cuttable(openDatabase());
    const { send } = quickNetwork(async () => ok);
    await using engine = await startEngine(world, way, send, { isShared });
    const before = engine.self.no();
    await world.pass(limits.rescueEveryMs - 1);
    world.suspend(3_600_000);
    verbs();
    await world.pass(1);
    assert.deepEqual(verbs().slice(0, 2), ['heartbeat', 'rescue']);
    await world.pass(60_000);
    assert.equal(engine.self.no(), before);
  });

  it('starts nothing after its machine was suspended, until its next heartbeat', async () => {
    const world = virtualWorld();
    const { way, verbs } = cuttable(openDatabase());
    const { starts, open, send } = slowNetwork(async () => ok);
    await using engine = await startEngine(world, way, send, { isShared });
    await engine.subscribe();
    await engine.publish();
    await world.settle();
    verbs();
    world.suspend(limits.nodeSilentMs);
    open();
    await world.settle();
    assert.deepEqual(starts, []);
    assert.deepEqual(
      verbs().slice(0, 1),
      ['heartbeat'],
      'at once, because its timers are late by the suspension',
    );
    await world.pass(clusterPollMs);
    open();
    await world.settle();
    assert.equal(starts.length, 1);
  });
});

describe('a node that was declared gone', () => {
  it('has lost its deliveries to another one, and goes on under a new number', async () => {
    const world = virtualWorld();
    const database = openDatabase();
    const { way, cut } = cuttable(database);
    const slow = slowNetwork(async () => ok);
    await using a = await startEngine(world, way, slow.send, { isShared, node: 'a' });
    await a.subscribe();
    const first = a.self.no();
    const many = limits.laneCapStart; // As many as one lane may have in flight.
    const events: string[] = [];
    for (let count = 0; count < many; count += 1) events.push(await a.publish());
    await world.settle();
    assert.equal(slow.connecting(), many);
    const quick = quickNetwork(async () => ok);
    await using b = await startEngine(world, database, quick.send, { isShared, node: 'b' });
    cut('all');
    await world.pass(limits.nodeSilentMs + limits.rescueEveryMs + limits.heartbeatEveryMs);
    assert.equal(quick.starts.length, many);
    cut('nothing');
    await world.pass(limits.heartbeatAgainMs);
    assert.notEqual(a.self.no(), first);
    assert.ok(a.self.isFresh());
    const fresh = await a.publish();
    await world.settle();
    assert.equal(slow.connecting(), many + 1, 'lost deliveries take up no slots');
    slow.open(); // Connections are ready now, but the first ones have lost their leases.
    await world.settle();
    assert.deepEqual([slow.starts.length, quick.starts.length], [1, many]);
    for (const event of [...events, fresh]) {
      const { state, attempts } = await deliveryOf(b, event);
      assert.deepEqual([state, attempts], ['delivered', 1]);
    }
    const names = (await b.context.store.read('nodes', {})).map(({ name }) => name);
    assert.deepEqual(names, ['b', 'a']);
  });

  it('cannot undo what happened since: its outcome is stale', async () => {
    const world = virtualWorld();
    const database = openDatabase();
    const { way, cut } = cuttable(database);
    const failed = { ...ok, status: 500 };
    const { send } = quickNetwork(async () => {
      await world.sleep(14_000);
      return failed;
    });
    await using a = await startEngine(world, way, send, { isShared, node: 'a' });
    await a.subscribe();
    const event = await a.publish();
    await world.settle();
    cut('all');
    const quick = quickNetwork(async () => ok);
    await using b = await startEngine(world, database, quick.send, { isShared, node: 'b' });
    await world.pass(45_000);
    assert.equal((await deliveryOf(b, event)).state, 'delivered');
    cut('nothing');
    await world.pass(5_000);
    const attempts = await b.context.store.read('attempts', { appNo: 1, event, n: 0 });
    assert.deepEqual(
      attempts.map(({ status }) => status),
      [200],
      'the failed attempt of the other node is not recorded',
    );
    const { state } = await deliveryOf(b, event);
    assert.equal(state, 'delivered');
  });

  it('takes another new number if the answer with the first one was lost', async () => {
    const world = virtualWorld();
    const database = openDatabase();
    const { way, cut } = cuttable(database);
    const { starts, send } = quickNetwork(async () => ok);
    await using a = await startEngine(world, way, send, { isShared });
    await a.subscribe();
    await a.context.store.edit('stopNode', { node: a.self.no() });
    cut('startNode');
    await world.pass(limits.heartbeatEveryMs);
    await a.publish();
    await world.pass(5_000);
    assert.deepEqual(starts, [], 'nothing starts under an invalid number');
    cut('nothing');
    await world.pass(limits.heartbeatAgainMs + clusterPollMs);
    assert.equal(starts.length, 1);
  });
});

describe('Liveness', () => {
  /** A liveness over a store whose answers the test gives. */
  function alone(world: VirtualWorld): {
    liveness: Liveness;
    asked: { verb: string; answer: (output: unknown) => void }[];
  } {
    const asked: { verb: string; answer: (output: unknown) => void }[] = [];
    const edit = async (verb: string): Promise<unknown> =>
      new Promise((answer) => {
        asked.push({ verb, answer });
      });
    const store = { isShared: true, edit } as unknown as LivenessDeps['store'];
    const incarnation = {
      node: 1,
      seenMs: world.elapsedMs(),
      lastMs: world.monotonicMs(),
      beforeMs: 0,
    };
    const told = { onRescued: () => undefined, onError: assert.ifError };
    const deps = { world, store, name: 'a', role: 'api', ...told } as const;
    return { liveness: new Liveness(deps, incarnation), asked };
  }

  it('counts from the start of a heartbeat, not from its answer', async () => {
    const world = virtualWorld();
    const { liveness, asked } = alone(world);
    await world.pass(limits.heartbeatEveryMs);
    assert.equal(asked[0]?.verb, 'heartbeat');
    await world.pass(limits.nodeFreshMs);
    asked[0]?.answer({ kind: 'alive' });
    await world.settle();
    assert.equal(liveness.isFresh(), true, 'to the millisecond');
    await world.pass(1);
    assert.equal(liveness.isFresh(), false);
    await world.pass(limits.heartbeatAgainMs);
    assert.equal(asked[1]?.verb, 'heartbeat', 'it tries again soon');
    asked[1]?.answer({ kind: 'alive' });
    await world.settle();
    assert.equal(liveness.isFresh(), true);
    const stopping = liveness[Symbol.asyncDispose]();
    await world.pass(limits.storeAnswerMs);
    await stopping;
  });

  it('stops although the store does not respond', async () => {
    const world = virtualWorld();
    const { liveness, asked } = alone(world);
    await world.pass(limits.heartbeatEveryMs);
    assert.equal(asked.length, 1);
    let isStopped = false;
    const stopping = liveness[Symbol.asyncDispose]().then(() => (isStopped = true));
    await world.pass(limits.storeAnswerMs - 1);
    assert.equal(isStopped, false);
    await world.pass(1);
    await world.settle();
    assert.equal(isStopped, true);
    await stopping;
  });
});
