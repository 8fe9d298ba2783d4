// The window, the gate and the target cache alone; then the dispatcher over a scripted store, and
// over the real SQL when the store, a secret or a receiver fails.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { noControls } from '../../src/core/domain/controls.ts';
import type { Leased } from '../../src/core/domain/delivery.ts';
import { withPrefix } from '../../src/core/base/id.ts';
import { never } from '../../src/core/domain/lane.ts';
import { limits } from '../../src/core/limits/limits.ts';
import { Dispatcher } from '../../src/engine/deliver/dispatcher.ts';
import { createGate } from '../../src/engine/deliver/gate.ts';
import { sealSecrets } from '../../src/engine/targets/secrets.ts';
import { makeSigningSecret } from '../../src/core/secrets/signing-secret.ts';
import { changeSubscription } from '../../src/engine/subscribe/subscriptions.ts';
import { createTargetCache } from '../../src/engine/targets/target-cache.ts';
import { noChoice } from '../../src/core/domain/read-controls.ts';
import { createWindow, type AttemptResult, type Window } from '../../src/engine/deliver/window.ts';
import type {
  Delivery,
  Offer,
  NextWork,
  Settled,
  Settlement,
  Target,
  Worked,
  Worker,
} from '../../src/store/port/delivery-verbs.ts';
import { StoreUnavailable, type Store } from '../../src/store/port/store.ts';
import { openDatabase, startEngine, type Engine, type FakeSend } from './harness.ts';
import { virtualWorld, type VirtualWorld } from './virtual-world.ts';

/** A window for the lanes of one app, without passing time. */
interface LaneWindow extends Pick<Window, 'limit' | 'claimRoom' | 'size'> {
  offer: () => Offer;
  claimOffer: () => Offer;
  enter: (lane: number, concurrency?: number) => void;
  leave: (lane: number, result: AttemptResult) => { wasFull: boolean };
  hasUnofferedRoom: (lane: number) => boolean;
}

function newWindow(): LaneWindow {
  let leases = 0;
  const window = createWindow(() => (leases += 1));
  const inLane = new Map<number, ReturnType<Window['enter']>[]>();
  return {
    ...window,
    offer: () => window.offer(0),
    claimOffer: () => window.claimOffer(0),
    enter: (lane, concurrency) => {
      const held = inLane.get(lane) ?? [];
      inLane.set(lane, held);
      held.push(window.enter({ lane, appNo: 1, concurrency }, 0));
    },
    leave: (lane, result) => {
      const held = inLane.get(lane)?.shift() ?? assert.fail(`nothing is in flight in ${lane}`);
      return window.leave(held, result);
    },
    hasUnofferedRoom: (lane) => window.hasUnofferedRoom([lane]),
  };
}

function times(count: number, act: () => void): void {
  for (let done = 0; done < count; done += 1) act();
}

