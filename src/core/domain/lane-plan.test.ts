import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { fc } from '../../../test/fast-check.ts';
import type { Lane } from './lane.ts';
import { brokenAfter } from './circuit-breaker.ts';
import { laneAfterClaim, never, claimRoom } from './lane.ts';
import type { LaneControls, LaneChoice } from './lane-plan.ts';
import { laneAfterMoveIn, planLanes, laneAfterRateChange } from './lane-plan.ts';
import { intervalOf } from './rate-limit.ts';
import { lane } from '../../../test/lane.ts';

const nowMs = 1_700_000_000_000;
const controls = (changes: Partial<LaneControls> = {}): LaneControls => ({
  ordered: false,
  ratePerSecond: undefined,
  concurrency: undefined,
  ...changes,
});
const there = (no: number): LaneChoice => ({ kind: 'existing', no });
const added = (index: number): LaneChoice => ({ kind: 'new', index });

describe('planLanes', () => {
  it('gives each callback a lane, or one lane to all of an ordered or rate-limited subscription', () => {
    const three = [undefined, undefined, undefined];
    assert.deepEqual(planLanes([], three, controls()), [added(0), added(1), added(2)]);
    const one = [added(0), added(0), added(0)];
    assert.deepEqual(planLanes([], three, controls({ ordered: true })), one);
    assert.deepEqual(planLanes([], three, controls({ ratePerSecond: 1 })), one);
    assert.deepEqual(planLanes([], three, controls({ concurrency: 2 })).length, 3);
  });

  it('keeps every callback in its lane when nothing changes', () => {
    const lanes = [lane({ no: 4 }), lane({ no: 7 }), lane({ no: 8, ordered: true })];
    assert.deepEqual(planLanes(lanes, [7, 4], controls()), [there(7), there(4)]);
    assert.deepEqual(planLanes(lanes, [8, 8], controls({ ordered: true })), [there(8), there(8)]);
    const limited = controls({ ratePerSecond: 1 });
    assert.deepEqual(planLanes(lanes, [4, 4], limited), [there(4), there(4)]);
  });

  it('uses a separate lane for an order, and the first lane for a rate limit', () => {
    const lanes = [lane({ no: 4 }), lane({ no: 7 })];
    const ordered = controls({ ordered: true, ratePerSecond: 5 });
    assert.deepEqual(planLanes(lanes, [4, 7], ordered), [added(0), added(0)]);
    const limited = controls({ ratePerSecond: 5 });
    assert.deepEqual(planLanes(lanes, [4, 7], limited), [there(4), there(4)]);
  });

  it('gives a later callback the shared lane, or one that is unused', () => {
    const lanes = [lane({ no: 4 }), lane({ no: 7 }), lane({ no: 8, ordered: true })];
    assert.deepEqual(planLanes(lanes, [undefined, 4], controls()), [there(7), there(4)]);
    assert.deepEqual(planLanes(lanes, [4, undefined, 7], controls()), [
      there(4),
      added(0),
      there(7),
    ]);
    const ordered = controls({ ordered: true });
    assert.deepEqual(planLanes(lanes, [8, undefined], ordered), [there(8), there(8)]);
  });

  it('gives each callback a lane of the right kind after any changes, and keeps the number small', () => {
    const some = fc.record({
      ordered: fc.boolean(),
      ratePerSecond: fc.option(fc.constant(2), { nil: undefined }),
      concurrency: fc.constant(undefined),
    });
    const change = fc.record({ next: some, comes: fc.boolean() });
    fc.assert(
      fc.property(fc.nat(4), fc.array(change, { maxLength: 12 }), (count, changes) => {
        const lanes: Lane[] = [];
        let callbacks: (number | undefined)[] = Array.from({ length: count }, () => undefined);
        for (const { next, comes } of changes) {
          if (comes) callbacks = [undefined, ...callbacks];
          const before = lanes.length;
          const plan = planLanes(lanes, callbacks, next);
          callbacks = plan.map((choice) => {
            const no = choice.kind === 'existing' ? choice.no : before + choice.index + 1;
            if (!lanes.some((each) => each.no === no)) lanes.push(lane({ no, ...next }));
            return no;
          });
          const found = callbacks.map((no) => lanes.find((each) => each.no === no));
          assert(found.every((each) => each?.ordered === next.ordered));
          const isShared = next.ordered || next.ratePerSecond !== undefined;
          const most = isShared ? Math.min(callbacks.length, 1) : callbacks.length;
          assert.equal(new Set(callbacks).size, most);
          assert(lanes.length <= callbacks.length + 1);
        }
      }),
    );
  });

  it('returns every callback to its own lane', () => {
    const lanes = [lane({ no: 4 }), lane({ no: 7 }), lane({ no: 8, ordered: true })];
    const own = [there(4), there(7)];
    assert.deepEqual(planLanes(lanes, [4, 4], controls()), own, 'after a rate limit');
    assert.deepEqual(planLanes(lanes, [8, 8], controls()), own, 'after an order');
  });
});

describe('intervalOf', () => {
  it('returns the time per delivery', () => {
    assert.equal(intervalOf(controls({ ratePerSecond: 4 })), 250);
    assert.equal(intervalOf(controls({ ratePerSecond: 0.5 })), 2_000);
    assert.equal(intervalOf(controls()), undefined);
  });
});

