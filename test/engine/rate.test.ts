// The rate limit on a clock that the test moves: exact to the millisecond, on any number of nodes.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { noControls, type Controls } from '../../src/core/domain/controls.ts';
import { withoutPrefix } from '../../src/core/base/id.ts';
import {
  apiContext,
  openDatabase,
  publishOne,
  startEngine,
  type Engine,
  type FakeSend,
} from './harness.ts';
import { virtualWorld, type VirtualWorld } from './virtual-world.ts';

/** Records when it was called, and answers from a list; the last answer repeats. */
function receiver(
  world: VirtualWorld,
  statuses: readonly number[] = [200],
): { calls: number[]; send: FakeSend } {
  const calls: number[] = [];
  const startMs = world.nowMs();
  const send: FakeSend = async (_request, options) => {
    if (options?.onStart?.() === false) return { kind: 'not_started', reason: 'declined' };
    const status = statuses[Math.min(calls.length, statuses.length - 1)] ?? 200;
    calls.push(world.nowMs() - startMs);
    return { kind: 'answered', status, headers: [], body: new Uint8Array(), cut: false };
  };
  return { calls, send };
}

async function choose({ context }: Engine, id: string, changes: Partial<Controls>): Promise<void> {
  const { store, defaultApp } = context;
  const bare = withoutPrefix('sub', id) ?? '';
  const seen = await store.read('subscription', { appNo: defaultApp.no, id: bare });
  const { kind } = await store.edit('editSubscription', {
    appNo: defaultApp.no,
    id: bare,
    version: seen?.version ?? 0,
    state: undefined,
    urls: [],
    secrets: undefined,
    chosen: { controls: { ...noControls, ...changes }, headers: undefined },
  });
  assert.equal(kind, 'edited');
}

describe('a rate limit', () => {
  it('releases what accumulated in a second, then one after the other at its rate', async () => {
    const world = virtualWorld();
    const { calls, send } = receiver(world);
    await using engine = await startEngine(world, openDatabase(), send);
    await choose(engine, await engine.subscribe(), { ratePerSecond: 4 });
    for (let i = 0; i < 12; i += 1) await engine.publish();
    await world.pass(10_000);
    assert.deepEqual(calls, [0, 0, 0, 0, 250, 500, 750, 1_000, 1_250, 1_500, 1_750, 2_000]);
    // After a long silence it has accumulated one second's worth, no more.
    for (let i = 0; i < 6; i += 1) await engine.publish();
    await world.pass(1_000);
    assert.deepEqual(calls.slice(12), [10_000, 10_000, 10_000, 10_000, 10_250, 10_500]);
    assert.deepEqual(engine.errors, []);
  });

  it('accumulates no error, whatever the rate', async () => {
    const world = virtualWorld();
    const { calls, send } = receiver(world);
    await using engine = await startEngine(world, openDatabase(), send);
    await choose(engine, await engine.subscribe(), { ratePerSecond: 0.7 });
    for (let i = 0; i < 22; i += 1) await engine.publish();
    await world.pass(60_000);
    const expected = Array.from({ length: 22 }, (_, i) => Math.ceil((i * 10_000) / 7));
    assert.deepEqual(calls, expected);
  });

  it('counts attempts: a retry waits its turn, too', async () => {
    const world = virtualWorld({ byte: 0x80 });
    const { calls, send } = receiver(world, [500, 200]);
    await using engine = await startEngine(world, openDatabase(), send);
    await choose(engine, await engine.subscribe(), { ratePerSecond: 0.1, retryMs: [5_000] });
    await engine.publish();
    await world.pass(60_000);
    assert.deepEqual(calls, [0, 10_000]);
  });

  it('applies at once when raised, lowered or lifted, to pending deliveries as well', async () => {
    const world = virtualWorld();
    const { calls, send } = receiver(world);
    await using engine = await startEngine(world, openDatabase(), send);
    const id = await engine.subscribe();
    await choose(engine, id, { ratePerSecond: 0.01 });
    for (let i = 0; i < 20; i += 1) await engine.publish();
    await world.pass(1_000);
    assert.deepEqual(calls, [0]);
    await choose(engine, id, { ratePerSecond: 1 });
    await world.pass(3_500);
    assert.deepEqual(calls.splice(0), [0, 1_000, 2_000, 3_000, 4_000]);
    await choose(engine, id, { ratePerSecond: 0.5 });
    await world.pass(4_000);
    assert.deepEqual(calls.splice(0), [6_000, 8_000]);
    await choose(engine, id, {});
    await world.pass(0);
    assert.deepEqual(
      calls,
      Array.from({ length: 13 }, () => 8_500),
    );
  });

  it('counts claims: on the wire an attempt may be late, and meet those that are not', async () => {
    const world = virtualWorld();
    const { calls, send } = receiver(world);
    const lateMs = 300;
    let claimed = 0;
    const late: FakeSend = async (request, options) => {
      claimed += 1;
      if (claimed <= 10) await world.sleep(lateMs); // Like a connection that takes long.
      return send(request, options);
    };
    await using engine = await startEngine(world, openDatabase(), late);
    await choose(engine, await engine.subscribe(), { ratePerSecond: 10 });
    for (let i = 0; i < 30; i += 1) await engine.publish();
    await world.pass(5_000);
    assert.equal(calls.length, 30);
    /** How far the worst span exceeds the rate, if all were late by `spareMs`. */
    const excess = (spareMs: number): number =>
      Math.max(
        ...calls.flatMap((fromMs, from) =>
          calls.slice(from).map((toMs, more) => more + 1 - 10 - (toMs - fromMs + spareMs) / 100),
        ),
      );
    assert(excess(0) > 0, 'some were late');
    assert(excess(lateMs) <= 0, `docs/subscriptions.md promises less: ${calls.join(' ')}`);
  });

  it('is shared by all nodes, however they take turns', async () => {
    const world = virtualWorld();
    const { calls, send } = receiver(world);
    const database = openDatabase();
    const [one, two] = ['one', 'two'].map((node) => ({ isShared: true, node }));
    await using first = await startEngine(world, database, send, one);
    await using _second = await startEngine(world, database, send, two);
    await choose(first, await first.subscribe(), { ratePerSecond: 20 });
    const publisher = apiContext(first, database);
    for (let i = 0; i < 60; i += 1) await publishOne(publisher);
    await world.pass(5_000);
    // They are not notified, so they find it at the next poll; from then on nothing is lost or
    // gained.
    const from = calls[0] ?? 0;
    const expected = Array.from({ length: 60 }, (_, i) => from + Math.max(i - 19, 0) * 50);
    assert.deepEqual(calls, expected);
  });
});