describe('createWindow', () => {
  it('offers all that is left to fresh deliveries, with a new lease each time', () => {
    const window = newWindow();
    assert.deepEqual(window.offer(), {
      lease: 1,
      room: limits.windowMax,
      free: new Map(),
      inFlight: new Map(),
      unproven: new Set(),
      apps: new Map(),
      appRoom: {
        room: 224,
        unproven: 128,
        laneRoom: limits.laneCapStart,
        kept: { room: limits.windowMax / 8, unproven: limits.windowMax / 8 },
      },
      laneRoom: limits.laneCapStart,
    });
    times(3, () => window.enter(7));
    const { lease, room, free, inFlight } = window.offer();
    const ofLane = [free.get(7), inFlight.get(7)];
    assert.deepEqual([lease, room, ...ofLane], [2, limits.windowMax - 3, 5, 3]);
    assert.equal(window.size(), 3);
  });

  it('keeps a quarter free of claimed deliveries', () => {
    const window = newWindow();
    assert.equal(limits.windowClaimedMax, (limits.windowMax / 4) * 3);
    for (let lane = 0; lane < limits.windowClaimedMax; lane += 1) window.enter(lane);
    const ofApp = window.claimOffer().apps?.get(1);
    assert.equal(ofApp?.room, 0);
    assert.equal(window.claimRoom(), limits.appClaimMin, 'but some are left for other apps');
    assert.equal(window.offer().room, limits.windowMax / 4);
    for (let lane = 0; lane < limits.windowMax / 4; lane += 1) window.enter(1000 + lane);
    assert.equal(window.offer().room, 0);
    assert.equal(window.claimOffer().room, 0, 'never negative');
  });

  it('gives a lane one slot more for each success, up to a limit', () => {
    const window = newWindow();
    window.enter(1);
    const freeAfter = (successes: number): number | undefined => {
      times(successes, () => {
        window.enter(1);
        window.leave(1, 'success');
      });
      return window.offer().free.get(1);
    };
    assert.equal(freeAfter(1), limits.laneCapStart + 1 - 1);
    assert.equal(freeAfter(500), limits.laneCapMax - 1);
  });

  it('halves the cap with each failure, down to one', () => {
    const window = newWindow();
    window.enter(1);
    const caps = [1, 2, 3, 4, 5].map(() => {
      window.enter(1);
      window.leave(1, 'failure');
      return (window.offer().free.get(1) ?? 0) + 1;
    });
    assert.deepEqual(caps, [4, 2, 1, 1, 1]);
    assert.equal(window.offer().free.get(1), 0, 'one is in flight, and the cap is one');
  });

  it('ignores results that are neither a success nor a failure', () => {
    const window = newWindow();
    window.enter(1);
    window.enter(1);
    window.leave(1, 'neither');
    assert.equal(window.offer().free.get(1), limits.laneCapStart - 1);
  });

  it('reports when a lane was full, because more of it may be pending', () => {
    const window = newWindow();
    times(limits.laneCapStart, () => window.enter(1));
    assert.deepEqual(window.leave(1, 'neither'), { wasFull: true });
    assert.deepEqual(window.leave(1, 'neither'), { wasFull: false });
  });

  it('forgets an idle lane', () => {
    const window = newWindow();
    window.enter(1);
    window.leave(1, 'success');
    assert.equal(window.offer().free.has(1), false);
    assert.equal(window.size(), 0);
  });

  it('remembers a lane that failed, with its small cap, until it succeeds', () => {
    const window = newWindow();
    times(3, () => {
      window.enter(1);
      window.leave(1, 'failure');
    });
    assert.equal(window.offer().free.get(1), 1);
    window.enter(1);
    window.leave(1, 'success');
    assert.equal(window.offer().free.has(1), false);
  });

  it('remembers a bounded number of failing lanes, the latest ones', () => {
    const window = newWindow();
    for (let lane = 1; lane <= limits.lanesRememberedMax + 10; lane += 1) {
      window.enter(lane);
      window.leave(lane, 'failure');
    }
    const { free } = window.offer();
    assert.equal(free.size, limits.lanesRememberedMax);
    assert.equal(free.has(1), false);
    assert.equal(free.has(limits.lanesRememberedMax + 10), true);
  });

  const trusted = limits.laneCapStart * limits.laneTrustedTimes;
  const prove = (window: LaneWindow, lane: number, successes: number): void => {
    window.enter(lane);
    times(successes, () => window.enter(lane));
    times(successes + 1, () => window.leave(lane, 'success'));
  };

  it('remembers the throughput of a lane, up to a limit, until it fails', () => {
    const window = newWindow();
    prove(window, 1, trusted - limits.laneCapStart - 2);
    assert.equal(window.offer().free.has(1), false, 'one short of the threshold');
    prove(window, 1, trusted - limits.laneCapStart - 1);
    assert.equal(window.offer().free.get(1), trusted);
    prove(window, 1, limits.laneCapMax);
    assert.equal(window.offer().free.get(1), limits.laneCapKept);
    window.enter(1);
    window.leave(1, 'failure');
    assert.equal(window.offer().free.get(1), limits.laneCapKept / 2);
  });

  it('gives a trusted idle lane less, the fuller it is', () => {
    const window = newWindow();
    prove(window, 1, limits.laneCapMax);
    for (let lane = 2; lane < 2 + limits.windowMax / 2; lane += 1) window.enter(lane);
    assert.equal(window.offer().free.get(1), limits.windowMax / 16);
    window.enter(1);
    assert.equal(
      window.offer().free.get(1),
      limits.windowMax / 16 - 1,
      'it does not grow without a success',
    );
    window.leave(1, 'success');
    window.enter(1);
    assert.equal(window.offer().free.get(1), limits.windowMax / 16);
  });

  it('remembers a bounded number of trusted lanes, the latest ones, and no fewer failing ones', () => {
    const window = newWindow();
    window.enter(5_000);
    window.leave(5_000, 'failure');
    for (let lane = 1; lane <= limits.lanesTrustedMax + 10; lane += 1) prove(window, lane, 20);
    const { free } = window.offer();
    assert.equal(free.size, limits.lanesTrustedMax + 1);
    assert.equal(free.has(10), false);
    assert.equal(free.has(11), true);
    assert.equal(free.has(5_000), true);
  });

  it('gives new lanes less, the fuller it is, but always something', () => {
    const window = newWindow();
    const laneRooms = (): (number | undefined)[] => {
      const { laneRoom, apps } = window.offer();
      return [laneRoom, apps?.get(1)?.laneRoom];
    };
    assert.deepEqual(laneRooms(), [limits.laneCapStart, undefined]);
    for (let lane = 1; lane <= limits.windowMax / 4; lane += 1) window.enter(lane);
    assert.deepEqual(laneRooms(), [6, 4], 'for another app, and for this one');
    for (let lane = 1; lane <= limits.windowMax / 4; lane += 1) window.enter(1000 + lane);
    assert.deepEqual(laneRooms(), [4, 1]);
    for (let lane = 1; lane <= limits.windowMax / 2; lane += 1) window.enter(2000 + lane);
    assert.deepEqual(laneRooms(), [1, 1]);
  });

  it('detects room that the last offer did not include', () => {
    const window = newWindow();
    times(5, () => window.enter(1));
    assert.equal(window.hasUnofferedRoom(1), false, 'three are left of the first grant');
    times(2, () => window.enter(1));
    window.offer();
    window.enter(1);
    assert.equal(window.hasUnofferedRoom(1), false, 'it is full');
    window.leave(1, 'neither');
    window.offer();
    window.leave(1, 'neither');
    assert.equal(window.hasUnofferedRoom(1), false, 'the store has taken nothing yet');
    window.enter(1);
    assert.equal(window.hasUnofferedRoom(1), true);
    window.offer();
    assert.equal(window.hasUnofferedRoom(1), false, 'offered again');
  });

  it('never raises a cap above that of the subscription', () => {
    const window = newWindow();
    window.enter(1, 3);
    assert.equal(window.offer().free.get(1), 2);
    times(9, () => {
      window.enter(1, 3);
      window.leave(1, 'success');
    });
    assert.equal(window.offer().free.get(1), 2);
    window.enter(1, 999);
    times(500, () => {
      window.enter(1, 999);
      window.leave(1, 'success');
    });
    assert.equal(window.offer().free.get(1), limits.laneCapMax - 2, 'nor above its own limit');
  });

  it('applies a lowered cap as soon as it learns of it, and reports that the lane was full', () => {
    const window = newWindow();
    times(6, () => window.enter(1));
    assert.deepEqual(window.leave(1, 'success'), { wasFull: false });
    window.limit(1, 2);
    assert.equal(window.offer().free.get(1), 0);
    assert.equal(window.offer().inFlight.get(1), 5);
    const wereFull = [1, 2, 3, 4].map(() => window.leave(1, 'success').wasFull);
    assert.deepEqual(wereFull, [true, true, true, true]);
    assert.equal(window.offer().free.get(1), 1);
    window.limit(1, undefined);
    window.enter(1);
    window.leave(1, 'success');
    assert.equal(window.offer().free.get(1), 2, 'without a limit it rises again');
  });

  it('says whether the store may count the lane as full, given a cap', () => {
    const window = newWindow();
    times(2, () => window.enter(1));
    const mayBeFull = [1, 2, 3, undefined].map((cap) => window.limit(1, cap).mayBeFull);
    assert.deepEqual(mayBeFull, [true, true, false, false]);
    assert.deepEqual(window.limit(2, 1), { mayBeFull: false }, 'nothing of it is in flight');
  });

  it('detects room that the last offer did not include, even if the store knows a lower cap', () => {
    const window = newWindow();
    times(3, () => window.enter(1));
    window.offer(); // Five are free, as far as the node knows.
    window.leave(1, 'success');
    window.enter(1, 4); // The store has given one, and counts the lane as full: four were in flight.
    assert.equal(window.hasUnofferedRoom(1), true);
    window.offer();
    window.enter(1, 4);
    assert.equal(window.hasUnofferedRoom(1), false, 'it is full');
  });

  it('refuses to count an attempt that never entered', () => {
    const elsewhere = createWindow(() => 1).enter({ lane: 1, appNo: 1, concurrency: 1 }, 0);
    const window = createWindow(() => 2);
    assert.throws(() => window.leave(elsewhere, 'success'), /Cannot leave lane 1/);
  });
});