describe('laneAfterRateChange', () => {
  /** A slow lane that has used up its allowance. */
  const slow = lane({
    intervalMs: 10_000,
    tatMs: nowMs,
    gateMs: nowMs + 10_000,
    readyMs: nowMs + 10_000,
  });

  it('becomes ready sooner when the new limit allows more', () => {
    const faster = laneAfterRateChange(slow, nowMs + 1, 100);
    assert.deepEqual([faster.gateMs, faster.readyMs], [nowMs + 100, nowMs + 100]);
    const free = laneAfterRateChange(slow, nowMs + 1, undefined);
    assert.deepEqual([free.gateMs, free.readyMs], [0, nowMs + 1]);
  });

  it('waits longer when it allows less, and grants nothing twice', () => {
    const slower = { ...slow, ...laneAfterRateChange(slow, nowMs + 1, 60_000), intervalMs: 60_000 };
    assert.deepEqual([slower.gateMs, slower.readyMs], [nowMs + 60_000, nowMs + 60_000]);
    const plenty = { free: 9, quantum: 9 };
    assert.equal(claimRoom(slower, nowMs + 59_999, plenty), 0);
    assert.equal(claimRoom(slower, nowMs + 60_000, plenty), 1);
  });

  it('leaves an idle lane idle', () => {
    const quiet = lane({ intervalMs: 10_000, tatMs: nowMs, gateMs: nowMs + 10_000 });
    assert.equal(laneAfterRateChange(quiet, nowMs, 5).readyMs, never);
  });

  it('keeps an ordered lane closed while its head is in flight, and keeps the time of a breaker', () => {
    const running = lane({ ordered: true, gateMs: never, intervalMs: 10_000, tatMs: nowMs });
    assert.equal(laneAfterRateChange(running, nowMs, undefined).gateMs, never);
    const brokenMs = nowMs + 30_000;
    const broken = { ...slow, failures: brokenAfter, gateMs: brokenMs, readyMs: brokenMs };
    const free = laneAfterRateChange(broken, nowMs, undefined);
    assert.deepEqual([free.gateMs, free.readyMs], [brokenMs, brokenMs]);
  });

  it('keeps the retry wait of an ordered head', () => {
    const waits = lane({ ...slow, ordered: true, gateMs: nowMs + 60_000, readyMs: nowMs + 60_000 });
    assert.equal(laneAfterRateChange(waits, nowMs, undefined).gateMs, nowMs + 60_000);
  });

  it('changes nothing when the limit stays the same', () => {
    const { gateMs, readyMs, tatMs, failures, failingMs } = slow;
    const same = { gateMs, readyMs, tatMs, failures, failingMs };
    assert.deepEqual(laneAfterRateChange(slow, nowMs, slow.intervalMs), same);
  });

  it('never exceeds the rate, over any changes of it', () => {
    const step = fc.record({ waitMs: fc.nat(3_000), rate: fc.constantFrom(0.4, 0.7, 1, 3, 50) });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 30 }), (steps) => {
        let limited = lane({ readyMs: nowMs, intervalMs: 500 });
        let atMs = nowMs;
        let savedMs = Infinity;
        for (const { waitMs, rate } of steps) {
          const intervalMs = 1_000 / rate;
          limited = { ...limited, ...laneAfterRateChange(limited, atMs, intervalMs), intervalMs };
          atMs += waitMs;
          savedMs += waitMs;
          if (limited.readyMs > atMs) continue;
          const took = claimRoom(limited, atMs, { free: 99, quantum: 99 });
          savedMs = Math.min(savedMs, Math.max(1_000, intervalMs + 1)) - took * intervalMs;
          assert(savedMs > -0.1, `${savedMs} ms too soon`);
          limited = { ...limited, ...laneAfterClaim(limited, atMs, { took, nextMs: atMs }) };
          assert(limited.readyMs >= limited.gateMs && limited.readyMs < never);
        }
      }),
    );
  });
});

describe('laneAfterMoveIn', () => {
  it('resets the failures of earlier callbacks', () => {
    const failed = lane({
      failures: brokenAfter + 3,
      failingMs: nowMs - 10,
      gateMs: nowMs + 60_000,
      readyMs: nowMs + 60_000,
    });
    const { failures, failingMs, gateMs, readyMs } = laneAfterMoveIn(failed, nowMs, 0);
    assert.deepEqual([failures, failingMs, gateMs, readyMs], [0, undefined, 0, nowMs]);
  });

  it('counts the part of the rate that was used in other lanes', () => {
    const limited = lane({ intervalMs: 1_000, tatMs: nowMs - 9_000 });
    const { tatMs, gateMs } = laneAfterMoveIn(limited, nowMs, nowMs - 100);
    assert.deepEqual([tatMs, gateMs], [nowMs - 100, nowMs + 900]);
  });

  it('keeps an ordered lane closed while its head is in flight', () => {
    const running = lane({ ordered: true, gateMs: never, failures: brokenAfter });
    assert.equal(laneAfterMoveIn(running, nowMs, 0).gateMs, never);
  });
});
