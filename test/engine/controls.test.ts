// The settings of a subscription, in attempts: with the real engine, in a world whose clock the
// test moves.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Controls } from '../../src/core/domain/controls.ts';
import type { SendRequest } from '../../src/egress/http/exchange.ts';
import { waitForGrace } from '../../src/engine/deliver/dispatcher.ts';
import { changeSubscription } from '../../src/engine/subscribe/subscriptions.ts';
import { openDatabase, startEngine, type Engine, type FakeSend } from './harness.ts';
import { virtualWorld, type VirtualWorld } from './virtual-world.ts';

/** The middle of the jitter: the waits are exactly those of the schedule. */
const middle = 0x80;

async function choose(engine: Engine, id: string, controls: Partial<Controls>): Promise<void> {
  const { context } = engine;
  const choice = { controls, headers: undefined };
  const change = { state: undefined, callbacks: [], choice };
  await changeSubscription(context, context.defaultApp, { id, change });
}

/** A receiver that refuses, and records when and how it was called. */
function refusing(world: VirtualWorld): {
  calls: { atMs: number; request: SendRequest }[];
  send: FakeSend;
} {
  const calls: { atMs: number; request: SendRequest }[] = [];
  const send: FakeSend = async (request, options) => {
    if (options?.onStart?.() === false) return { kind: 'not_started', reason: 'declined' };
    calls.push({ atMs: world.nowMs(), request });
    return { kind: 'answered', status: 500, headers: [], body: new Uint8Array(), cut: false };
  };
  return { calls, send };
}

async function stateOf({ context }: Engine, event: string): Promise<unknown[]> {
  const { store, defaultApp } = context;
  const delivery = await store.read('delivery', { appNo: defaultApp.no, event, n: 0 });
  return [delivery?.state, delivery?.attempts];
}

describe('an attempt', () => {
  it('follows the schedule of its subscription, others that of the service', async () => {
    const world = virtualWorld({ byte: middle });
    const { calls, send } = refusing(world);
    await using engine = await startEngine(world, openDatabase(), send);
    const own = await engine.subscribe('http://127.0.0.1:9000/own');
    await choose(engine, own, { retryMs: [1_000, 2_000] });
    const event = await engine.publish();
    await world.pass(60_000);
    const beganMs = calls[0]?.atMs ?? 0;
    assert.deepEqual(
      calls.map(({ atMs }) => atMs - beganMs),
      [0, 1_000, 3_000],
    );
    assert.deepEqual(await stateOf(engine, event), ['dead', 3]);
    await choose(engine, own, { retryMs: [] });
    const second = await engine.publish();
    await world.pass(60_000);
    assert.deepEqual(await stateOf(engine, second), ['dead', 1]);
    await choose(engine, own, { retryMs: undefined });
    const third = await engine.publish();
    await world.pass(60_000);
    assert.deepEqual(await stateOf(engine, third), ['due', 2], 'as the service is set');
  });

  it('has the timeout of its subscription', async () => {
    const world = virtualWorld({ byte: middle });
    const { calls, send } = refusing(world);
    await using engine = await startEngine(world, openDatabase(), send);
    const id = await engine.subscribe();
    await engine.publish();
    await world.settle();
    await choose(engine, id, { timeoutMs: 700 });
    await engine.publish();
    await world.settle();
    assert.deepEqual(
      calls.map(({ request }) => request.timeoutMs),
      [15_000, 700],
    );
  });

  it('does not start after its subscription has expired, and pending ones are cancelled', async () => {
    const world = virtualWorld({ byte: middle });
    const { calls, send } = refusing(world);
    await using engine = await startEngine(world, openDatabase(), send);
    const id = await engine.subscribe();
    await choose(engine, id, { expiresMs: world.nowMs() + 4_999 });
    const event = await engine.publish();
    await world.pass(4_998);
    assert.deepEqual(await stateOf(engine, event), ['due', 1]);
    await world.pass(1);
    assert.deepEqual(await stateOf(engine, event), ['cancelled', 1], 'at its time');
    await engine.publish();
    await world.pass(60_000);
    assert.equal(calls.length, 1);
    assert.deepEqual(engine.errors, []);
  });

  it('keeps a stop waiting for as long as its timeout', async () => {
    const world = virtualWorld({ byte: middle });
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    const send: FakeSend = async (_request, options) => {
      options?.onStart?.();
      const given = options?.signal;
      const gaveUp = Promise.withResolvers<'aborted'>();
      given?.addEventListener('abort', () => gaveUp.resolve('aborted'));
      const how = await Promise.race([answered, gaveUp.promise]);
      if (how === 'aborted') return { kind: 'aborted', started: true };
      return { kind: 'answered', status: 200, headers: [], body: new Uint8Array(), cut: false };
    };
    const database = openDatabase();
    const engine = await startEngine(world, database, send);
    const id = await engine.subscribe();
    await choose(engine, id, { timeoutMs: 60_000 });
    const event = await engine.publish();
    await world.settle();
    const stopped = engine[Symbol.asyncDispose]();
    await world.pass(59_000);
    answer();
    await world.pass(10);
    await stopped;
    await using again = await startEngine(world, database, send);
    assert.deepEqual(await stateOf(again, event), ['delivered', 1]);
  });
});

describe('waitForGrace', () => {
  it('waits until the last value of the grace time, and no longer', async () => {
    const world = virtualWorld();
    let graceMs = 1_000;
    let isOver = false;
    const { signal } = new AbortController();
    const over = waitForGrace(world, () => graceMs, signal).then(() => (isOver = true));
    await world.pass(999);
    graceMs = 5_000;
    await world.pass(4_000);
    assert.equal(isOver, false);
    graceMs = 3_000;
    await world.pass(1);
    await over;
  });
});