describe('createGate', () => {
  it('stops registered deliveries, and no others', () => {
    const gate = createGate();
    const before = gate.approach('a');
    const other = gate.approach('b');
    gate.close('a', 'held');
    const later = gate.approach('a');
    assert.deepEqual([before.state(), other.state(), later.state()], ['held', 'open', 'open']);
  });

  it('stays ended: a pause does not change it back', () => {
    const gate = createGate();
    const pass = gate.approach('a');
    gate.close('a', 'held');
    gate.close('a', 'ended');
    gate.close('a', 'held');
    assert.equal(pass.state(), 'ended');
  });

  it('forgets deliveries that have left', () => {
    const gate = createGate();
    const gone = gate.approach('a');
    const there = gate.approach('a');
    gone.leave();
    gate.close('a', 'ended');
    assert.deepEqual([gone.state(), there.state()], ['open', 'ended']);
    there.leave();
    there.leave();
    const next = gate.approach('a');
    gone.leave();
    gate.close('a', 'held');
    assert.equal(next.state(), 'held', 'leaving twice does not remove another delivery');
  });
});

function targetOf(callback: number, url = 'http://127.0.0.1/'): Target {
  return {
    callback,
    lane: callback,
    version: 1,
    isActive: true,
    subscription: `s${callback}`,
    appNo: 1,
    appId: 'a',
    contract: 'c',
    operation: 'o',
    definition: 'd',
    method: 'POST',
    url,
    secrets: new Uint8Array(),
    controls: noControls,
    headers: undefined,
  };
}

/** A store whose reads of targets the test answers one by one. */
function askedStore(): {
  store: Pick<Store, 'read'>;
  asked: { callbacks: readonly number[]; answer: PromiseWithResolvers<readonly Target[]> }[];
} {
  const asked: ReturnType<typeof askedStore>['asked'] = [];
  const read = async (
    _verb: string,
    { callbacks }: { callbacks: readonly number[] },
  ): Promise<readonly Target[]> => {
    const answer = Promise.withResolvers<readonly Target[]>();
    asked.push({ callbacks, answer });
    return answer.promise;
  };
  return { store: { read }, asked };
}

