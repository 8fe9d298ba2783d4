// The live view on a simulated clock: which frames a client gets, when, and their content.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { emptyDigest, noCounts, writeDigest } from '../../src/core/domain/change-digest.ts';
import { limits } from '../../src/core/limits/limits.ts';
import type { Frame } from '../../src/engine/live/frame.ts';
import { StreamHub, type StreamHandle, type Watcher } from '../../src/engine/live/stream.ts';
import { unsubscribe } from '../../src/engine/subscribe/subscriptions.ts';
import { StoreUnavailable, type Store } from '../../src/store/port/store.ts';
import {
  openDatabase,
  startEngine,
  type Engine,
  type EngineOptions,
  type FakeSend,
  type Sqlite,
} from './harness.ts';
import { ok, quickNetwork } from './network.ts';
import { virtualWorld, type VirtualWorld } from './virtual-world.ts';

interface Stage extends AsyncDisposable {
  engine: Engine;
  hub: StreamHub;
  appNo: number;
}

interface TestWatcher extends Watcher {
  frames: Frame[];
  /** When each frame arrived. */
  times: number[];
  cursors: (string | undefined)[];
  handle: StreamHandle;
  slow: boolean;
  isWelcomed: boolean;
  isOver: 'bye' | 'cut' | undefined;
  /** The sum over all frames. */
  sum(count: keyof Frame['counts']): number;
}

interface StageOptions extends EngineOptions {
  /** Whether reads of the hub, and only of the hub, fail now. */
  isDown?: () => boolean;
  sqlite?: Sqlite;
  answer?: Awaited<ReturnType<FakeSend>>;
}

async function stage(world: VirtualWorld, options: StageOptions = {}): Promise<Stage> {
  const { sqlite = openDatabase(), answer = ok, isDown = () => false, ...more } = options;
  const engine = await startEngine(world, sqlite, quickNetwork(async () => answer).send, more);
  const { store: whole } = engine.context;
  const store: Store = {
    ...whole,
    read: async (verb, input) => {
      if (isDown()) throw new StoreUnavailable('away');
      return whole.read(verb, input);
    },
  };
  const onError = (error: unknown): void => void engine.errors.push(error);
  const hub = new StreamHub({ world, store, feed: engine.feed, onError });
  const dispose = async (): Promise<void> => {
    const stopped = hub[Symbol.asyncDispose]();
    await world.pass(limits.streamByeMs);
    await stopped;
    await engine[Symbol.asyncDispose]();
    assert.deepEqual(engine.errors, []);
  };
  return { engine, hub, appNo: engine.context.defaultApp.no, [Symbol.asyncDispose]: dispose };
}

async function watch(
  world: VirtualWorld,
  { hub, appNo }: Stage,
  lastEventId?: string,
): Promise<TestWatcher> {
  const watcher: TestWatcher = {
    frames: [],
    times: [],
    cursors: [],
    slow: false,
    isWelcomed: true,
    isOver: undefined,
    handle: { ready: () => undefined, leave: () => undefined },
    isReady: () => !watcher.slow,
    take: (frame) => {
      watcher.frames.push(frame);
      watcher.times.push(world.nowMs());
    },
    keepAlive: (cursor) => void watcher.cursors.push(cursor),
    isStillAllowed: async () => watcher.isWelcomed,
    sendGoodbye: () => {
      watcher.isOver = 'bye';
      watcher.handle.leave();
    },
    destroy: () => {
      watcher.isOver ??= 'cut';
    },
    sum: (count) => watcher.frames.reduce((sum, { counts }) => sum + counts[count], 0),
  };
  watcher.handle = await hub.open(watcher, { appNo, lastEventId });
  await world.settle();
  return watcher;
}

