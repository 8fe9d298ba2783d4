import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { limits } from '../limits/limits.ts';
import type { Lane, LaneOutcome } from './lane.ts';
import { brokenAfter, isOverdue } from './circuit-breaker.ts';
import {
  laneAfterHeadExpired,
  postponeIdle,
  laneAfterClaim,
  never,
  claimRoom,
  laneAfterSettlement,
  acceptsFresh,
  wokenReadyMs,
} from './lane.ts';
import { lane } from '../../../test/lane.ts';

const nowMs = 1_700_000_000_000;
const plenty = { free: 100, quantum: 50 };
const failed = (dueMs?: number, startedMs = nowMs): LaneOutcome => ({
  kind: 'failed',
  dueMs,
  startedMs,
});

describe('acceptsFresh', () => {
  it('is true for an active lane with nothing pending', () => {
    assert(acceptsFresh(lane(), nowMs));
    assert(acceptsFresh(lane({ failures: brokenAfter - 1 }), nowMs));
    assert(acceptsFresh(lane({ readyMs: nowMs + 1 }), nowMs), 'a retry that is not due yet');
    const others: Partial<Lane>[] = [
      { state: 'held' },
      { state: 'ended' },
      { ordered: true },
      { intervalMs: 10 },
      { failures: brokenAfter },
      { readyMs: nowMs },
      { readyMs: nowMs - 1 },
      { gateMs: nowMs + 1 },
    ];
    for (const changes of others) {
      assert(!acceptsFresh(lane(changes), nowMs), JSON.stringify(changes));
    }
  });
});

describe('claimRoom', () => {
  it('is the number of free slots, up to the quantum', () => {
    assert.equal(claimRoom(lane(), nowMs, plenty), 50);
    assert.equal(claimRoom(lane(), nowMs, { free: 3, quantum: 50 }), 3);
    assert.equal(claimRoom(lane(), nowMs, { free: -1, quantum: 50 }), 0);
  });

  it('is one in an ordered lane and in a broken one', () => {
    assert.equal(claimRoom(lane({ ordered: true }), nowMs, plenty), 1);
    assert.equal(claimRoom(lane({ failures: brokenAfter }), nowMs, plenty), 1);
  });

  it('is the unused allowance of the last second in a rate-limited lane', () => {
    const limited = lane({ intervalMs: 100 });
    assert.equal(claimRoom(limited, nowMs, plenty), 10);
    assert.equal(claimRoom({ ...limited, tatMs: nowMs - 350 }, nowMs, plenty), 3);
    assert.equal(claimRoom({ ...limited, tatMs: nowMs + 50 }, nowMs, plenty), 0);
  });

  it('is one in a lane slower than one per second', () => {
    assert.equal(claimRoom(lane({ intervalMs: 60_000 }), nowMs, plenty), 1);
  });
});

describe('laneAfterClaim', () => {
  it('makes a lane without pending deliveries never ready', () => {
    assert.equal(
      laneAfterClaim(lane({ readyMs: 1 }), nowMs, { took: 3, nextMs: undefined }).readyMs,
      never,
    );
  });

  it('makes the lane ready now for due deliveries, and later for later ones', () => {
    assert.equal(laneAfterClaim(lane(), nowMs, { took: 3, nextMs: nowMs - 10 }).readyMs, nowMs);
    assert.equal(
      laneAfterClaim(lane(), nowMs, { took: 3, nextMs: nowMs + 10 }).readyMs,
      nowMs + 10,
    );
  });

  it('closes an ordered lane until its first delivery is settled', () => {
    const taken = laneAfterClaim(lane({ ordered: true }), nowMs, { took: 1, nextMs: nowMs });
    assert.deepEqual([taken.gateMs, taken.readyMs], [never, never]);
  });

  it('makes an ordered lane ready whatever the number of its next delivery', () => {
    const after = laneAfterClaim(lane({ ordered: true }), nowMs, {
      took: 0,
      nextMs: nowMs + 9_999,
    });
    assert.equal(after.readyMs, nowMs);
  });

  it('counts the deliveries taken against the rate limit', () => {
    const limited = lane({ intervalMs: 100, tatMs: nowMs - 350 });
    const after = laneAfterClaim(limited, nowMs, { took: 3, nextMs: nowMs });
    assert.deepEqual(
      [after.tatMs, after.gateMs, after.readyMs],
      [nowMs - 50, nowMs + 50, nowMs + 50],
    );
    const ordered = laneAfterClaim({ ...limited, ordered: true }, nowMs, {
      took: 1,
      nextMs: nowMs,
    });
    assert.deepEqual([ordered.tatMs, ordered.gateMs], [nowMs - 250, never]);
  });

  it('gives a slow lane one delivery per interval, not none', () => {
    let slow = lane({ intervalMs: 60_000 });
    let taken = 0;
    for (let at = nowMs; at <= nowMs + 600_000; at += 1_000) {
      if (at < slow.readyMs && slow.readyMs !== never) continue;
      const took = claimRoom(slow, at, plenty);
      taken += took;
      slow = { ...slow, ...laneAfterClaim(slow, at, { took, nextMs: at }) };
    }
    assert.equal(taken, 11);
  });

  it('delays the next probe of a broken lane', () => {
    const broken = lane({ failures: brokenAfter });
    assert.equal(laneAfterClaim(broken, nowMs, { took: 1, nextMs: nowMs }).readyMs, nowMs + 20_000);
    assert.equal(laneAfterClaim(broken, nowMs, { took: 0, nextMs: nowMs }).readyMs, nowMs);
  });
});

