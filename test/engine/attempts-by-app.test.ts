// Apps share the dispatch window: what an app whose receivers never answer may hold, what is left
// for others, and that nothing waits longer than a slot is held.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { limits } from '../../src/core/limits/limits.ts';
import { createWindow, type Window } from '../../src/engine/deliver/window.ts';
import { slotsOf } from '../../src/store/rules/offer-slots.ts';

type Held = ReturnType<Window['enter']>;

interface Apps {
  window: Window;
  /**
   * Takes one delivery in each of these lanes, as the store would; returns those that found room.
   */
  take: (appNo: number, lanes: readonly number[], how?: 'offer' | 'claimOffer') => Held[];
  pass: (ms: number) => void;
}

function apps(): Apps {
  let leases = 0;
  let nowMs = 0;
  const window = createWindow(() => (leases += 1));
  return {
    window,
    take: (appNo, numbers, how = 'offer') => {
      const slots = slotsOf(window[how](nowMs));
      return numbers.flatMap((no) => {
        const lane = { no, appNo, concurrency: undefined };
        if (slots.free(lane) <= 0) return [];
        slots.take(lane);
        return [window.enter({ lane: no, appNo, concurrency: undefined }, nowMs)];
      });
    },
    pass: (ms) => {
      nowMs += ms;
    },
  };
}

function lanes(from: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => from + i);
}

const [black, good] = [1, 2];
const holes = lanes(1_000, 640);

describe('an app whose receivers never answer', () => {
  it('holds at most half of the window, by publishes and claims alike', () => {
    const { take, window } = apps();
    assert.equal(take(black, holes).length, limits.windowMax / 2);
    assert.equal(take(black, holes).length, 0);
    assert.equal(take(black, holes, 'claimOffer').length, 0);
    assert.equal(window.size(), limits.windowMax / 2);
  });

  it('does not make offers longer by lanes that can take nothing', () => {
    const { take, window, pass } = apps();
    take(black, holes);
    take(good, lanes(1, 10));
    pass(limits.attemptHangsMs + 1);
    for (const how of ['offer', 'claimOffer'] as const) {
      const { free, inFlight, unproven } = window[how](limits.attemptHangsMs + 1);
      const listed = [...free.keys(), ...inFlight.keys(), ...(unproven ?? [])];
      assert.deepEqual(
        [...new Set(listed)].filter((lane) => lane >= 1_000),
        [],
      );
    }
  });

  it('leaves enough for others, known or new, fresh or claimed', () => {
    const { take } = apps();
    take(black, holes);
    assert.equal(take(good, lanes(1, 500)).length, limits.windowMax / 4, 'of new lanes');
    assert.ok(take(3, lanes(9_000, 500), 'claimOffer').length >= 16, 'and a third app');
  });

  it('counts as full for claims while the slots that are left are kept for fresh events', () => {
    const { take, window } = apps();
    while (take(black, holes, 'claimOffer').length > 0);
    const slots = slotsOf(window.offer(0));
    const lane = { no: 1_639, appNo: black, concurrency: undefined };
    assert.ok(slots.free(lane) > 0, 'a fresh event may be leased');
    assert.equal(
      slots.isFull(lane),
      true,
      'but the publish asks for no claim, which finds nothing',
    );
    assert.deepEqual(slots.fullApps().unproven, [black]);
  });

  it('leaves busy receivers of another app as many slots as they have shown to need', () => {
    const { take, window } = apps();
    while (take(black, holes, 'claimOffer').length > 0);
    const busy = lanes(1, 10);
    const turn = (): number => {
      const held = take(good, Array.from({ length: 6 }, () => busy).flat());
      for (const one of held) window.leave(one, 'success');
      return held.length;
    };
    assert.ok(turn() < 60, 'new lanes start small');
    assert.equal(turn(), 60);
    assert.equal(turn(), 60, 'also later');
  });

  it('gets its share back when attempts end, and then should claim', () => {
    const { take, window } = apps();
    const relieved = take(black, holes).map((held) => window.leave(held, 'failure').wasFull);
    assert.equal(relieved[0], false, 'what is left is for fresh events');
    assert.ok(relieved.includes(true));
    assert.equal(take(black, holes).length, limits.windowMax / 2);
  });

  it('gains nothing by earlier successes: hanging attempts use up its credit', () => {
    const { take, pass, window } = apps();
    for (let round = 0; round < 3; round += 1) {
      for (const held of take(black, lanes(round * 200, 200))) window.leave(held, 'success');
    }
    const hanging = take(black, holes);
    assert.ok(hanging.length > limits.windowMax / 2, 'they were believed once');
    pass(limits.attemptHangsMs);
    window.offer(limits.attemptHangsMs);
    for (const held of hanging) window.leave(held, 'failure');
    assert.equal(take(black, lanes(5_000, 640)).length, limits.windowMax / 2);
  });

  it('counts a receiver that answers late as one that may hang', () => {
    const { take, pass, window } = apps();
    for (const held of take(black, [1])) window.leave(held, 'success');
    take(black, [1]);
    pass(limits.attemptHangsMs);
    const { unproven } = window.offer(limits.attemptHangsMs);
    assert.deepEqual([...(unproven ?? [])], [1]);
  });

  it('still delivers to those of its receivers that answered recently', () => {
    const { take, window } = apps();
    for (const held of take(black, [1, 2, 3])) window.leave(held, 'success');
    take(black, holes);
    assert.equal(take(black, holes).length, 0);
    const { free, apps: rooms } = window.offer(0);
    const part = (rooms?.get(black)?.room ?? 0) >> 4;
    assert(part > 1 && part < limits.laneCapStart, `a part of its room: ${part}`);
    assert.deepEqual(
      [1, 2, 3].map((lane) => free.get(lane)),
      [part, part, part],
    );
    assert.equal(take(black, [1, 2, 3]).length, 3);
    assert.equal(take(black, [1, 2, 3], 'claimOffer').length, 3);
  });
});

