// The replayer on a clock that the test moves, over real SQL in memory.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { idMaker } from '../../src/core/base/id.ts';
import { limits } from '../../src/core/limits/limits.ts';
import type { Replay } from '../../src/core/domain/replay.ts';
import { createApp } from '../../src/engine/access/apps.ts';
import { noChanges } from '../../src/engine/live/changes.ts';
import {
  Replayer,
  type FinishedReplay,
  type ReplayerDeps,
} from '../../src/engine/upkeep/replayer.ts';
import { memoryStore } from '../store/migrated-memory.ts';
import { StoreUnavailable, VerbFailed, type Store } from '../../src/store/port/store.ts';
import { callback, newSubscription } from '../store/subject.ts';
import { settlementOf } from '../store/settlement.ts';
import { attachDispatcher } from '../store/test-dispatcher.ts';
import { virtualWorld, type VirtualWorld } from './virtual-world.ts';

interface Stage extends AsyncDisposable {
  world: VirtualWorld;
  /** How far the store's clock was set back; timers are not affected. */
  clock: { behindMs: number };
  /** The store as replayers see it: it counts calls, and fails where the test says so. */
  store: Store;
  asked: { reads: number; edits: number };
  faults: { edit: (id: string) => Error | undefined; isAway: boolean; editMs: number };
  errors: unknown[];
  done: FinishedReplay[];
  /** Starts a replay of everything. */
  replay: (ratePerSecond: number) => Promise<string>;
  cancel: (id: string) => Promise<void>;
  find: (id: string) => Promise<Replay>;
  /** How many have been sent again. */
  due: () => Promise<number>;
  start: (changes?: Partial<ReplayerDeps>) => Replayer;
}

/** A number of deliveries that have ended. */
async function stage(deliveries: number): Promise<Stage> {
  const world = virtualWorld();
  const onFatal = (error: Error): never => assert.fail(error);
  const clock = { behindMs: 0 };
  const wall = { nowMs: () => world.nowMs() - clock.behindMs };
  const inner = memoryStore({ world: wall, onFatal });
  const newId = idMaker(world);
  const { app } = await createApp({ world, store: inner, newId }, 'app');
  const dispatcher = attachDispatcher(inner);
  const subscription = newSubscription(app, { callbacks: [callback(0, '*')] });
  await inner.edit('subscribe', { subscription, idempotency: undefined });
  for (let left = deliveries; left > 0; left -= 200) {
    const count = Math.min(left, 200);
    const payload = Buffer.from('{}');
    const events = Array.from({ length: count }, () => ({ id: newId(), name: 'a', payload }));
    const audience = { kind: 'everyone' } as const;
    const input = { appNo: app.no, contract: 'Ringback', events, audience };
    const room = { room: count, laneRoom: count };
    const { fresh } = await dispatcher.publish(room, { ...input, idempotency: undefined });
    await Promise.all(fresh.map(async (one) => inner.settle(settlementOf(one, 'delivered', 0))));
  }
  const asked = { reads: 0, edits: 0 };
  const faults: Stage['faults'] = { edit: () => undefined, isAway: false, editMs: 0 };
  const errors: unknown[] = [];
  const done: FinishedReplay[] = [];
  const replayers: Replayer[] = [];
  const store: Store = {
    ...inner,
    read: async (verb, input) => {
      asked.reads += 1;
      if (faults.isAway) throw new StoreUnavailable('away');
      return inner.read(verb, input);
    },
    edit: async (verb, input) => {
      asked.edits += 1;
      const error = 'id' in input ? faults.edit(input.id) : undefined;
      if (error !== undefined) throw error;
      world.freeze(faults.editMs);
      return inner.edit(verb, input);
    },
  };
  return {
    world,
    clock,
    store,
    asked,
    faults,
    errors,
    done,
    replay: async (ratePerSecond) => {
      const none = { event: undefined, subscription: undefined, status: undefined };
      const owner = { subject: undefined, customer: undefined };
      const rest = { ...owner, error: undefined, fromMs: undefined, untilMs: undefined };
      const filter = { state: 'delivered' as const, ...none, ...rest };
      const replay = { id: newId(), appNo: app.no, filter, ratePerSecond };
      const input = { replay, runningMax: 9, idempotency: undefined };
      assert.equal((await inner.edit('createReplay', input)).kind, 'created');
      return replay.id;
    },
    cancel: async (id) => {
      await inner.edit('cancelReplay', { appNo: app.no, id });
    },
    find: async (id) => {
      const found = await inner.read('replay', { appNo: app.no, id });
      assert(found);
      return found;
    },
    due: async () => (await inner.read('tally', {})).due,
    start: (changes = {}) => {
      const onDone = (one: FinishedReplay): void => void done.push(one);
      const onError = (error: unknown): void => void errors.push(error);
      const deps = { world, store, changes: noChanges, onDone, onError };
      const replayer = new Replayer({ ...deps, ...changes });
      replayers.push(replayer);
      return replayer;
    },
    [Symbol.asyncDispose]: async () => {
      for (const replayer of replayers) await replayer[Symbol.asyncDispose]();
      await inner.close();
    },
  };
}