describe('laneAfterSettlement', () => {
  it('changes nothing for a success in a healthy lane', () => {
    assert.equal(laneAfterSettlement(lane(), nowMs, { kind: 'delivered' }), undefined);
    assert.equal(
      laneAfterSettlement(lane({ readyMs: nowMs - 5 }), nowMs, { kind: 'delivered' }),
      undefined,
    );
    assert.equal(laneAfterSettlement(lane(), nowMs, { kind: 'cancelled' }), undefined);
  });

  it('changes nothing in a lane that has ended', () => {
    const ended = lane({ state: 'ended', failures: 3 });
    assert.equal(laneAfterSettlement(ended, nowMs, failed(nowMs)), undefined);
  });

  it('makes the lane ready when the retry is due', () => {
    const after = laneAfterSettlement(lane(), nowMs, failed(nowMs + 5_000));
    assert.deepEqual(after, {
      failures: 1,
      failingMs: nowMs,
      gateMs: 0,
      tatMs: 0,
      readyMs: nowMs + 5_000,
    });
    const sooner = lane({ readyMs: nowMs + 10 });
    assert.equal(laneAfterSettlement(sooner, nowMs, failed(nowMs + 5_000))?.readyMs, nowMs + 10);
  });

  it('makes the lane ready when a released delivery is due, and counts no failure', () => {
    const after = laneAfterSettlement(lane(), nowMs, { kind: 'released', dueMs: nowMs + 7 });
    assert.deepEqual([after?.readyMs, after?.failures], [nowMs + 7, 0]);
  });

  it('does not make the lane ready for a dead delivery', () => {
    assert.equal(laneAfterSettlement(lane(), nowMs, failed())?.readyMs, never);
  });

  it('remembers the time of the first failure until a success', () => {
    const failing = lane({ failures: 3, failingMs: 5 });
    assert.equal(laneAfterSettlement(failing, nowMs, failed())?.failingMs, 5);
    const after = laneAfterSettlement(failing, nowMs, { kind: 'delivered' });
    assert.deepEqual([after?.failures, after?.failingMs], [0, undefined]);
  });

  it('is never ready while it is held', () => {
    const held = lane({ state: 'held' });
    assert.equal(laneAfterSettlement(held, nowMs, failed(nowMs + 5))?.readyMs, never);
    assert.equal(laneAfterSettlement(held, nowMs, { kind: 'released', dueMs: nowMs }), undefined);
  });

  describe('in a lane that breaks', () => {
    it('closes it for 30 s, doubled with each failed probe, up to 15 min', () => {
      let broken = lane({ failures: brokenAfter - 1, readyMs: nowMs });
      const waits: number[] = [];
      let at = nowMs;
      for (let i = 0; i < 8; i += 1) {
        broken = { ...broken, ...laneAfterSettlement(broken, at, failed(at + 1, at)) };
        waits.push((broken.gateMs - at) / 1_000);
        assert.equal(broken.readyMs, broken.gateMs);
        at = broken.gateMs;
        broken = { ...broken, ...laneAfterClaim(broken, at, { took: 1, nextMs: at }) };
      }
      assert.deepEqual(waits, [30, 60, 120, 240, 480, 900, 900, 900]);
    });

    it('ignores failures of attempts that were in flight when it broke', () => {
      const justBroken = lane({
        failures: brokenAfter,
        failingMs: nowMs,
        gateMs: nowMs + 30_000,
        readyMs: nowMs + 30_000,
      });
      for (const atMs of [nowMs, nowMs + 15_000]) {
        const after = laneAfterSettlement(justBroken, atMs, failed(atMs + 5_000, nowMs - 100));
        assert.equal(after, undefined, 'a hundred of them would close it for 15 minutes');
      }
    });

    it('opens it at once after a success, for everything pending', () => {
      const broken = lane({ failures: 12, gateMs: nowMs + 9_000, readyMs: nowMs + 9_000 });
      const after = laneAfterSettlement(broken, nowMs, { kind: 'delivered' });
      assert.deepEqual([after?.failures, after?.gateMs, after?.readyMs], [0, 0, nowMs]);
      const empty = { ...broken, readyMs: never };
      assert.equal(laneAfterSettlement(empty, nowMs, { kind: 'delivered' })?.readyMs, never);
    });

    it('keeps it closed when its probe is released', () => {
      const broken = lane({ failures: 12, gateMs: nowMs + 9_000 });
      const after = laneAfterSettlement(broken, nowMs, { kind: 'released', dueMs: nowMs });
      assert.deepEqual([after?.gateMs, after?.readyMs], [nowMs + 9_000, nowMs + 9_000]);
    });
  });

  describe('in an ordered lane', () => {
    const running = lane({ ordered: true, gateMs: never });

    it('opens it for the next delivery when the head has ended', () => {
      for (const outcome of [{ kind: 'delivered' }, { kind: 'cancelled' }, failed()] as const) {
        const after = laneAfterSettlement(running, nowMs, outcome);
        assert.deepEqual([after?.gateMs, after?.readyMs], [0, nowMs], outcome.kind);
      }
    });

    it('closes it until the retry of the head', () => {
      const dueMs = nowMs + 5_000;
      for (const outcome of [{ kind: 'released', dueMs }, failed(dueMs)] as const) {
        const after = laneAfterSettlement(running, nowMs, outcome);
        assert.deepEqual([after?.gateMs, after?.readyMs], [dueMs, dueMs], outcome.kind);
      }
    });

    it('opens its gate even while it is held, so that a resume finds it open', () => {
      const held = lane({ ordered: true, gateMs: never, state: 'held' });
      const after = laneAfterSettlement(held, nowMs, { kind: 'delivered' });
      assert.deepEqual([after?.gateMs, after?.readyMs], [0, never]);
    });

    it('breaks like any other lane', () => {
      const failing = { ...running, failures: brokenAfter - 1 };
      assert.equal(
        laneAfterSettlement(failing, nowMs, failed(nowMs + 5_000))?.readyMs,
        nowMs + 30_000,
      );
    });
  });

  it('obeys the rate limit', () => {
    const limited = lane({ intervalMs: 100, tatMs: nowMs, gateMs: nowMs + 100 });
    assert.equal(laneAfterSettlement(limited, nowMs, { kind: 'delivered' }), undefined);
    assert.equal(laneAfterSettlement(limited, nowMs, failed(nowMs + 5))?.readyMs, nowMs + 100);
  });
});

