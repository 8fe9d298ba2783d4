import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { healthOf, type LaneHealth } from './health.ts';
import { brokenAfter } from './circuit-breaker.ts';
import { never } from './lane.ts';

const lane = (changes: Partial<LaneHealth> = {}): LaneHealth => ({
  state: 'active',
  ordered: false,
  gateMs: 0,
  failures: 0,
  failingMs: undefined,
  dueMs: undefined,
  ...changes,
});

describe('healthOf', () => {
  it('is ok without a failure, even without a lane', () => {
    const ok = { state: 'ok', failures: 0, failingMs: undefined, nextAttemptMs: undefined };
    assert.deepEqual(healthOf([]), ok);
    assert.deepEqual(healthOf([lane({ dueMs: 5 })]), ok);
    assert.deepEqual(healthOf([lane({ state: 'ended', failures: 3, failingMs: 1 })]), ok);
  });

  it('shows the worst receiver, the first failure, and the next attempt', () => {
    const worst = lane({ failures: brokenAfter, failingMs: 20, gateMs: 90, dueMs: 30 });
    const lanes = [lane(), lane({ failures: 2, failingMs: 10, gateMs: 40, dueMs: 100 }), worst];
    assert.deepEqual(healthOf(lanes), {
      state: 'open',
      failures: brokenAfter,
      failingMs: 10,
      nextAttemptMs: 90,
    });
    assert.equal(healthOf([lane({ failures: brokenAfter - 1, failingMs: 1 })]).state, 'failing');
  });

  it('has no next attempt while one is in flight, nothing is pending, or the lane is held', () => {
    const failing = { failures: 1, failingMs: 1 };
    const others: Partial<LaneHealth>[] = [
      { gateMs: never, ordered: true, dueMs: 1 },
      { dueMs: undefined },
      { state: 'held', dueMs: 1 },
    ];
    for (const changes of others) {
      assert.equal(healthOf([lane({ ...failing, ...changes })]).nextAttemptMs, undefined);
    }
  });

  it('does not mistake the order number of an ordered delivery for a time', () => {
    const ordered = lane({ ordered: true, failures: 1, failingMs: 1, gateMs: 7, dueMs: 9_999 });
    assert.equal(healthOf([ordered]).nextAttemptMs, 7);
  });
});