describe('Replayer', () => {
  it('sends exactly at its rate, and then is done', async () => {
    for (const rate of [1, 40, 1_000]) {
      await using here = await stage(rate === 1 ? 3 : 500);
      const { world, due, find, replay, start } = here;
      const id = await replay(rate);
      start();
      await world.settle();
      const step = Math.ceil(rate / 4);
      const total = rate === 1 ? 3 : 500;
      for (let ms = 0; (await due()) < total; ms += 50) {
        const allowed = Math.min(total, Math.floor((ms * rate) / 1000) + step);
        assert.ok((await due()) <= allowed, `${await due()} after ${ms} ms at ${rate}/s`);
        // Every step that was possible has been taken.
        const sure = Math.min(total, Math.floor((ms * rate) / 1000));
        assert.ok((await due()) >= sure, `${await due()} after ${ms} ms at ${rate}/s`);
        assert.ok(ms < 20_000);
        await world.pass(50);
      }
      await world.pass(1_000);
      const { state, matched, replayed, skipped } = await find(id);
      assert.deepEqual([state, matched, replayed, skipped], ['done', total, total, 0]);
      assert.deepEqual(here.done, [{ replay: id, matched, replayed, skipped }]);
      assert.deepEqual(here.errors, []);
    }
  });

  it('begins at once when woken, and polls rarely while there is nothing', async () => {
    await using here = await stage(5);
    const { world, asked, due, replay, start, store } = here;
    const replayer = start();
    await world.pass(10 * store.pollMs);
    assert.ok(asked.reads >= 10 && asked.reads <= 12, `${asked.reads} reads`);
    assert.equal(asked.edits, 0);
    await replay(1_000);
    await world.settle();
    assert.equal(await due(), 0);
    replayer.wake();
    await world.settle();
    assert.equal(await due(), 5);
  });

  it('takes no further step after a cancel', async () => {
    await using here = await stage(100);
    const { world, cancel, due, find, replay, start } = here;
    const id = await replay(40);
    start();
    await world.pass(600);
    const sent = await due();
    assert.equal(sent, 30);
    await cancel(id);
    await world.pass(60_000);
    assert.equal(await due(), sent);
    assert.equal((await find(id)).replayed, sent);
  });

  it('resumes after a restart where it stopped, without a burst', async () => {
    await using here = await stage(100);
    const { world, due, find, replay, start } = here;
    const id = await replay(40);
    const first = start();
    await world.pass(600);
    await first[Symbol.asyncDispose]();
    await world.pass(3_600_000);
    assert.equal(await due(), 30);
    start();
    await world.pass(0);
    // One step, and one second's worth of catching up.
    assert.ok((await due()) <= 30 + 10 + 40, `${await due()}`);
    await world.pass(3_000);
    assert.equal(await due(), 100);
    assert.equal((await find(id)).replayed, 100);
  });

  it('goes on at its rate after the clock was set back, on one node or on several', async () => {
    for (const isShared of [false, true]) {
      await using here = await stage(100);
      const { world, clock, due, replay, start, store } = here;
      const id = await replay(40);
      const first = start({ store: { ...store, isShared } });
      if (isShared) start({ store: { ...store, isShared } });
      await world.pass(600);
      assert.equal(await due(), 30);
      clock.behindMs = 3_600_000;
      if (isShared) await first[Symbol.asyncDispose]();
      await world.pass(1_000);
      const sent = await due();
      assert.ok(sent > 30 && sent <= 30 + 10 + 40, `${sent} of ${id}`);
      await world.pass(3_000);
      assert.equal(await due(), 100);
    }
  });

  it('waits for an unavailable store, and reports it once per try', async () => {
    await using here = await stage(20);
    const { world, due, errors, faults, replay, start } = here;
    await replay(1_000);
    faults.isAway = true;
    start();
    await world.pass(3 * limits.replayStoreAgainMs);
    assert.ok(errors.length >= 3 && errors.length <= 4, `${errors.length} errors`);
    assert.equal(await due(), 0);
    faults.isAway = false;
    await world.pass(limits.replayStoreAgainMs);
    assert.equal(await due(), 20);
  });

  it('puts off a replay that fails, and advances others meanwhile', async () => {
    await using here = await stage(10);
    const { world, errors, faults, find, replay, start } = here;
    const [bad, good] = [await replay(4), await replay(4)];
    faults.edit = (id) => (id === bad ? new VerbFailed('broken') : undefined);
    start();
    await world.pass(limits.replayAgainMs - 1);
    assert.equal(errors.length, 1);
    assert.deepEqual([(await find(bad)).state, (await find(good)).state], ['running', 'done']);
    faults.edit = () => undefined;
    await world.pass(limits.replayAgainMs);
    assert.equal((await find(bad)).state, 'done');
  });

  it('rests as long as a step took', async () => {
    await using here = await stage(1_000);
    const { world, faults, replay, start } = here;
    await replay(1_000);
    faults.editMs = 400;
    const times: number[] = [];
    start({ changes: { replay: () => times.push(world.nowMs()) } });
    await world.pass(5_000);
    const gaps = times.slice(1).map((ms, index) => ms - (times[index] ?? 0));
    assert.ok(gaps.length >= 3 && gaps.every((gap) => gap >= 800), JSON.stringify(gaps));
  });

  it('shares steps with another node: each is taken once, at the same rate', async () => {
    await using here = await stage(400);
    const { world, due, find, replay, start, store } = here;
    const id = await replay(40);
    const nodes = [1, 2].map(() => {
      const asked = { reads: 0 };
      const read: Store['read'] = async (verb, input) => {
        asked.reads += 1;
        return store.read(verb, input);
      };
      return { asked, replayer: start({ store: { ...store, isShared: true, read } }) };
    });
    await world.pass(5_000);
    const sent = await due();
    assert.ok(sent >= 200 && sent <= 220, `${sent} in 5 s at 40/s`);
    const [leader, other] = nodes.toSorted((a, b) => b.asked.reads - a.asked.reads);
    assert.ok(leader && other && other.asked.reads <= 10, `${other?.asked.reads} idle reads`);
    await leader.replayer[Symbol.asyncDispose]();
    await world.pass(10_000);
    assert.equal(await due(), 400);
    assert.equal((await find(id)).replayed, 400);
  });
});