describe('wokenReadyMs', () => {
  it('is when the delivery is due, unless the lane is ready earlier', () => {
    assert.equal(wokenReadyMs(lane(), nowMs), nowMs);
    assert.equal(wokenReadyMs(lane({ readyMs: 5 }), nowMs), 5);
  });

  it('is not before the gate opens', () => {
    assert.equal(wokenReadyMs(lane({ gateMs: nowMs + 5 }), nowMs), nowMs + 5);
    assert.equal(wokenReadyMs(lane({ gateMs: never }), nowMs), never);
  });

  it('is never for a lane that is held or has ended', () => {
    for (const state of ['held', 'ended'] as const)
      assert.equal(wokenReadyMs(lane({ state }), 1), never);
  });
});

describe('postponeIdle', () => {
  const lingerMs = { least: 50, most: 10_000 };
  const loud = { sinceMs: undefined, isMarked: false, isSure: false, isOlder: true };
  const times = (changes: Partial<Lane> = {}) => {
    const { gateMs, readyMs, tatMs, failures, failingMs } = lane(changes);
    return { gateMs, readyMs, tatMs, failures, failingMs };
  };
  const nothing = { took: 0, nextMs: undefined, lingerMs };

  it('changes nothing in a lane with a due delivery', () => {
    const due = { ...nothing, nextMs: nowMs, quiet: { ...loud, isSure: true } };
    const after = postponeIdle(times({ readyMs: nowMs }), nowMs, due);
    assert.deepEqual(after, { readyMs: nowMs, quiet: 'none' });
  });

  it('changes nothing in a lane that waits for its head to be settled', () => {
    const closed = times({ gateMs: never, readyMs: never });
    const after = postponeIdle(closed, nowMs, { ...nothing, took: 1, quiet: loud });
    assert.deepEqual(after, { readyMs: never, quiet: 'none' });
  });

  it('makes two marks before it makes a lane idle', () => {
    const first = postponeIdle(times(), nowMs, { ...nothing, quiet: loud });
    assert.deepEqual(first, { readyMs: nowMs + 50, quiet: 'start' });
    const quiet = { sinceMs: nowMs - 50, isMarked: false, isSure: false, isOlder: true };
    const second = postponeIdle(times(), nowMs, { ...nothing, quiet });
    assert.deepEqual(second, { readyMs: nowMs + 50, quiet: 'mark' });
    const young = postponeIdle(times(), nowMs, { ...nothing, quiet: { ...quiet, isOlder: false } });
    assert.equal(young.quiet, 'keep', 'a look that began before the first one ended');
    const third = postponeIdle(times(), nowMs, { ...nothing, quiet: { ...quiet, isMarked: true } });
    assert.deepEqual(third, { readyMs: nowMs + 50, quiet: 'keep' });
    const sure = { ...quiet, isMarked: true, isSure: true, isOlder: true };
    const last = postponeIdle(times(), nowMs, { ...nothing, quiet: sure });
    assert.deepEqual(last, { readyMs: never, quiet: 'none' });
  });

  it('does not make a lane idle after a look that took something', () => {
    const sure = { sinceMs: nowMs, isMarked: true, isSure: true, isOlder: true };
    const after = postponeIdle(times(), nowMs, { ...nothing, took: 1, quiet: sure });
    assert.deepEqual(after, { readyMs: nowMs + 50, quiet: 'keep' });
  });

  it('looks less and less often, but in time for the next retry and never before the gate', () => {
    const since = (ms: number) => ({
      sinceMs: nowMs - ms,
      isMarked: true,
      isSure: false,
      isOlder: true,
    });
    const again = (ms: number, changes: Partial<Lane>, nextMs: number | undefined) =>
      postponeIdle(times(changes), nowMs, { ...nothing, nextMs, quiet: since(ms) }).readyMs - nowMs;
    assert.equal(again(400, {}, undefined), 400);
    assert.equal(again(60_000, {}, undefined), 10_000);
    assert.equal(again(60_000, { readyMs: nowMs + 70 }, nowMs + 70), 70);
    assert.equal(again(400, { gateMs: nowMs + 900 }, undefined), 900);
  });
});

