// The feed: what a node writes down of its changes, when, and what happens when the store fails.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readDigest } from '../../src/core/domain/change-digest.ts';
import { limits } from '../../src/core/limits/limits.ts';
import { Feed } from '../../src/engine/live/feed.ts';
import { createJournal, type Journal } from '../../src/engine/live/journal.ts';
import { storeOver } from '../../src/store/open/open.ts';
import { inProcess } from '../../src/store/sqlite/batch/adapter.ts';
import { StoreUnavailable, type Store } from '../../src/store/port/store.ts';
import { openDatabase } from './harness.ts';
import { virtualWorld, type VirtualWorld } from './virtual-world.ts';

interface Stage extends AsyncDisposable {
  store: Store;
  journal: Journal;
  feed: Feed;
  errors: unknown[];
  asked: string[];
  /** How the next calls fail. */
  fault: 'before' | 'after' | undefined;
  /** For app 1: the number of published events in each row. */
  published: () => Promise<number[]>;
}

function stage(world: VirtualWorld, isShared = false): Stage {
  const sqlite = openDatabase();
  const onFatal = (error: Error): never => assert.fail(error);
  const store = { ...storeOver(inProcess(sqlite, { onFatal }), world), isShared };
  const journal = createJournal();
  const errors: unknown[] = [];
  const asked: string[] = [];
  const failing = async <T>(verb: string, act: () => Promise<T>): Promise<T> => {
    asked.push(verb);
    if (it_.fault === 'before') throw new StoreUnavailable('gone');
    const result = await act();
    if (it_.fault === 'after') throw new StoreUnavailable('the answer is lost');
    return result;
  };
  const deps: Pick<Store, 'edit' | 'read' | 'nowMs' | 'isShared'> = {
    isShared,
    nowMs: () => world.nowMs(),
    edit: async (verb, input) => failing(verb, async () => store.edit(verb, input)),
    read: async (verb, input) => failing(verb, async () => store.read(verb, input)),
  };
  const feed = new Feed({
    world,
    store: deps,
    journal,
    self: { no: () => 3 },
    onError: (error) => errors.push(error),
  });
  const it_: Stage = {
    store,
    journal,
    feed,
    errors,
    asked,
    fault: undefined,
    published: async () => {
      const input = { appNo: 1, after: new Map<number, number>(), limit: 500 };
      const { rows } = await store.read('feed', input);
      return rows.map(({ digest }) => readDigest(digest).counts.published);
    },
    [Symbol.asyncDispose]: async () => feed[Symbol.asyncDispose](),
  };
  return it_;
}

function publish({ changes }: Journal): void {
  changes.published(1, [{ id: 'e'.repeat(26), deliveries: 0 }]);
}

describe('Feed', () => {
  it('asks nothing of the store while no app is watched', async () => {
    const world = virtualWorld();
    await using on = stage(world);
    for (let count = 0; count < 10; count += 1) {
      publish(on.journal);
      await world.pass(1_000);
    }
    assert.deepEqual(on.asked, []);
  });

  it('writes changes at once, and then at most four times a second', async () => {
    const world = virtualWorld();
    await using on = stage(world);
    await on.feed.watch(1);
    await world.pass(1_000);
    publish(on.journal);
    await world.settle();
    assert.deepEqual(await on.published(), [0, 1], 'first that it begins');
    for (let count = 0; count < 100; count += 1) {
      publish(on.journal);
      await world.pass(10);
    }
    await world.pass(limits.frameEveryMs);
    const rows = await on.published();
    assert(rows.length <= 2 + 5, `${rows.length} rows`);
    assert.equal(
      rows.reduce((a, b) => a + b),
      101,
    );
  });

  it('has written every earlier change when watch resolves', async () => {
    const world = virtualWorld();
    await using on = stage(world);
    await on.feed.watch(1);
    assert.deepEqual(await on.published(), [0]);
  });

  it('stops some time after the last client has left, and not while others watch', async () => {
    const world = virtualWorld();
    await using on = stage(world);
    await on.feed.watch(1);
    on.feed.unwatch(1);
    await world.pass(limits.watchLeaseMs - 1);
    assert.equal(on.journal.isNoting(1), true);
    await on.feed.watch(1);
    await world.pass(2 * limits.watchLeaseMs);
    assert.equal(on.journal.isNoting(1), true);
    on.feed.unwatch(1);
    await world.pass(2 * limits.watchLeaseMs);
    assert.equal(on.journal.isNoting(1), false);
  });

  for (const fault of ['before', 'after'] as const) {
    it(`counts everything once when the store fails ${fault} it has written`, async () => {
      const world = virtualWorld();
      await using on = stage(world);
      await on.feed.watch(1);
      await world.pass(1_000);
      on.fault = fault;
      publish(on.journal);
      await world.pass(3_000);
      publish(on.journal);
      await world.pass(3_000);
      on.fault = undefined;
      publish(on.journal);
      await world.pass(3_000);
      assert.deepEqual(await on.published(), [0, 1, 2]);
      assert(on.errors.length > 2 && on.errors.length < 10, `${on.errors.length} complaints`);
    });
  }

  it('writes the last changes when it stops', async () => {
    const world = virtualWorld();
    const on = stage(world);
    await on.feed.watch(1);
    publish(on.journal);
    await on[Symbol.asyncDispose]();
    assert.deepEqual(await on.published(), [0, 1]);
  });

  it('does not wait forever for a silent store when it stops', async () => {
    const world = virtualWorld();
    const on = stage(world);
    await on.feed.watch(1);
    on.store.edit = async () => new Promise(() => undefined);
    publish(on.journal);
    const stopped = on[Symbol.asyncDispose]();
    await world.pass(limits.storeAnswerMs);
    await stopped;
  });

  describe('among several nodes', () => {
    it('records apps that are watched through another node, while that is renewed', async () => {
      const world = virtualWorld();
      await using on = stage(world, true);
      await world.pass(1_000);
      const untilMs = world.nowMs() + limits.watchLeaseMs;
      await on.store.edit('watch', { node: 9, apps: [1], untilMs });
      await world.pass(limits.watchLookMs);
      assert.equal(on.journal.isNoting(1), true);
      await world.pass(limits.watchLeaseMs - 2 * limits.watchLookMs);
      assert.equal(on.journal.isNoting(1), true);
      await world.pass(3 * limits.watchLookMs);
      assert.equal(on.journal.isNoting(1), false);
    });

    it('renews its watches for as long as it watches', async () => {
      const world = virtualWorld();
      await using on = stage(world, true);
      await on.feed.watch(1);
      for (let count = 0; count < 10; count += 1) {
        assert.deepEqual(await on.store.read('watched', { nowMs: world.nowMs() }), [1]);
        await world.pass(limits.watchLeaseMs / 2);
      }
      on.feed.unwatch(1);
      await world.pass(limits.watchLeaseMs + 1);
      assert.deepEqual(await on.store.read('watched', { nowMs: world.nowMs() }), []);
    });
  });
});