describe('an app whose receivers answer in time', () => {
  it('may use seven eighths of the window alone, including new receivers', () => {
    const { take, window } = apps();
    for (let round = 0; round < 3; round += 1) {
      for (const held of take(good, lanes(round * 200, 200))) window.leave(held, 'success');
    }
    assert.equal(take(good, lanes(5_000, 640)).length, (limits.windowMax / 8) * 7);
  });

  it('makes room for another one until both have the same', () => {
    const { take, window } = apps();
    const known = (appNo: number): number[] => lanes(appNo * 1_000, 250);
    for (const appNo of [1, 2]) {
      for (const held of take(appNo, known(appNo))) window.leave(held, 'success');
    }
    const held = { 1: take(1, known(1)), 2: [] as Held[] };
    // One attempt ends at a time, and both apps have more than enough pending: the older app first.
    for (let turn = 0; turn < 600; turn += 1) {
      const longest = held[1].length >= held[2].length ? held[1] : held[2];
      const over = longest.shift();
      assert(over);
      window.leave(over, 'success');
      held[1].push(...take(1, known(1).slice(turn % 200)));
      held[2].push(...take(2, known(2).slice(turn % 200)));
    }
    assert.ok(Math.abs(held[1].length - held[2].length) <= 2, `${held[1].length}`);
    assert.ok(held[1].length + held[2].length > (limits.windowMax * 3) / 4);
  });
});

describe('an app that ran out of room', () => {
  it('is relieved when another app releases its slots', () => {
    const { take, window } = apps();
    const others = take(good, lanes(1, 500));
    take(black, holes);
    const relieved = others.map((held) => window.leave(held, 'success').wasFull);
    assert.ok(relieved.includes(true));
    assert.ok(take(black, holes, 'claimOffer').length > 0);
  });

  it('is relieved when slots were released while the store used up the last offer', () => {
    const { take, window } = apps();
    const first = take(black, holes.slice(0, 100));
    const slots = slotsOf(window.claimOffer(0));
    for (const held of first) window.leave(held, 'success');
    const brought = holes.slice(200).filter((no) => {
      const lane = { no, appNo: black, concurrency: undefined };
      if (slots.free(lane) <= 0) return false;
      slots.take(lane);
      window.enter({ lane: no, appNo: black, concurrency: undefined }, 0);
      return true;
    });
    assert.ok(brought.length > 0);
    assert.equal(window.hasUnofferedRoom(brought), true);
    assert.equal(window.hasUnofferedRoom([]), false, 'said once');
  });
});