describe('laneAfterHeadExpired', () => {
  const hour = 3_600_000;

  it('lets an ordered lane continue at once', () => {
    const waiting = lane({
      ordered: true,
      gateMs: nowMs + hour,
      readyMs: nowMs + hour,
      failures: 3,
    });
    const after = laneAfterHeadExpired(waiting, nowMs);
    assert.deepEqual([after?.gateMs, after?.readyMs, after?.failures], [0, nowMs, 3]);
  });

  it('changes nothing in a lane that is unordered or has ended, or whose head is in flight', () => {
    const others: Partial<Lane>[] = [
      { gateMs: nowMs + hour },
      { ordered: true, gateMs: never },
      { ordered: true, state: 'ended' },
    ];
    for (const changes of others)
      assert.equal(laneAfterHeadExpired(lane(changes), nowMs), undefined);
  });

  it('keeps the wait of a breaker, but no longer one', () => {
    const broken = { ordered: true, failures: brokenAfter };
    const expired = laneAfterHeadExpired(lane({ ...broken, gateMs: nowMs + 7 }), nowMs);
    assert.deepEqual([expired?.gateMs, expired?.readyMs], [nowMs + 7, nowMs + 7]);
    const late = laneAfterHeadExpired(lane({ ...broken, gateMs: nowMs + hour }), nowMs);
    assert.deepEqual([late?.gateMs, late?.readyMs], [nowMs + 30_000, nowMs + 30_000]);
  });

  it('obeys a rate limit, and does not open a held lane', () => {
    const limited = lane({ ordered: true, intervalMs: 50, tatMs: nowMs, gateMs: nowMs + hour });
    assert.equal(laneAfterHeadExpired(limited, nowMs)?.gateMs, nowMs + 50);
    const held = lane({ ordered: true, state: 'held', gateMs: nowMs + hour });
    const after = laneAfterHeadExpired(held, nowMs);
    assert.deepEqual([after?.gateMs, after?.readyMs], [0, never]);
  });
});

