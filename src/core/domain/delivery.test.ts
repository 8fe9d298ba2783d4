import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type EndedFilter,
  type Ending,
  fitsEnding,
  fitsEvent,
  holderOf,
  leaseOf,
} from './delivery.ts';

describe('leaseOf', () => {
  it('gives each claim a unique number that contains its holder', () => {
    const leases = [leaseOf(1, 1), leaseOf(1, 2), leaseOf(2, 1), leaseOf(2_000_000, 4_000_000_000)];
    assert.equal(new Set(leases).size, 4);
    assert.deepEqual(leases.map(holderOf), [1, 1, 2, 2_000_000]);
    assert.ok(leases.every((lease) => Number.isSafeInteger(lease)));
  });
});

const anything = { state: 'ended', status: undefined, error: undefined } as const;

function fits(found: Partial<Ending>, filter: Partial<EndedFilter>): boolean {
  const ending: Ending = { state: 'dead', status: undefined, error: undefined, ...found };
  return fitsEnding(ending, { ...anything, ...filter });
}

describe('fitsEnding', () => {
  it('matches one ending, or any', () => {
    for (const state of ['delivered', 'dead', 'cancelled'] as const) {
      assert.equal(fits({ state }, { state }), true);
      assert.equal(fits({ state }, {}), true);
      assert.equal(fits({ state }, { state: state === 'dead' ? 'delivered' : 'dead' }), false);
    }
    for (const state of ['due', 'running'] as const) assert.equal(fits({ state }, {}), false);
  });

  it('matches a class of statuses, or a single one', () => {
    assert.equal(fits({ status: 503 }, { status: '5xx' }), true);
    assert.equal(fits({ status: 503 }, { status: '503' }), true);
    assert.equal(fits({ status: 503 }, { status: '4xx' }), false);
    assert.equal(fits({ status: 503 }, { status: '500' }), false);
    assert.equal(fits({ status: undefined }, { status: '5xx' }), false);
  });

  it('matches the error of the last attempt, or the reason for the dead letter', () => {
    assert.equal(fits({ error: 'timeout' }, { error: 'timeout' }), true);
    assert.equal(fits({ error: 'timeout' }, { error: 'dns' }), false);
    assert.equal(fits({ error: 'timeout' }, { error: 'exhausted' }), true);
    assert.equal(fits({ error: 'expired' }, { error: 'exhausted' }), false);
    assert.equal(fits({ error: 'expired' }, { error: 'expired' }), true);
    assert.equal(fits({ state: 'delivered' }, { error: 'exhausted' }), false);
  });
});

describe('fitsEvent', () => {
  it('matches a name or a pattern, or everything when absent', () => {
    for (const pattern of ['a.b', 'a.*', '*', undefined]) {
      assert.equal(fitsEvent('a.b', pattern), true);
    }
    for (const pattern of ['a', 'a.b.*', 'b.*', 'A.b']) {
      assert.equal(fitsEvent('a.b', pattern), false);
    }
  });
});