describe('StreamHub', () => {
  it('sends the first frame at once, with nothing in it', async () => {
    const world = virtualWorld();
    await using on = await stage(world);
    await on.engine.subscribe();
    await on.engine.publish();
    await world.pass(1_000);
    const watcher = await watch(world, on);
    assert.equal(watcher.frames.length, 1);
    const [first] = watcher.frames;
    assert.equal(first?.isReset, false);
    assert.deepEqual(first.counts, {
      published: 0,
      delivered: 0,
      dead: 0,
      cancelled: 0,
      retried: 0,
    });
    assert.deepEqual(first.deliveries, []);
    await world.pass(10_000);
    assert.equal(watcher.frames.length, 1, 'no frame is sent without a change');
  });

  it('sends publishes, deliveries, and changed subscriptions', async () => {
    const world = virtualWorld();
    await using on = await stage(world);
    const watcher = await watch(world, on);
    const subscriberId = await on.engine.subscribe();
    const event = await on.engine.publish('order.created');
    await world.pass(1_000);
    assert.equal(watcher.sum('published'), 1);
    assert.equal(watcher.sum('delivered'), 1);
    const last = watcher.frames.at(-1)?.deliveries.at(-1);
    assert.equal(last?.event, event);
    assert.equal(last.state, 'delivered');
    assert.equal(last.eventName, 'order.created');
    assert(watcher.frames.some(({ subscriptions }) => `sub_${subscriptions[0]}` === subscriberId));
    assert(watcher.frames.every(({ isReset }) => !isReset));
  });

  it('sends at most four frames a second, and loses no count', async () => {
    const world = virtualWorld();
    await using on = await stage(world);
    await on.engine.subscribe();
    const early = await watch(world, on);
    await world.pass(110);
    const late = await watch(world, on);
    const events = 400;
    for (let count = 0; count < events; count += 1) {
      await on.engine.publish();
      await world.pass(25);
    }
    await world.pass(1_000);
    for (const watcher of [early, late]) {
      const { times, frames } = watcher;
      assert(frames.length > 30, `only ${frames.length} frames in 10 seconds`);
      for (const [at, ms] of times.entries()) {
        const before = times[at - 1] ?? -Infinity;
        assert(ms - before >= limits.frameEveryMs, `${ms - before} ms between two frames`);
      }
      assert.equal(watcher.sum('published'), events);
      assert.equal(watcher.sum('delivered'), events);
    }
    assert.equal(early.frames.at(-1), late.frames.at(-1), 'the same frame for all clients');
  });

  it('sends a new client its second frame in time, without waiting for the next change', async () => {
    const world = virtualWorld();
    await using on = await stage(world);
    const early = await watch(world, on);
    await world.pass(1_000);
    const late = await watch(world, on);
    await on.engine.subscribe();
    await world.settle();
    assert.deepEqual([early.frames.length, late.frames.length], [2, 1]);
    await world.pass(2 * limits.frameEveryMs);
    assert.equal(late.frames[1]?.subscriptions.length, 1);
    assert.equal(early.frames.length, 2);
  });

  it('sends what it could not read at first, without waiting for the next change', async () => {
    const world = virtualWorld();
    let isDown = false;
    await using on = await stage(world, { isDown: () => isDown });
    const watcher = await watch(world, on);
    await world.pass(1_000);
    isDown = true;
    await on.engine.subscribe();
    await world.settle();
    isDown = false;
    const errors = on.engine.errors.splice(0);
    assert(errors.length > 0 && errors.every((error) => error instanceof StoreUnavailable));
    assert.equal(watcher.frames.length, 1);
    await world.pass(limits.streamAgainMs);
    assert.equal(watcher.frames[1]?.subscriptions.length, 1);
  });

  it('shows the newest of many changes, and counts the rest', async () => {
    const world = virtualWorld();
    await using on = await stage(world);
    await on.engine.subscribe();
    const watcher = await watch(world, on);
    await world.pass(limits.frameEveryMs);
    let last = '';
    for (let count = 0; count < 60; count += 1) last = await on.engine.publish();
    await world.pass(2_000);
    const shown = watcher.frames.map(({ deliveries }) => deliveries.length);
    assert.equal(Math.max(...shown), limits.frameDeliveriesMax);
    const more = watcher.frames.reduce((sum, frame) => sum + frame.more, 0);
    assert(more >= 60 - limits.frameDeliveriesMax * watcher.frames.length);
    assert.equal(watcher.frames.at(-1)?.deliveries.at(-1)?.event, last);
  });

  it('skips a client that does not read, which then gets everything as one frame', async () => {
    const world = virtualWorld();
    await using on = await stage(world);
    await on.engine.subscribe();
    const [quick, slow] = [await watch(world, on), await watch(world, on)];
    slow.slow = true;
    let last = '';
    for (let count = 0; count < 100; count += 1) {
      last = await on.engine.publish();
      await world.pass(100);
    }
    await world.pass(1_000);
    assert(quick.frames.length > 20);
    assert.equal(slow.frames.length, 1);
    slow.slow = false;
    slow.handle.ready();
    await world.pass(limits.frameEveryMs);
    assert.equal(slow.frames.length, 2);
    const [, caughtUp] = slow.frames;
    assert.deepEqual(caughtUp?.counts, { ...caughtUp?.counts, published: 100, delivered: 100 });
    assert.equal(caughtUp.deliveries.length, limits.frameDeliveriesMax);
    assert.equal(caughtUp.deliveries.at(-1)?.event, last);
    assert.equal(caughtUp.more >= 80, true);
    assert.equal(caughtUp.isReset, false);
    await on.engine.publish();
    await world.pass(1_000);
    assert.equal(slow.frames.at(-1), quick.frames.at(-1));
    assert.equal(slow.sum('published'), 101);
  });

  describe('for a client that reconnects', () => {
    it('resumes where it was, even if no client watched meanwhile', async () => {
      const world = virtualWorld();
      await using on = await stage(world);
      await on.engine.subscribe();
      const first = await watch(world, on);
      await on.engine.publish();
      await world.pass(1_000);
      first.handle.leave();
      const missed = await on.engine.publish('missed');
      await world.pass(5_000);
      const second = await watch(world, on, first.frames.at(-1)?.cursor);
      const [frame] = second.frames;
      assert.equal(frame?.isReset, false);
      assert.equal(frame.counts.published, 1);
      assert.equal(frame.counts.delivered, 1);
      assert.deepEqual(
        frame.deliveries.map(({ event, state }) => [event, state]),
        [[missed, 'delivered']],
      );
      await on.engine.publish();
      await world.pass(1_000);
      assert.equal(second.sum('published'), 2, 'nothing is sent twice');
    });

    it('repeats nothing that the others have yet to receive', async () => {
      const world = virtualWorld();
      await using on = await stage(world);
      const first = await watch(world, on);
      await world.pass(1_000);
      const counts = { ...noCounts, published: 1 };
      const digest = writeDigest({ ...emptyDigest, counts });
      const rows = [{ appNo: on.appNo, seq: 1, digest }];
      await on.engine.context.store.edit('appendFeed', { node: 77, rows });
      const second = await watch(world, on, first.frames[0]?.cursor);
      await on.engine.publish(); // So that the feed is read.
      await world.pass(1_000);
      assert.deepEqual([first.sum('published'), second.sum('published')], [2, 2]);
    });

    it('has nothing to send if nothing happened for long', async () => {
      const world = virtualWorld();
      await using on = await stage(world);
      const first = await watch(world, on);
      await world.pass(10 * limits.feedKeepMs);
      first.handle.leave();
      await world.pass(1_000);
      const second = await watch(world, on, first.cursors.at(-1));
      assert.equal(second.frames[0]?.isReset, false);
    });

    for (const [what, cursor] of [
      ['an invalid cursor', 'what is this'],
      ['a cursor that is too old', '1_1-1'],
      ['an empty cursor', ''],
    ] as const) {
      it(`is a reset after ${what}`, async () => {
        const world = virtualWorld();
        await using on = await stage(world);
        const watcher = await watch(world, on, cursor);
        assert.equal(watcher.frames[0]?.isReset, true);
      });
    }

    it('is a reset if changes were not recorded for a while', async () => {
      const world = virtualWorld();
      await using on = await stage(world);
      await on.engine.subscribe();
      const first = await watch(world, on);
      first.handle.leave();
      await world.pass(2 * limits.watchLeaseMs);
      await on.engine.publish();
      await world.pass(1_000);
      const second = await watch(world, on, first.frames[0]?.cursor);
      assert.equal(second.frames[0]?.isReset, true);
    });

    it('is a reset after a restart', async () => {
      const world = virtualWorld();
      const sqlite = openDatabase();
      let cursor: string | undefined;
      {
        await using on = await stage(world, { sqlite });
        const watcher = await watch(world, on);
        cursor = watcher.frames[0]?.cursor;
      }
      await using on = await stage(world, { sqlite });
      const watcher = await watch(world, on, cursor);
      assert.equal(watcher.frames[0]?.isReset, true);
    });
  });

  it('says that lists must be reloaded when unnamed deliveries have ended', async () => {
    const world = virtualWorld();
    await using on = await stage(world, { answer: { ...ok, status: 500 } });
    const subscriberId = await on.engine.subscribe();
    await on.engine.publish();
    const watcher = await watch(world, on);
    await world.pass(1_000);
    assert(watcher.frames.every(({ isReset }) => !isReset));
    const { context } = on.engine;
    await unsubscribe(context, context.defaultApp, subscriberId);
    await world.pass(1_000);
    assert(
      watcher.frames.some(({ isReset }) => isReset),
      'it was cancelled in the lane',
    );
  });

  it('sends changes of an app only to clients of that app', async () => {
    const world = virtualWorld();
    await using on = await stage(world);
    const watcher = await watch(world, { ...on, appNo: on.appNo + 1 });
    const own = await watch(world, on);
    await on.engine.subscribe();
    await on.engine.publish();
    await world.pass(1_000);
    assert.equal(own.sum('published'), 1);
    assert.equal(watcher.frames.length, 1);
  });

  it('sends keep-alives, and closes streams whose key is no longer valid', async () => {
    const world = virtualWorld();
    await using on = await stage(world);
    const [watcher, other] = [await watch(world, on), await watch(world, on)];
    other.isWelcomed = false;
    await world.pass(limits.streamStillHereMs);
    assert.equal(watcher.cursors.length, 1);
    assert.equal(other.isOver, 'bye');
    assert.equal(watcher.isOver, undefined);
    watcher.slow = true;
    await world.pass(limits.streamStillHereMs);
    assert.equal(watcher.cursors.length, 1, 'one that does not read gets nothing');
  });

  it('accepts a bounded number of clients', async () => {
    const world = virtualWorld();
    await using on = await stage(world);
    const first = await watch(world, on);
    for (let count = 1; count < limits.streamsPerAppMax; count += 1) await watch(world, on);
    const refused = { code: 'too_many_streams' };
    await assert.rejects(watch(world, on), refused);
    for (let count = limits.streamsPerAppMax; count < limits.streamsMax; count += 1) {
      const appNo = on.appNo + Math.floor(count / limits.streamsPerAppMax);
      await watch(world, { ...on, appNo });
    }
    await assert.rejects(watch(world, { ...on, appNo: on.appNo + 99 }), refused);
    first.handle.leave();
    await watch(world, on);
  });

  it('says goodbye when it stops, and cuts off clients that do not close', async () => {
    const world = virtualWorld();
    let deaf: TestWatcher;
    let watcher: TestWatcher;
    {
      await using on = await stage(world);
      watcher = await watch(world, on);
      deaf = await watch(world, on);
      deaf.sendGoodbye = () => undefined;
    }
    assert.equal(watcher.isOver, 'bye');
    assert.equal(deaf.isOver, 'cut');
  });

  describe('on several nodes', () => {
    it('sends changes of another node, which begins to record within a second', async () => {
      const world = virtualWorld();
      const sqlite = openDatabase();
      await using here = await stage(world, { sqlite, isShared: true, node: 'here' });
      await using there = await stage(world, { sqlite, isShared: true, node: 'there' });
      await there.engine.subscribe();
      const watcher = await watch(world, here);
      assert.equal(watcher.frames[0]?.isReset, false);
      await world.pass(limits.watchLookMs + 2 * limits.frameEveryMs);
      assert.equal(watcher.frames.at(-1)?.isReset, true, 'it recorded nothing before');
      const known = watcher.frames.length;
      await there.engine.publish();
      await world.pass(2_000);
      assert.equal(watcher.sum('published'), 1);
      assert.equal(watcher.sum('delivered'), 1);
      assert(watcher.frames.slice(known).every(({ isReset }) => !isReset));
    });

    it('resumes at another node, with what any of them has sent', async () => {
      const world = virtualWorld();
      const sqlite = openDatabase();
      await using here = await stage(world, { sqlite, isShared: true, node: 'here' });
      await using there = await stage(world, { sqlite, isShared: true, node: 'there' });
      await here.engine.subscribe();
      const first = await watch(world, here);
      await world.pass(3_000);
      await here.engine.publish();
      await world.pass(1_000);
      first.handle.leave();
      await Promise.all([here.engine.publish(), there.engine.publish()]);
      await world.pass(1_000);
      const second = await watch(world, there, first.frames.at(-1)?.cursor);
      assert.equal(second.frames[0]?.isReset, false);
      assert.equal(second.sum('published'), 2);
      assert.equal(second.sum('delivered'), 2);
    });
  });
});