/**
 * A receiver that fails for ten days: how many attempts it gets, and when its subscription is
 * disabled.
 */
function failFor10Days(changes: Partial<Lane>): { attempts: number; days: number | undefined } {
  const dayMs = 86_400_000;
  let one = lane({ readyMs: nowMs, ...changes });
  let at = nowMs;
  for (let attempts = 1; at < nowMs + 10 * dayMs; attempts += 1) {
    at = Math.max(at, one.gateMs);
    if (claimRoom(one, at, plenty) === 0) at += 1;
    one = { ...one, ...laneAfterClaim(one, at, { took: 1, nextMs: at }) };
    const startedMs = at + 5;
    at += 50;
    const { failures } = one;
    one = { ...one, ...laneAfterSettlement(one, at, failed(at + 1, startedMs)) };
    // The stores check only after a failure that counts.
    if (one.failures > failures && isOverdue(one, at))
      return { attempts, days: (at - nowMs) / dayMs };
  }
  return { attempts: Infinity, days: undefined };
}

describe('a receiver that always fails', () => {
  const rates = [undefined, 50, 1, 0.1, 0.06, 0.05, 0.049, 0.04, 0.03, 0.01, 0.001, 0.0007];
  for (const rate of rates) {
    for (const ordered of [false, true]) {
      const how = `${rate ?? 'any number'} a second, ${ordered ? '' : 'not '}ordered`;
      it(`is tried less and less often, and disabled after five days: ${how}`, () => {
        const intervalMs = rate === undefined ? undefined : 1_000 / rate;
        const { attempts, days } = failFor10Days({ intervalMs, ordered });
        assert(days !== undefined && days >= 5 && days < 5.1, `after ${days} days`);
        assert(attempts < 520, `${attempts} attempts: its breaker does not grow`);
      });
    }
  }

  for (const timeoutMs of [15_000, 25_000, 60_000]) {
    it(`is also tried less and less often if each attempt takes ${timeoutMs} ms`, () => {
      let one = lane({ readyMs: nowMs });
      let at = nowMs;
      let attempts = 0;
      const inFlight: number[] = [];
      while (at < nowMs + 86_400_000) {
        const [startedMs = Infinity] = inFlight;
        at = Math.max(at, Math.min(one.readyMs, startedMs + timeoutMs));
        if (startedMs + timeoutMs <= at) {
          inFlight.shift();
          one = { ...one, ...laneAfterSettlement(one, at, failed(at + 1, startedMs)) };
          continue;
        }
        const took = claimRoom(one, at, { free: 10 - inFlight.length, quantum: 8 });
        attempts += took;
        inFlight.push(...Array.from({ length: took }, () => at));
        one = { ...one, ...laneAfterClaim(one, at, { took, nextMs: at + 1_000 }) };
      }
      assert(one.failures > 90, `${one.failures} failures`);
      assert(attempts < 400, `${attempts} attempts in a day`);
    });
  }

  it('ignores, at a slow rate, attempts that were in flight when it broke', () => {
    const intervalMs = 25_000;
    const broken = lane({ failures: brokenAfter - 1, failingMs: nowMs, intervalMs, tatMs: nowMs });
    const second = {
      ...broken,
      ...laneAfterClaim(broken, nowMs + 25_000, { took: 1, nextMs: nowMs }),
    };
    const first = {
      ...second,
      ...laneAfterSettlement(second, nowMs + 30_000, failed(undefined, nowMs)),
    };
    assert.equal(first.failures, brokenAfter);
    assert.equal(
      laneAfterSettlement(first, nowMs + 40_000, failed(undefined, nowMs + 25_000)),
      undefined,
    );
  });
});

describe('isOverdue', () => {
  const failingMs = nowMs - limits.disableAfterMs;

  it('is true for a broken lane that has failed for days', () => {
    assert(isOverdue(lane({ failures: brokenAfter, failingMs }), nowMs));
    assert(isOverdue(lane({ failures: 1_000, failingMs: failingMs - 1 }), nowMs));
  });

  it('is false for a lane that failed for less time, rarely or never, or is not open', () => {
    const others: Partial<Lane>[] = [
      { failures: brokenAfter, failingMs: failingMs + 1 },
      { failures: brokenAfter - 1, failingMs },
      { failures: brokenAfter },
      { failures: brokenAfter, failingMs, state: 'held' },
      { failures: brokenAfter, failingMs, state: 'ended' },
    ];
    for (const changes of others) {
      assert(!isOverdue(lane(changes), nowMs), JSON.stringify(changes));
    }
  });
});