const turn = async (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('createTargetCache', () => {
  it('reads once for all concurrent and later requests', async () => {
    const { store, asked } = askedStore();
    const cache = createTargetCache({ store, world: virtualWorld() });
    const finding = Promise.all([cache.find(1, 1), cache.find(1, 1)]);
    await turn();
    asked[0]?.answer.resolve([targetOf(1)]);
    assert.deepEqual(await finding, [targetOf(1), targetOf(1)]);
    assert.deepEqual(await cache.find(1, 1), targetOf(1));
    assert.deepEqual(
      asked.map(({ callbacks }) => callbacks),
      [[1]],
    );
  });

  it('reads changed targets again, and only those', async () => {
    const { store, asked } = askedStore();
    const cache = createTargetCache({ store, world: virtualWorld() });
    const both = [cache.find(1, 1), cache.find(2, 1)];
    await turn();
    assert.deepEqual(asked[0]?.callbacks, [1, 2], 'both with one read');
    asked[0]?.answer.resolve([targetOf(2), targetOf(1)]);
    assert.deepEqual(await Promise.all(both), [targetOf(1), targetOf(2)]);
    cache.forget('s1');
    const moved = targetOf(1, 'http://127.0.0.1/moved');
    const finding = cache.find(1, 1);
    await turn();
    asked[1]?.answer.resolve([moved]);
    assert.deepEqual(await finding, moved);
    assert.deepEqual(await cache.find(2, 1), targetOf(2));
    assert.equal(asked.length, 2);
  });

  it('repeats a read that a change has overtaken, so that no caller gets an outdated answer', async () => {
    const { store, asked } = askedStore();
    const cache = createTargetCache({ store, world: virtualWorld() });
    const finding = cache.find(1, 1);
    await turn();
    cache.forget('s1');
    asked[0]?.answer.resolve([targetOf(1, 'http://127.0.0.1/old')]);
    await turn();
    assert.equal(asked.length, 2);
    asked[1]?.answer.resolve([targetOf(1, 'http://127.0.0.1/new')]);
    assert.equal((await finding)?.url, 'http://127.0.0.1/new');
  });

  it('repeats only the changed target: the others of the same read have their answer', async () => {
    const { store, asked } = askedStore();
    const cache = createTargetCache({ store, world: virtualWorld() });
    const [overtaken, other] = [cache.find(1, 1), cache.find(2, 1)];
    await turn();
    cache.forget('s1');
    asked[0]?.answer.resolve([targetOf(1, 'http://127.0.0.1/old'), targetOf(2)]);
    assert.deepEqual(await other, targetOf(2));
    assert.equal(cache.known(1, 1), undefined);
    assert.deepEqual(asked[1]?.callbacks, [1]);
    asked[1]?.answer.resolve([targetOf(1)]);
    assert.deepEqual(await overtaken, targetOf(1));
  });

  it('knows the app of a callback even after its target was evicted', async () => {
    const { store, asked } = askedStore();
    const cache = createTargetCache({ store, world: virtualWorld() });
    const finding = cache.find(1, 1);
    await turn();
    assert.equal(cache.appOf(1), undefined);
    asked[0]?.answer.resolve([{ ...targetOf(1), appNo: 7 }]);
    await finding;
    assert.equal(cache.appOf(1), 7);
    cache.forget('s1');
    assert.deepEqual([cache.known(1, 1), cache.appOf(1)], [undefined, 7]);
  });

  it('remembers neither unknown targets nor failures', async () => {
    const { store, asked } = askedStore();
    const cache = createTargetCache({ store, world: virtualWorld() });
    const unknown = cache.find(1, 1);
    await turn();
    asked[0]?.answer.resolve([]);
    assert.equal(await unknown, undefined);
    const failed = cache.find(1, 1);
    await turn();
    asked[1]?.answer.reject(new StoreUnavailable('away'));
    await assert.rejects(failed, StoreUnavailable);
    const found = cache.find(1, 1);
    await turn();
    asked[2]?.answer.resolve([targetOf(1)]);
    assert.deepEqual(await found, targetOf(1));
  });

  it('reads each by itself if one of them cannot be read', async () => {
    const read = async (
      _verb: string,
      { callbacks }: { callbacks: readonly number[] },
    ): Promise<readonly Target[]> => {
      if (callbacks.includes(2)) throw new Error('no text where one must be');
      return callbacks.map((callback) => targetOf(callback));
    };
    const cache = createTargetCache({ store: { read }, world: virtualWorld() });
    const found = await Promise.allSettled([1, 2, 3].map(async (one) => cache.find(one, 1)));
    assert.deepEqual(
      found.map((one) => (one.status === 'fulfilled' ? one.value?.callback : String(one.reason))),
      [1, 'Error: no text where one must be', 3],
    );
  });

  /** A cache that counts reads of single targets. */
  function countedCache(): { find: (callback: number) => Promise<unknown>; reads: () => number } {
    let reads = 0;
    const read = async (
      _verb: string,
      { callbacks }: { callbacks: readonly number[] },
    ): Promise<readonly Target[]> => {
      reads += 1;
      return callbacks.map((callback) => targetOf(callback));
    };
    const cache = createTargetCache({ store: { read }, world: virtualWorld() });
    return { find: async (callback) => cache.find(callback, 1), reads: () => reads };
  }

  it('keeps few of the targets that were requested once', async () => {
    const { find, reads } = countedCache();
    const most = limits.targetsSeenOnceMax;
    for (let callback = 0; callback <= most; callback += 1) await find(callback);
    await find(most);
    assert.equal(reads(), most + 1, 'the newest are kept');
    await find(0);
    assert.equal(reads(), most + 2, 'the oldest is not');
  });

  it('keeps a bounded number of those requested again, however many are requested once', async () => {
    const { find, reads } = countedCache();
    const most = limits.targetCacheEntriesMax;
    const twice = async (count: number): Promise<void> => {
      for (const _ of [1, 2])
        for (let callback = 0; callback < count; callback += 1) await find(callback);
    };
    await twice(2_000);
    for (let other = 0; other < 2 * most; other += 1) await find(100_000 + other);
    const before = reads();
    await find(0);
    assert.equal(reads(), before, 'it stays');
    await twice(most + 2_000);
    const after = reads();
    await find(0);
    assert.equal(reads(), after + 1, 'those were too many');
  });
});

/** A scripted store: it records calls, and hands over what the test says. */
function scriptedStore({ isShared = false } = {}): {
  store: Pick<Store, 'settle' | 'work' | 'attach' | 'pollMs' | 'handOut' | 'isShared'>;
  worker: () => Worker;
  works: () => number;
  settled: Settlement[];
  /** The answer to settlements. */
  answer: { settled: Settled };
} {
  let attached: Worker | undefined;
  let works = 0;
  const settled: Settlement[] = [];
  const answer: { settled: Settled } = { settled: { kind: 'settled' } };
  return {
    answer,
    store: {
      pollMs: limits.claimEveryMs,
      isShared,
      handOut: (body) => body(),
      attach: (worker) => (attached = worker),
      work: () => (works += 1),
      settle: async (settlement) => {
        settled.push(settlement);
        return answer.settled;
      },
    },
    worker: () => attached ?? assert.fail('no dispatcher is attached'),
    works: () => works,
    settled,
  };
}

function leasedOf(event: string, lane: number, concurrency?: number): Leased {
  const payload = new Uint8Array();
  const counts = { tries: 0, attempts: 0, n: 0, lease: 1, version: 1, concurrency };
  return {
    event,
    eventName: 'e',
    payload,
    trace: undefined,
    appNo: 1,
    lane,
    callback: lane,
    ...counts,
  };
}

const quiet: NextWork = { readyMs: undefined, isFanningOut: false };
const nothing: Omit<Worked, 'readyMs'> = {
  claimed: [],
  fannedOut: { deliveries: [], isMore: false },
};
const asked = { claim: true, fanOut: true };

describe('Dispatcher', () => {
  /** Deliveries end when the test says so. */
  function dispatch(
    world: VirtualWorld,
    { isShared = false } = {},
  ): ReturnType<typeof scriptedStore> & {
    dispatcher: Dispatcher;
    signals: Map<string, AbortSignal>;
    /** What was reported for each event: its start, and how it ended. */
    moved: [event: string, outcome: string | undefined][];
    overdue: Settled[];
    end: (event: string) => Promise<void>;
  } {
    const scripted = scriptedStore({ isShared });
    const ends = new Map<string, () => void>();
    const signals = new Map<string, AbortSignal>();
    const moved: [string, string | undefined][] = [];
    const overdue: Settled[] = [];
    const dispatcher = new Dispatcher({
      world,
      store: scripted.store,
      self: { no: () => 3, mayWork: () => true },
      deliver: async ({ event, n, lease }, { signal }) => {
        signals.set(event, signal);
        await new Promise<void>((resolve) => ends.set(event, resolve));
        return { event, n, lease, outcome: { kind: 'delivered' }, attempt: undefined };
      },
      onGone: () => assert.fail('no receiver has answered 410'),
      onOverdue: async (settled) => void overdue.push(settled),
      onMoved: ({ event }, settlement) => void moved.push([event, settlement?.outcome.kind]),
      onError: (error) => assert.fail(String(error)),
    });
    const end = async (event: string): Promise<void> => {
      const over = ends.get(event) ?? assert.fail(`${event} has not begun`);
      over();
      await turn();
    };
    return { ...scripted, dispatcher, signals, moved, overdue, end };
  }

  it('offers leases that hold the number of its incarnation and never repeat', async () => {
    const world = virtualWorld();
    const { dispatcher, worker } = dispatch(world);
    const leases = [1, 2, 3].map(() => worker().offer()?.lease ?? 0);
    assert.equal(new Set(leases).size, 3);
    for (const lease of leases) assert.equal(Math.floor(lease / 2 ** 32), 3);
    await dispatcher.stop(() => 0);
  });

  it('asks for work at its start, then when something is due, and every ten seconds', async () => {
    const world = virtualWorld();
    const { dispatcher, worker, works } = dispatch(world);
    assert.ok(works() > 0);
    assert.ok(worker().claim());
    worker().worked({ ...nothing, readyMs: world.nowMs() + 3_000 }, asked);
    assert.equal(worker().claim(), undefined, 'nothing is due yet');
    await world.settle();
    const atFirst = works();
    await world.pass(2_999);
    assert.equal(works(), atFirst);
    await world.pass(1);
    assert.ok(works() > atFirst);
    assert.ok(worker().claim());
    worker().worked({ ...nothing, readyMs: undefined }, asked);
    await world.settle();
    const then = works();
    await world.pass(limits.claimEveryMs - 1);
    assert.equal(works(), then);
    await world.pass(1);
    assert.ok(works() > then);
    await dispatcher.stop(() => 0);
  });

  it('reports when an attempt begins, and when its outcome is written', async () => {
    const { dispatcher, worker, moved, end } = dispatch(virtualWorld());
    worker().take([leasedOf('a', 1)], quiet);
    await turn();
    assert.deepEqual(moved, [['a', undefined]]);
    await end('a');
    assert.deepEqual(moved.slice(1), [['a', 'delivered']]);
    await dispatcher.stop(() => 0);
  });

  const answers: [Settled, claimsAgain: boolean][] = [
    [{ kind: 'stale' }, true],
    [{ kind: 'overdue', appNo: 1, lane: 1 }, true],
    [{ kind: 'settled' }, false],
  ];
  for (const [settled, claimsAgain] of answers) {
    it(`claims ${claimsAgain ? 'at once' : 'nothing'} when a settlement is ${settled.kind}`, async () => {
      const { dispatcher, worker, answer, overdue, end } = dispatch(virtualWorld());
      answer.settled = settled;
      worker().claim();
      worker().worked({ ...nothing, readyMs: undefined }, asked);
      worker().take([leasedOf('a', 1)], quiet);
      await turn();
      assert.equal(worker().claim(), undefined, 'nothing is due');
      await end('a');
      assert.equal(worker().claim() !== undefined, claimsAgain);
      assert.deepEqual(overdue, settled.kind === 'overdue' ? [settled] : []);
      await dispatcher.stop(() => 0);
    });
  }

  it('wakes for a delivery that is due earlier than expected', async () => {
    const world = virtualWorld();
    const { dispatcher, worker, works } = dispatch(world);
    worker().claim();
    worker().worked({ ...nothing, readyMs: never }, asked);
    await world.pass(10);
    worker().take([], { readyMs: world.nowMs() + 500, isFanningOut: false });
    await world.pass(499);
    const before = works();
    await world.pass(1);
    assert.ok(works() > before);
    await dispatcher.stop(() => 0);
  });

  it('loses no notification that arrives during a claim', async () => {
    const world = virtualWorld();
    const { dispatcher, worker, works } = dispatch(world);
    worker().claim();
    worker().take([], { readyMs: world.nowMs(), isFanningOut: false });
    const before = works();
    worker().worked({ ...nothing, readyMs: undefined }, asked);
    assert.ok(works() > before, 'it asks again at once');
    assert.ok(worker().claim());
    await dispatcher.stop(() => 0);
  });

  it('claims again when a slot became free while a claim filled the lane', async () => {
    const world = virtualWorld();
    const { dispatcher, worker, works, end } = dispatch(world);
    worker().claim();
    worker().worked({ ...nothing, readyMs: undefined }, asked);
    // Five of eight slots are taken. A claim takes the other three, and the store counts the lane
    // as full.
    worker().take(
      ['a', 'b', 'c', 'd', 'e'].map((event) => leasedOf(event, 1)),
      { ...quiet, readyMs: world.nowMs() },
    );
    assert.equal(worker().claim()?.free.get(1), 3);
    await end('a');
    const before = works();
    const claimed = ['f', 'g', 'h'].map((event) => leasedOf(event, 1));
    worker().worked({ ...nothing, claimed, readyMs: undefined }, asked);
    assert.ok(works() > before, 'the lane has room, and more of it may be pending');
    for (const event of ['b', 'c', 'd', 'e', 'f', 'g', 'h']) await end(event);
    await dispatcher.stop(() => 0);
  });

  it('claims again when a slot became free while fresh deliveries filled the lane', async () => {
    const world = virtualWorld();
    const { dispatcher, worker, works, end } = dispatch(world);
    worker().claim();
    worker().worked({ ...nothing, readyMs: undefined }, asked);
    const seven = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    worker().take(
      seven.map((event) => leasedOf(event, 1)),
      quiet,
    );
    assert.equal(worker().offer()?.free.get(1), 1);
    await end('a');
    const before = works();
    worker().take([leasedOf('h', 1)], quiet);
    assert.ok(works() > before, 'a second fresh delivery may be pending behind the first');
    for (const event of [...seven.slice(1), 'h']) await end(event);
    await dispatcher.stop(() => 0);
  });

  for (const settled of [{ kind: 'settled', concurrency: 2 }, { kind: 'stale' }] as const) {
    it(`asks when a slot becomes free and the answer is ${JSON.stringify(settled)}`, async () => {
      const world = virtualWorld();
      const { dispatcher, worker, works, end, answer } = dispatch(world);
      worker().claim();
      worker().worked({ ...nothing, readyMs: undefined }, asked);
      worker().take([leasedOf('a', 1), leasedOf('b', 1)], quiet);
      await end('a');
      worker().take([leasedOf('c', 1)], quiet);
      const before = works();
      answer.settled = settled; // The store counted the lane as full, with two of the new cap in flight.
      await end('b');
      assert.ok(works() > before);
      assert.ok(worker().claim());
      await end('c');
      await dispatcher.stop(() => 0);
    });
  }

  it('asks when a lane that was full gets a free slot', async () => {
    const world = virtualWorld();
    const { dispatcher, worker, works, end } = dispatch(world);
    worker().claim();
    worker().worked({ ...nothing, readyMs: undefined }, asked);
    const eight = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    worker().offer();
    worker().take(
      eight.map((event) => leasedOf(event, 1)),
      quiet,
    );
    const before = works();
    await end('a');
    assert.ok(works() > before);
    for (const event of eight.slice(1)) await end(event);
    await dispatcher.stop(() => 0);
  });

  it('offers the slot of a finished attempt before its outcome is written', async () => {
    const world = virtualWorld();
    const { dispatcher, worker, end, answer, store } = dispatch(world);
    const written = Promise.withResolvers<Settled>();
    store.settle = async () => written.promise;
    worker().claim();
    worker().worked({ ...nothing, readyMs: undefined }, asked);
    worker().take([leasedOf('a', 1, 1)], quiet);
    const { room = 0 } = worker().offer() ?? {};
    await end('a');
    const offer = worker().claim();
    assert.ok(offer, 'the next delivery of the lane may be claimed');
    assert.equal(worker().offer()?.room, room + 1);
    assert.equal(offer.inFlight.get(1), undefined);
    assert.equal(dispatcher.inFlight(), 1);
    written.resolve(answer.settled);
    await dispatcher.stop(() => 0);
  });

  it('takes nothing new while too many outcomes are unwritten', async () => {
    const world = virtualWorld();
    const { dispatcher, worker, end, answer, store } = dispatch(world);
    const written = Promise.withResolvers<Settled>();
    store.settle = async () => written.promise;
    const all = Array.from({ length: limits.unwrittenMax }, (_, i) => `e${i}`);
    const at = (index: number): Leased => leasedOf(all[index] ?? '', index);
    const but = all.length - 1;
    for (let i = 0; i < but; i += 1) {
      worker().take([at(i)], quiet);
      await end(all[i] ?? '');
    }
    assert.ok(worker().offer());
    worker().take([at(but)], quiet);
    await end(all[but] ?? '');
    assert.equal(worker().offer(), undefined);
    assert.equal(worker().claim(), undefined);
    written.resolve(answer.settled);
    await turn();
    assert.ok(worker().offer());
    await dispatcher.stop(() => 0);
  });

  it('continues a fan-out when there is room for a step, and when nothing is in flight', async () => {
    const world = virtualWorld();
    const { dispatcher, worker, works, end } = dispatch(world);
    const count = limits.windowClaimedMax - limits.fanOutStepMin + 1;
    const all = Array.from({ length: count }, (_, i) => `e${i}`);
    const nextWork = { readyMs: undefined, isFanningOut: true };
    worker().take(
      all.map((event, lane) => leasedOf(event, lane)),
      nextWork,
    );
    assert.equal(worker().fanOut(), undefined);
    const before = works();
    await end('e0');
    assert.ok(works() > before);
    assert.equal(worker().fanOut()?.room, limits.fanOutStepMin);
    for (const event of all) await end(event);
    assert.equal(worker().fanOut()?.room, limits.windowClaimedMax);
    await dispatcher.stop(() => 0);
  });

  it('makes the steps of a fan-out short while others publish', async () => {
    const world = virtualWorld();
    const { dispatcher, worker } = dispatch(world);
    const room = limits.windowClaimedMax;
    const step = (): unknown[] => [worker().fanOut()?.room, worker().fanOut()?.stepMax];
    worker().offer(); // The publish of the fan-out itself.
    worker().take([], { readyMs: undefined, isFanningOut: true });
    assert.deepEqual(step(), [room, undefined]);
    for (let i = 0; i < 3; i += 1) worker().take([], { readyMs: undefined, isFanningOut: true });
    assert.deepEqual(step(), [room, undefined], 'writing deliveries is not a publish');
    worker().offer();
    assert.deepEqual(step(), [room, limits.fanOutJoinedStepMax]);
    await world.pass(limits.fanOutSharedMs - 1);
    assert.deepEqual(step(), [room, limits.fanOutJoinedStepMax]);
    await world.pass(1);
    assert.deepEqual(step(), [room, undefined]);
    await dispatcher.stop(() => 0);
  });

  it('makes them less short for a store that runs them in separate transactions', async () => {
    const world = virtualWorld();
    const { dispatcher, worker } = dispatch(world, { isShared: true });
    worker().offer();
    worker().take([], { readyMs: undefined, isFanningOut: true });
    worker().offer();
    assert.equal(worker().fanOut()?.stepMax, limits.fanOutStepMin);
    await dispatcher.stop(() => 0);
  });

  it('puts off a step of a fan-out only a few times, however full the window stays', async () => {
    const world = virtualWorld();
    const { dispatcher, worker, end } = dispatch(world);
    const all = Array.from({ length: limits.windowClaimedMax }, (_, i) => `e${i}`);
    worker().take(
      all.map((event, lane) => leasedOf(event, lane)),
      { readyMs: undefined, isFanningOut: true },
    );
    for (let round = 0; round < 3; round += 1) {
      for (let i = 0; i < limits.fanOutPutOffMax; i += 1) {
        assert.equal(worker().fanOut(), undefined);
      }
      assert.equal(worker().fanOut()?.apps?.get(1)?.room, 0);
    }
    for (const event of all) await end(event);
    await dispatcher.stop(() => 0);
  });

  it('asks a failing store again after a pause, and not more often the longer it fails', async () => {
    const world = virtualWorld();
    const { dispatcher, worker, works } = dispatch(world);
    for (let failures = 1; failures <= 15; failures += 1) {
      worker().claim();
      // Settlements that fail separately are refused, too.
      times(3, () => worker().refused());
      await world.pass(limits.settleAgainMs - 1);
      const before = works();
      await world.pass(1);
      assert.equal(works(), before + 1, `after ${failures} failures`);
    }
    await dispatcher.stop(() => 0);
  });

  it('offers and claims nothing once it stops', async () => {
    const world = virtualWorld();
    const { dispatcher, worker } = dispatch(world);
    const stopping = dispatcher.stop(() => 1_000);
    assert.equal(worker().offer(), undefined);
    assert.equal(worker().claim(), undefined);
    assert.equal(worker().fanOut(), undefined);
    await world.pass(1_000);
    await stopping;
  });

  it('waits for attempts in flight when it stops, and no longer than the grace time', async () => {
    const world = virtualWorld();
    const { dispatcher, worker, settled, end } = dispatch(world);
    worker().take([leasedOf('a', 1)], quiet);
    let isStopped = false;
    const stopping = dispatcher.stop(() => 1_000).then(() => (isStopped = true));
    await world.pass(999);
    assert.equal(isStopped, false);
    await end('a');
    await world.settle();
    assert.equal(isStopped, true);
    await stopping;
    assert.deepEqual(
      settled.map(({ event, outcome }) => [event, outcome.kind]),
      [['a', 'delivered']],
    );
  });

  it('also waits for deliveries of a claim that was in flight when it stopped', async () => {
    const world = virtualWorld();
    const { dispatcher, worker, signals, end } = dispatch(world);
    worker().take([leasedOf('a', 1)], quiet);
    worker().claim();
    const stopping = dispatcher.stop(() => 1_000);
    worker().worked({ ...nothing, claimed: [leasedOf('b', 2)], readyMs: undefined }, asked);
    await end('a');
    await world.settle();
    assert.equal(signals.get('b')?.aborted, false, 'its request is not aborted');
    await end('b');
    await stopping;
  });
});

type Sqlite = ReturnType<typeof openDatabase>;

/**
 * The same database behind a switch: while it is off, everything is refused and nothing is written.
 */
function switchable(sqlite: Sqlite): { sqlite: Sqlite; turn: (how: 'on' | 'off') => void } {
  let isOn = true;
  const off = { kind: 'unavailable', message: 'disk I/O error', trace: '' } as const;
  return {
    sqlite: {
      ...sqlite,
      run: (batch) => (isOn ? sqlite.run(batch) : off),
      work: (work) => (isOn ? sqlite.work(work) : off),
      read: (call) => (isOn ? sqlite.read(call) : off),
    },
    turn: (how) => {
      isOn = how === 'on';
    },
  };
}

const ok = {
  kind: 'answered',
  status: 200,
  headers: [],
  body: new Uint8Array(),
  cut: false,
} as const;
const failed = { ...ok, status: 500 };

/** A receiver by path: `/slow` does not answer during the test, others answer as `answer` says. */
function network(answer: (url: URL) => ReturnType<FakeSend>): {
  sent: { path: string; id: string; attempt: string }[];
  send: FakeSend;
} {
  const sent: { path: string; id: string; attempt: string }[] = [];
  const send: FakeSend = async ({ url, headers }, options) => {
    if (options?.onStart?.() === false) return { kind: 'not_started', reason: 'declined' };
    const header = (name: string): string => headers[headers.indexOf(name) + 1] ?? '';
    const at = new URL(url);
    sent.push({ path: at.pathname, id: header('webhook-id'), attempt: header('ringback-attempt') });
    return answer(at);
  };
  return { sent, send };
}

async function deliveryOf({ context }: Engine, event: string, n = 0): Promise<Delivery> {
  const { store, defaultApp } = context;
  const found = await store.read('delivery', { appNo: defaultApp.no, event, n });
  return found ?? assert.fail(`no delivery ${n} of ${event}`);
}

async function attemptsOf({ context }: Engine, event: string, n = 0): Promise<number> {
  const { store, defaultApp } = context;
  return (await store.read('attempts', { appNo: defaultApp.no, event, n })).length;
}

describe('a store that is unavailable for a while', () => {
  it('loses no outcome: attempts are settled when it is back, and sent once', async () => {
    const world = virtualWorld();
    const { sqlite, turn: power } = switchable(openDatabase());
    const { sent, send } = network(async () => {
      await world.sleep(1_000);
      return ok;
    });
    await using engine = await startEngine(world, sqlite, send);
    await engine.subscribe();
    const events = await Promise.all([1, 2, 3, 4, 5].map(async () => engine.publish()));
    await world.pass(500);
    power('off');
    await world.pass(60_000);
    await assert.rejects(engine.publish(), StoreUnavailable);
    assert.ok(engine.errors.length > 0, 'the failure is reported');
    power('on');
    await world.pass(limits.settleAgainMs);
    for (const event of events) {
      const { state, attempts } = await deliveryOf(engine, event);
      assert.deepEqual([state, attempts], ['delivered', 1]);
    }
    assert.equal(sent.length, events.length);
  });

  it('delays due deliveries, counts no attempt, and recovers without a restart', async () => {
    const world = virtualWorld({ byte: 0x80 });
    const { sqlite, turn: power } = switchable(openDatabase());
    let isUp = false;
    const { sent, send } = network(async () => (isUp ? ok : failed));
    await using engine = await startEngine(world, sqlite, send);
    await engine.subscribe();
    const event = await engine.publish();
    await world.pass(1_000);
    assert.equal(sent.length, 1);
    isUp = true;
    power('off');
    await world.pass(120_000);
    assert.equal(sent.length, 1, 'nothing can be claimed');
    power('on');
    await world.pass(limits.claimEveryMs);
    const { state, attempts } = await deliveryOf(engine, event);
    assert.deepEqual([state, attempts, await attemptsOf(engine, event)], ['delivered', 2, 2]);
    await engine.publish();
    await world.settle();
    assert.equal(sent.length, 3, 'fresh events are delivered at once again');
  });

  it('costs no attempt of a delivery whose target could not be read', async () => {
    const world = virtualWorld();
    const database = openDatabase();
    let isReadable = true;
    const off = { kind: 'unavailable', message: 'disk I/O error', trace: '' } as const;
    const sqlite: Sqlite = {
      ...database,
      read: (call) => (isReadable || call.verb !== 'targets' ? database.read(call) : off),
    };
    const { sent, send } = network(async () => ok);
    await using engine = await startEngine(world, sqlite, send);
    await engine.subscribe();
    isReadable = false;
    const event = await engine.publish();
    // So often that the lane would count as broken, if these were failures of its receiver.
    await world.pass(15 * limits.ownFailureWaitMs);
    const waiting = await deliveryOf(engine, event);
    assert.deepEqual([waiting.state, waiting.attempts, sent.length], ['due', 0, 0]);
    isReadable = true;
    await world.pass(limits.ownFailureWaitMs);
    const done = await deliveryOf(engine, event);
    assert.deepEqual([done.state, done.attempts], ['delivered', 1]);
    assert.equal(sent[0]?.attempt, '1');
  });

  it('does not delay a stop: unsettled deliveries are tried again after the next start', async () => {
    const world = virtualWorld();
    const database = openDatabase();
    const { sqlite, turn: power } = switchable(database);
    const { sent, send } = network(async () => {
      await world.sleep(1_000);
      return ok;
    });
    const engine = await startEngine(world, sqlite, send);
    await engine.subscribe();
    const event = await engine.publish();
    await world.settle();
    power('off');
    const stopping = engine[Symbol.asyncDispose]();
    await world.pass(20_000);
    await stopping;
    await using next = await startEngine(world, database, send);
    await world.pass(2_000);
    const { state, attempts } = await deliveryOf(next, event);
    assert.deepEqual([state, attempts, sent.length], ['delivered', 1, 2]);
    assert.equal(sent[0]?.id, sent[1]?.id);
  });
});

describe('a slow receiver', () => {
  it('does not delay fresh events of others, whatever its backlog', async () => {
    const world = virtualWorld();
    const heard: number[] = [];
    const { send } = network(async ({ pathname }) => {
      if (pathname === '/slow') await world.sleep(14_000);
      else heard.push(world.nowMs());
      return ok;
    });
    const engine = await startEngine(world, openDatabase(), send);
    await engine.subscribe('http://127.0.0.1:9000/slow');
    for (let index = 0; index < 1_000; index += 1) await engine.publish();
    await engine.subscribe('http://127.0.0.1:9000/quick');
    const published: number[] = [];
    for (let index = 0; index < 20; index += 1) {
      await world.pass(700);
      published.push(world.nowMs());
      await engine.publish();
      await world.settle();
    }
    assert.deepEqual(heard, published);
    const stopping = engine[Symbol.asyncDispose]();
    await world.pass(limits.stopTimeoutMs + 14_000);
    await stopping;
  });

  it('does not use the quarter of the window that is reserved for fresh events', async () => {
    const world = virtualWorld({ byte: 0x80 });
    const database = openDatabase();
    const lanes = 30;
    const perLane = 8;
    {
      // A backlog in 30 lanes, due in five seconds.
      const { send } = network(async () => failed);
      await using engine = await startEngine(world, database, send);
      for (let lane = 0; lane < lanes; lane += 1) {
        await engine.subscribe(`http://127.0.0.1:9000/slow${lane}`);
      }
      for (let index = 0; index < perLane; index += 1) await engine.publish();
      await world.settle();
      const { due } = await engine.context.store.read('tally', {});
      assert.equal(due, lanes * perLane);
    }
    let inFlight = 0;
    const { sent, send } = network(async ({ pathname }) => {
      if (!pathname.startsWith('/slow')) return ok;
      inFlight += 1;
      await world.sleep(14_000);
      inFlight -= 1;
      return ok;
    });
    await using engine = await startEngine(world, database, send);
    await world.pass(6_000);
    assert.equal(inFlight, 96 + 14, 'the limit for receivers that may hang');
    await engine.subscribe('http://127.0.0.1:9000/quick');
    const atMs = world.nowMs();
    await engine.publish();
    await world.settle();
    assert.equal(sent.filter(({ path }) => path === '/quick').length, 1);
    assert.equal(world.nowMs(), atMs, 'no time has passed');
    await world.pass(60_000);
    const { due, running } = await engine.context.store.read('tally', {});
    assert.deepEqual([due, running], [0, 0]);
  });
});

describe('a failure inside one delivery', () => {
  it('affects only that one, counts no attempt, and ends with its cause', async () => {
    const world = virtualWorld();
    const { sent, send } = network(async () => ok);
    await using engine = await startEngine(world, openDatabase(), send);
    const bad = await engine.subscribe('http://127.0.0.1:9000/bad');
    const { context } = engine;
    const { store, defaultApp: app } = context;
    const id = bad.slice(4);
    const reseal = async (secrets: Uint8Array): Promise<void> => {
      const found = await store.read('subscription', { appNo: app.no, id });
      const version = found?.version ?? 0;
      const change = { state: undefined, urls: [], secrets };
      await store.edit('editSubscription', { appNo: app.no, id, version, ...change });
      context.changed(id, 'active');
    };
    await reseal(new Uint8Array(64));
    await engine.subscribe('http://127.0.0.1:9000/good');
    const event = await engine.publish();
    await world.pass(5 * limits.ownFailureWaitMs);
    assert.deepEqual(
      sent.map(({ path }) => path),
      ['/good'],
    );
    const states = await Promise.all([0, 1].map(async (n) => deliveryOf(engine, event, n)));
    const bySub = new Map(states.map((one) => [withPrefix('sub', one.subscription), one]));
    assert.equal(bySub.get(bad)?.state, 'due');
    assert.equal(bySub.get(bad)?.attempts, 0);
    assert.ok(engine.errors.length >= 5);
    assert.match(String(engine.errors[0]), new RegExp(`Cannot decrypt the secrets of ${bad}`));

    const secret = makeSigningSecret(new Uint8Array(32).fill(1), world.nowMs());
    const owner = { appId: app.id, subscriptionId: id };
    const made = sealSecrets({ ring: context.ring, world }, owner, [secret]);
    await reseal(made);
    await world.pass(limits.ownFailureWaitMs);
    assert.deepEqual(
      sent.map(({ path, attempt }) => [path, attempt]),
      [
        ['/good', '1'],
        ['/bad', '1'],
      ],
    );
  });
});

/** A network in which a connection takes until the test opens it, or until it is aborted. */
function slowConnection(): {
  starts: string[];
  waiting: () => number;
  open: () => void;
  send: FakeSend;
} {
  const starts: string[] = [];
  const waiting = new Set<() => void>();
  const send: FakeSend = async ({ headers }, { signal, onStart } = {}) => {
    const isOpen = await new Promise<boolean>((resolve) => {
      const go = (): void => resolve(true);
      waiting.add(go);
      signal?.addEventListener('abort', () => {
        waiting.delete(go);
        resolve(false);
      });
    });
    if (!isOpen) return { kind: 'aborted', started: false };
    if (onStart?.() === false) return { kind: 'not_started', reason: 'declined' };
    starts.push(headers[headers.indexOf('ringback-attempt') + 1] ?? '');
    return ok;
  };
  const open = (): void => {
    for (const go of waiting) {
      waiting.delete(go);
      go();
    }
  };
  return { starts, waiting: () => waiting.size, open, send };
}

describe('stop', () => {
  it('releases deliveries that have not started, due at once, with no attempt counted', async () => {
    const world = virtualWorld();
    const database = openDatabase();
    const { starts, waiting, send } = slowConnection();
    const engine = await startEngine(world, database, send);
    await engine.subscribe();
    const events = await Promise.all([1, 2, 3].map(async () => engine.publish()));
    await world.settle();
    assert.equal(waiting(), 3);
    const stopping = engine[Symbol.asyncDispose]();
    await world.pass(20_000);
    await stopping;
    assert.equal(waiting(), 0);
    assert.deepEqual(starts, []);
    const quick = network(async () => ok);
    await using next = await startEngine(world, database, quick.send);
    await world.settle();
    for (const event of events) {
      const { state, attempts } = await deliveryOf(next, event);
      assert.deepEqual([state, attempts, await attemptsOf(next, event)], ['delivered', 1, 1]);
    }
    assert.deepEqual(
      quick.sent.map(({ attempt }) => attempt),
      ['1', '1', '1'],
    );
  });
});

describe('a pause', () => {
  it('releases deliveries before the wire, until the subscription is resumed', async () => {
    const world = virtualWorld();
    const { starts, waiting, open, send } = slowConnection();
    await using engine = await startEngine(world, openDatabase(), send);
    const id = await engine.subscribe();
    const { context } = engine;
    const set = async (state: 'active' | 'paused'): Promise<void> => {
      await changeSubscription(context, context.defaultApp, {
        id,
        change: { state, callbacks: [], choice: noChoice },
      });
    };
    const events = await Promise.all([1, 2, 3].map(async () => engine.publish()));
    await world.settle();
    await set('paused');
    assert.equal(waiting(), 3, 'they wait for a connection');
    open();
    await world.pass(60_000);
    assert.deepEqual(starts, []);
    assert.equal(waiting(), 0, 'nothing is taken from a paused lane');
    for (const event of events) {
      const { state, attempts } = await deliveryOf(engine, event);
      assert.deepEqual([state, attempts], ['due', 0]);
    }
    await set('active');
    await world.pass(limits.claimEveryMs);
    open();
    await world.pass(1_000);
    assert.deepEqual(starts, ['1', '1', '1']);
    for (const event of events) {
      const { state, attempts } = await deliveryOf(engine, event);
      assert.deepEqual([state, attempts], ['delivered', 1]);
    }
    assert.deepEqual(engine.errors, []);
  });
});
